package schema

import (
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// GlueSetting is the property that makes an application use Glue's Data Catalog as its
// metastore.
type GlueSetting struct{ Application, Classification, Property, Value string }

// GlueSettings returns the property of each application that can (EMR Release Guide,
// "Using the AWS Glue Data Catalog as the metastore for Hive", "… for Spark", "Using
// Presto with the AWS Glue Data Catalog", "Configuring Trino on Amazon EMR"). Spark has a
// file of its own.
func GlueSettings() []GlueSetting {
	const client = "com.amazonaws.glue.catalog.metastore.AWSGlueDataCatalogHiveClientFactory"
	return []GlueSetting{
		{hive, classHiveSite, MetastoreClientKey, client},
		{spark, classSparkHiveSite, MetastoreClientKey, client},
		{presto, connectorOf(presto), "hive.metastore.glue.datacatalog.enabled", "true"},
		{trino, connectorOf(trino), "hive.metastore", "glue"},
	}
}

// connectorOf returns the classification of Presto's or Trino's connector to Hive's tables.
func connectorOf(application string) string { return strings.ToLower(application) + "-connector-hive" }

// checkGlueCatalog requires an application that uses the catalog, and that nothing else
// sets what the key sets.
func (c Cluster) checkGlueCatalog(l *violation.List, path string) {
	if !c.GlueCatalog {
		return
	}
	var applications []string
	used := false
	for _, s := range GlueSettings() {
		applications = append(applications, s.Application)
		used = used || c.has(s.Application)
		for i, e := range c.Configurations {
			value, set := e.Properties[s.Property]
			at := pathOf(path+".configurations", i) + ".properties." + s.Property
			l.Require(!set || value == s.Value || e.Classification != s.Classification, at, value,
				"must not be another value than that of glueCatalog, which sets it", "remove it, or set "+path+".glueCatalog to false")
		}
	}
	slices.Sort(applications)
	l.Require(used, path+".glueCatalog", c.GlueCatalog, "must be false without "+joinOr(applications),
		"remove it, or add one of them to "+path+".applications")
}
