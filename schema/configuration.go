package schema

import (
	"fmt"
	"maps"
	"slices"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Configuration is one of EMR's classifications: properties of an application's
// configuration file, or of the section of one.
type Configuration struct {
	Classification string            `json:"classification" rule:"classification"`
	Properties     map[string]string `json:"properties" rule:"properties"`
	Configurations []Configuration   `json:"configurations" rule:"nested"`
}

// Help describes the keys, for documents.
func (Configuration) Help() map[string]string {
	return map[string]string{
		"classification": "Name of the classification, such as yarn-site; inside an -env classification export, inside another its section.",
		"properties":     "Properties by name.",
		"configurations": "Classifications inside this one.",
	}
}

// SetDefaults sets an empty classification.
func (c *Configuration) SetDefaults() {
	*c = Configuration{Properties: map[string]string{}, Configurations: []Configuration{}}
}

// Classifications and properties that the platform or a key of its own sets.
const (
	classHiveSite      = "hive-site"
	classSparkHiveSite = "spark-hive-site"
	classCoreSite      = "core-site"

	// PrometheusEndpointKey makes YARN and HDFS serve their metrics under /prom, where
	// the node's collector reads them.
	PrometheusEndpointKey = "hadoop.prometheus.endpoint.enabled"
	// MetastoreClientKey names the client of Hive's metastore, which glueCatalog sets.
	MetastoreClientKey = "hive.metastore.client.factory.class"
)

func configurationRules() map[string]Rule {
	return map[string]Rule{
		"configurations": textOnly("must be classifications of EMR, each once on its level"),
		"classification": pattern(`^[A-Za-z][A-Za-z0-9._-]*$`, "the name of a classification, such as yarn-site"),
		"properties":     textOnly("must be properties of one line, without secrets"),
		"nested":         textOnly("must be classifications, each once"),
	}
}

// checkConfigurations checks the cluster's classifications.
func (c Cluster) checkConfigurations(l *violation.List, path string) {
	at := path + ".configurations"
	checkClassifications(l, at, c.Configurations)
	c.checkGlueCatalog(l, path)
}

// checkClassifications checks a list of classifications and those inside them. Of
// what the platform needs, no cluster can take anything away.
func checkClassifications(l *violation.List, path string, list []Configuration) {
	seen := map[string]bool{}
	for i, c := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		r := rules["classification"]
		l.Require(r.Holds(c.Classification), at+".classification", c.Classification, r.Text, "write its name in EMR's spelling")
		l.Require(!seen[c.Classification], at+".classification", c.Classification, "must be the only one of its name: EMR refuses a second",
			"join their properties")
		seen[c.Classification] = true
		l.Require(len(c.Properties)+len(c.Configurations) > 0, at, c.Classification, "must have properties or configurations", "remove it")
		checkReserved(l, at, c)
		checkProperties(l, at+".properties", c.Properties)
		checkClassifications(l, at+".configurations", c.Configurations)
	}
}

// checkReserved refuses what has a key of its own here, and what would blind the
// platform.
func checkReserved(l *violation.List, at string, c Configuration) {
	l.Require(c.Classification != sparkDefaults, at+".classification", c.Classification,
		"must not be among them: it has a key of its own, which keeps the platform's agent", "move its properties to sparkDefaults")
	if v, set := c.Properties[PrometheusEndpointKey]; c.Classification == classCoreSite {
		l.Require(!set || v == "true", at+".properties."+PrometheusEndpointKey, v,
			"must be true: the collector reads YARN's and HDFS's metrics there",
			"remove it")
	}
	for _, k := range slices.Sorted(maps.Keys(c.Properties)) {
		l.Require(k != platform.SparkSamplingRatio, at+".properties."+k, c.Properties[k], "must not be set here: steps would have another ratio",
			"set tracing.samplingRatio")
	}
}
