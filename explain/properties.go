package explain

import (
	"fmt"
	"maps"
	"slices"

	"github.com/emr-observatory/emr-observatory/observe"
	"github.com/emr-observatory/emr-observatory/schema"
)

// Property is a property of an application's configuration file as EMR gets it.
type Property struct {
	Group          string `json:"group,omitempty"` // the task group whose nodes alone have it
	Classification string `json:"classification"`  // with those around it: hadoop-env/export
	Name           string `json:"name"`
	Value          string `json:"value"`
	By             string `json:"by"`
}

// Properties lists what EMR writes into the applications' files because of the
// configuration, in order; see Values for own. samplingRatio is that of traces, "" for none.
func Properties(own map[string]any, c schema.Cluster, samplingRatio string) []Property {
	out := []Property{}
	list := func(group string, by map[[2]string]string, configurations []observe.Classification) {
		visit(configurations, "", func(classification, name, value string) {
			setter, known := by[[2]string{classification, name}]
			if !known {
				setter = ByPlatform
			}
			out = append(out, Property{group, classification, name, value, setter})
		})
	}
	setters := settersOf(own, c)
	list("", setters.ofProperties(c), observe.ConfigurationsOf(c, samplingRatio))
	for _, key := range c.TaskKeys() {
		by := map[[2]string]string{}
		setters.collect(by, c.Tasks[key].Configurations, "", "tasks."+key+".configurations")
		list(key, by, observe.GroupConfigurationsOf(c, c.Tasks[key]))
	}
	return out
}

// ofProperties returns who set each property of a cluster that is not the platform's, by
// classification and name.
func (s setters) ofProperties(c schema.Cluster) map[[2]string]string {
	out := map[[2]string]string{}
	if c.RolledEventLogs {
		for name := range observe.RolledEventLogs() {
			out[[2]string{observe.SparkDefaults, name}] = ByEventLog
		}
	}
	if c.GlueCatalog {
		for _, g := range schema.GlueSettings() {
			out[[2]string{g.Classification, g.Property}] = ByGlue
		}
	}
	visit(observe.TenantQueues(c), "", func(classification, name, _ string) { out[[2]string{classification, name}] = ByTenants })
	for name := range c.SparkDefaults {
		out[[2]string{observe.SparkDefaults, name}] = s.of("sparkDefaults." + name)
	}
	s.collect(out, c.Configurations, "", "configurations")
	return out
}

// collect adds who set the properties of a list of classifications at a path.
func (s setters) collect(out map[[2]string]string, list []schema.Configuration, prefix, path string) {
	for i, e := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		for name := range e.Properties {
			out[[2]string{prefix + e.Classification, name}] = s.of(at + ".properties." + name)
		}
		s.collect(out, e.Configurations, prefix+e.Classification+"/", at+".configurations")
	}
}

func visit(list []observe.Classification, prefix string, property func(classification, name, value string)) {
	for _, e := range list {
		for _, name := range slices.Sorted(maps.Keys(e.Properties)) {
			property(prefix+e.Classification, name, e.Properties[name])
		}
		visit(e.Configurations, prefix+e.Classification+"/", property)
	}
}
