package scope

import (
	"fmt"
	"strings"

	"github.com/emr-observatory/emr-observatory/dashboards/contract"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/platform"
)

// applicationName is the drop-down of names. It narrows only the list of applications:
// other metrics do not have the name.
const applicationName Variable = "name"

// OneApplication narrows to the chosen application.
func OneApplication() Scope { return Of(Cluster, App) }

// OneApplicationVariables returns the drop-downs of a dashboard about one application,
// which is found by its name, and at first is the newest.
func OneApplicationVariables() []panel.Variable {
	named := Match(contract.InfoName, "$"+string(applicationName))
	return append(clusterVariables(platform.MetricApplicationInfo),
		panel.Variable{
			Name: string(applicationName), Label: "Name", Choice: panel.OneOrAll,
			Query: values(Clusters().Metric(platform.MetricApplicationInfo), contract.InfoName),
		},
		panel.Variable{
			Name: string(App), Label: App.title(), Choice: panel.OneNewest,
			Query: values(Clusters().Metric(platform.MetricApplicationInfo, named), platform.SparkAppID.Metric()),
		})
}

// ExecutorsOfOne returns the drop-down of the JVMs of the chosen application.
func ExecutorsOfOne() panel.Variable {
	return panel.Variable{
		Name: string(Executor), Label: Executor.title(),
		Query: values(OneApplication().Metric(Executor.metric()), Executor.metricLabel()),
	}
}

// values returns Grafana's query for the values of a label.
func values(selector, label string) string {
	return fmt.Sprintf("label_values(%s, %s)", selector, label)
}

// PerName keeps one series per Spark application, with labels of its info.
func PerName(labels ...string) Group { return append(By(platform.SparkAppID.Metric()), labels...) }

// Named joins labels of the applications' info to a query by application. The info is
// one that Newest or NewestInRange makes unique.
func Named(query, info string, labels ...string) string {
	return query + " * on (" + platform.SparkAppID.Metric() + ") group_left (" + strings.Join(labels, ", ") + ") (" + info + ")"
}

// Newest keeps the last info of each application at any time, with the value 1: a driver
// that YARN restarted has another host and trace, and both are there for a moment.
func Newest(info string, labels ...string) string { return newest(info, "$__rate_interval", labels) }

// NewestInRange keeps the last info of each application within the dashboard's time
// range.
func NewestInRange(info string, labels ...string) string { return newest(info, "$__range", labels) }

func newest(info, window string, labels []string) string {
	last := "topk(1, tlast_over_time(" + info + "[" + window + "])) by (" + platform.SparkAppID.Metric() + ")"
	return PerName(labels...).aggregate("group", last)
}
