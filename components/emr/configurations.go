package emr

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/observe"
	"github.com/emr-observatory/emr-observatory/schema"
)

// ConfigurationsJSON renders the cluster's configuration list: the same
// arguments give the same bytes. It is "" if there is nothing to configure.
func (a *Args) ConfigurationsJSON() (string, error) {
	list := a.configurations()
	if len(list) == 0 {
		return "", nil
	}
	text, err := observe.Render(list)
	if err != nil {
		return "", fmt.Errorf("render configurations: %w", err)
	}
	return text, nil
}

// configurations returns the user's classifications, those of the Glue catalog and the
// platform's, each once.
func (a *Args) configurations() []observe.Classification {
	own := classifications(a.Configurations)
	if a.GlueCatalog {
		own = observe.Merge(own, a.glueCatalog())
	}
	if a.Observe == schema.ObserveHostsOnly {
		return own
	}
	return observe.Merge(own, observe.Configurations(a.SamplingRatio, a.SparkDefaults))
}

// glueCatalog names Glue's client of the metastore to the applications that have one.
// Spark has a file of its own (EMR Release Guide, "Use the AWS Glue Data Catalog
// catalog as the metastore for Spark", "… for Hive").
func (a *Args) glueCatalog() []observe.Classification {
	const client = "com.amazonaws.glue.catalog.metastore.AWSGlueDataCatalogHiveClientFactory"
	var out []observe.Classification
	for application, name := range map[string]string{"Hive": "hive-site", "Spark": "spark-hive-site"} {
		if slices.Contains(a.Applications, application) {
			out = append(out, observe.Classification{Classification: name, Properties: map[string]string{schema.MetastoreClientKey: client}})
		}
	}
	slices.SortFunc(out, func(x, y observe.Classification) int { return strings.Compare(x.Classification, y.Classification) })
	return out
}

// classifications returns a list of the configuration as EMR takes it.
func classifications(list []schema.Configuration) []observe.Classification {
	var out []observe.Classification
	for _, c := range list {
		properties := map[string]string{}
		maps.Copy(properties, c.Properties)
		out = append(out, observe.Classification{
			Classification: c.Classification, Properties: properties, Configurations: classifications(c.Configurations),
		})
	}
	return out
}

// warnOfOtherRelease logs that the restated options may not be the release's own.
func (a *Args) warnOfOtherRelease(ctx *pulumi.Context, c *Cluster) error {
	if a.ReleaseLabel == observe.RestatedRelease || a.Observe == schema.ObserveHostsOnly {
		return nil
	}
	err := ctx.Log.Warn(fmt.Sprintf("%s: %s: %s and %s are restated from %s, the only release whose values are published; "+
		"if jobs depend on others, compare them with `observatory doctor --node FILE`",
		a.path("releaseLabel"), a.ReleaseLabel, schema.SparkDriverAgentKey, schema.SparkExecutorAgentKey, observe.RestatedRelease), &pulumi.LogArgs{Resource: c})
	if err != nil {
		return fmt.Errorf("warn of another release: %w", err)
	}
	return nil
}
