package observe

import (
	"maps"
	"slices"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
)

// ConfigurationsOf returns the configurations of one of the stack's own clusters: the
// user's classifications, those of the Glue catalog and the platform's, each once.
func ConfigurationsOf(c schema.Cluster, samplingRatio string) []Classification {
	own := Classifications(c.Configurations)
	if c.GlueCatalog {
		own = Merge(own, glueCatalog(c.Applications))
	}
	if c.Observe == schema.ObserveHostsOnly {
		return own
	}
	return Merge(own, Configurations(samplingRatio, c.SparkDefaults))
}

// BootstrapArgs returns the arguments of the bootstrap action on one of the stack's own
// clusters. shared are those of every cluster.
func BootstrapArgs(c schema.Cluster, shared []string) []string {
	if c.Observe == schema.ObserveHostsOnly {
		return append(slices.Clone(shared), platform.BootstrapHostsOnly)
	}
	return shared
}

// glueCatalog names Glue's client of the metastore to the applications that have one.
// Spark has a file of its own (EMR Release Guide, "Use the AWS Glue Data Catalog
// catalog as the metastore for Spark", "… for Hive").
func glueCatalog(applications []string) []Classification {
	const client = "com.amazonaws.glue.catalog.metastore.AWSGlueDataCatalogHiveClientFactory"
	var out []Classification
	for _, e := range []struct{ application, file string }{{"Hive", "hive-site"}, {"Spark", "spark-hive-site"}} {
		if slices.Contains(applications, e.application) {
			out = append(out, Classification{Classification: e.file, Properties: map[string]string{schema.MetastoreClientKey: client}})
		}
	}
	return out
}

// Classifications returns a list of the configuration as EMR takes it.
func Classifications(list []schema.Configuration) []Classification {
	var out []Classification
	for _, c := range list {
		properties := map[string]string{}
		maps.Copy(properties, c.Properties)
		out = append(out, Classification{
			Classification: c.Classification, Properties: properties, Configurations: Classifications(c.Configurations),
		})
	}
	return out
}
