package scope

import (
	"fmt"

	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/platform"
)

// ApplicationInfo is the series that joins names and ids to an application's metrics,
// and the label with the name that it was submitted under.
const (
	ApplicationInfo      = "spark_application_info"
	ApplicationNameLabel = "application_name"
)

// applicationName is the drop-down of names. It narrows only the list of applications:
// other metrics do not have the name.
const applicationName Variable = "name"

// OneApplication narrows to the chosen application.
func OneApplication() Scope { return Of(Cluster, Application) }

// OneApplicationVariables returns the drop-downs of a dashboard about one application,
// which is found by its name, and at first is the newest.
func OneApplicationVariables() []panel.Variable {
	named := Match(ApplicationNameLabel, "$"+string(applicationName))
	return []panel.Variable{
		{Name: string(Cluster), Label: Cluster.title(), Query: values(ApplicationInfo, platform.Cluster.Metric())},
		{
			Name: string(applicationName), Label: "Name", Choice: panel.OneOrAll,
			Query: values(Clusters().Metric(ApplicationInfo), ApplicationNameLabel),
		},
		{
			Name: string(Application), Label: Application.title(), Choice: panel.OneNewest,
			Query: values(Clusters().Metric(ApplicationInfo, named), platform.SparkAppID.Metric()),
		},
	}
}

// values returns Grafana's query for the values of a label.
func values(selector, label string) string {
	return fmt.Sprintf("label_values(%s, %s)", selector, label)
}
