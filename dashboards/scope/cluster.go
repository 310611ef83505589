package scope

import (
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/platform"
)

// ClusterName is the drop-down of clusters. A cluster that is replaced has another id and
// the same name, so a name covers the history of all that had it.
const ClusterName Variable = "cluster_name"

// clusterVariables returns the drop-down of names and the ids that it stands for, which
// queries match. reported is a metric that the clusters report.
//
// The first name is stored up to a minute after a cluster's first telemetry, and names
// are missing while EMR does not answer. Until then the dashboard shows the cluster under
// "All" only: its value ".*" also matches series without a name, so that the ids are
// those of all clusters that report. A chosen name matches the named ones alone.
func clusterVariables(reported string) []panel.Variable {
	return []panel.Variable{
		{
			Name: string(ClusterName), Label: ClusterName.title(),
			Query: values(ClusterName.metric(), ClusterName.metricLabel()),
		},
		{
			Name: string(Cluster), Label: Cluster.title(), Choice: panel.Derived,
			Query: values(named(reported), Cluster.metricLabel()),
		},
	}
}

// Chosen returns a query for the clusters of the chosen names within the dashboard's or
// the panel's time range, by id. A panel with a time range of its own needs it: the ids
// that Grafana lists are those within the dashboard's.
func Chosen(reported string) string {
	return By(Cluster.metricLabel()).aggregate("group", "last_over_time("+named(reported)+"[$__range])")
}

// named selects the infos of the chosen names and, under "All", a metric that every
// cluster reports.
func named(reported string) string {
	return Of(ClusterName).Metrics(platform.MetricClusterInfo + "|" + reported)
}
