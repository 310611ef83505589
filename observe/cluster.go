package observe

import (
	"maps"
	"slices"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
)

// ConfigurationsOf returns the configurations of one of the stack's own clusters: the
// user's classifications, those of the Glue catalog and of tenants, and the platform's, each
// once.
func ConfigurationsOf(c schema.Cluster, samplingRatio string) []Classification {
	own := Classifications(c.Configurations)
	if c.GlueCatalog {
		own = Merge(own, glueCatalog(c.Applications))
	}
	own = Merge(own, TenantQueues(c))
	if c.Observe == schema.ObserveHostsOnly {
		return own
	}
	return Merge(own, Configurations(samplingRatio, sparkDefaultsOf(c)))
}

// sparkDefaultsOf returns the entries of spark-defaults that the user and the cluster's other keys
// ask for; the user's win. Without a limit to the parts that are retained, Spark's history server
// compacts none (Spark, "Monitoring and Instrumentation", Applying compaction on rolling event log
// files; EMR Management Guide, "View persistent application user interfaces").
func sparkDefaultsOf(c schema.Cluster) map[string]string {
	defaults := map[string]string{}
	if c.RolledEventLogs {
		maps.Copy(defaults, RolledEventLogs())
	}
	maps.Copy(defaults, c.SparkDefaults)
	return defaults
}

// RolledEventLogs returns what the key rolledEventLogs adds to spark-defaults.
func RolledEventLogs() map[string]string {
	return map[string]string{"spark.eventLog.rolling.enabled": "true"}
}

// GroupConfigurationsOf returns the configurations of one of the cluster's task groups.
// On its nodes EMR replaces the cluster's values by their keys, so the platform's parts
// of what the group sets are merged in again. What it does not set is the cluster's.
func GroupConfigurationsOf(c schema.Cluster, group schema.InstanceGroup) []Classification {
	own := Classifications(group.Configurations)
	if c.Observe == schema.ObserveHostsOnly {
		return own
	}
	return Merge(own, setIn(own, Configurations("", nil)))
}

// setIn returns the keys of the platform's that own sets too.
func setIn(own, platforms []Classification) []Classification {
	var out []Classification
	for _, p := range platforms {
		for _, c := range own {
			if c.Classification != p.Classification {
				continue
			}
			properties := maps.Clone(p.Properties)
			maps.DeleteFunc(properties, func(key, _ string) bool {
				_, set := c.Properties[key]
				return !set
			})
			out = append(out, Classification{p.Classification, setIn(c.Configurations, p.Configurations), properties})
		}
	}
	return out
}

// BootstrapArgs returns the arguments of the bootstrap action on one of the stack's own
// clusters. shared are those of every cluster.
func BootstrapArgs(c schema.Cluster, shared []string) []string {
	if c.Observe == schema.ObserveHostsOnly {
		return append(slices.Clone(shared), platform.BootstrapHostsOnly)
	}
	return shared
}

// glueCatalog makes applications use Glue's Data Catalog.
func glueCatalog(applications []string) []Classification {
	var out []Classification
	for _, s := range schema.GlueSettings() {
		if slices.Contains(applications, s.Application) {
			out = append(out, Classification{Classification: s.Classification, Properties: map[string]string{s.Property: s.Value}})
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
