// Package overview is the "EMR Overview" dashboard: is the platform healthy,
// what are YARN, the hosts, the JVMs and HDFS doing, and where to look next.
// One file per row group.
//
// It answers no question about a single Spark job's stages; that is another
// dashboard's.
package overview

import (
	"strings"

	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/platform"
)

// UID is the dashboard's uid and slug.
const UID = "emr-overview"

// Names of the variables, in the order in which they narrow each other.
const (
	varCluster     = "cluster"
	varRole        = "role"
	varHost        = "host"
	varApplication = "application"
)

// scope replaces the words HOST, JVM and CONTROL of a query by the label
// filters of the chosen cluster, role, host and application.
//
// What the control node measures of itself carries no cluster label, so
// CONTROL also matches series without one.
func scope(query string) string {
	host := platform.Cluster.Metric() + `=~"$` + varCluster + `",` +
		platform.NodeRole.Metric() + `=~"$` + varRole + `",` +
		platform.HostName.Metric() + `=~"$` + varHost + `"`
	return strings.NewReplacer(
		"CONTROL", platform.Cluster.Metric()+`=~"$`+varCluster+`|"`,
		"CLUSTER", platform.Cluster.Metric()+`=~"$`+varCluster+`"`,
		"HOST", host,
		"JVM", host+","+platform.SparkAppID.Metric()+`=~"$`+varApplication+`"`,
	).Replace(query)
}

// metrics is a metrics query with its scope filled in.
func metrics(query, legend string) panel.Query { return panel.Metrics(scope(query), legend) }

// yarn is a query on what the daemons tell every DaemonCollectionInterval.
func yarn(query, legend string) panel.Query {
	return metrics(query, legend).Every(platform.DaemonCollectionInterval)
}

// Board is the dashboard.
func Board() panel.Board {
	return panel.Board{
		UID:   UID,
		Title: "EMR Overview",
		Description: "Health of the EMR clusters and of their telemetry: read the first row, " +
			"then go down to the row whose number is coloured.",
		Tags:      []string{platform.Name},
		From:      "now-1h",
		Refresh:   platform.DaemonCollectionInterval.String(),
		Links:     []panel.BoardLink{{Title: "Observatory", Tag: platform.Name}},
		Variables: variables(),
		Rows:      []panel.Row{health(), yarnRow(), hosts(), jvms(), hdfs(), events(), profiles(), trust()},
	}
}

func variables() []panel.Variable {
	cluster, role, host := platform.Cluster.Metric(), platform.NodeRole.Metric(), platform.HostName.Metric()
	return []panel.Variable{
		{Name: varCluster, Label: "Cluster", Query: "label_values(system_cpu_logical_count, " + cluster + ")"},
		{Name: varRole, Label: "Role", Query: scope("label_values(system_cpu_logical_count{CLUSTER}, " + role + ")")},
		{Name: varHost, Label: "Host", Query: scope("label_values(system_cpu_logical_count{CLUSTER," + role + `=~"$` + varRole + `"}, ` + host + ")")},
		{Name: varApplication, Label: "Application", Query: scope("label_values(jvm_class_count{HOST}, " + platform.SparkAppID.Metric() + ")")},
	}
}
