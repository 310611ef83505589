package overview

import (
	"fmt"

	"github.com/emr-observatory/emr-observatory/dashboards/contract"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/platform"
)

// stream is a LogsQL stream filter on one label.
func stream(label platform.Label, value string) string {
	return fmt.Sprintf(`{"%s"="%s"}`, label, value)
}

// selector is a Pyroscope label selector on one label.
func selector(label platform.Label, value string) string {
	return fmt.Sprintf(`{%s="%s"}`, label.Metric(), value)
}

// hostLinks lead from a host's series to what else there is of that host.
func hostLinks() []panel.Link { return hostLinksBy(panel.Field) }

// hostLinksBy takes how a value names its label: panel.Field in a graph,
// panel.Cell in a table.
func hostLinksBy(value func(platform.Label) string) []panel.Link {
	host := value(platform.HostName)
	return []panel.Link{
		panel.ToBoard("Only this host", UID, map[string]string{varHost: host}),
		panel.ToLogs("Logs of this host", stream(platform.HostName, host)),
		panel.ToProfile("CPU profile of this host's JVMs", contract.ProfileCPU, selector(platform.HostName, host)),
		panel.ToTraces("Traces of this host's cluster", traceSearch(value(platform.Cluster))),
	}
}

// applicationLinks lead from an application's series to its logs, profile and
// traces.
func applicationLinks() []panel.Link {
	app := panel.Field(platform.SparkAppID)
	return []panel.Link{
		panel.ToBoard("Only this application", UID, map[string]string{varApplication: app}),
		panel.ToLogs("Logs of this application", stream(platform.SparkAppID, app)),
		panel.ToProfile("CPU profile of this application", contract.ProfileCPU, selector(platform.SparkAppID, app)),
		panel.ToProfile("Allocations of this application", contract.ProfileAlloc, selector(platform.SparkAppID, app)),
		panel.ToTraces("Steps of the chosen clusters", traceSearch("${"+varCluster+":pipe}")),
	}
}

// clusterLogs leads to the warnings and errors of the chosen clusters' daemons.
func clusterLogs(title, service string) panel.Link {
	return panel.ToLogs(title, fmt.Sprintf(`{"%s"=~"${%s:pipe}","%s"="%s"} %s`,
		platform.Cluster, varCluster, platform.ServiceName, service, warnings))
}

// traceSearch finds the traces of the clusters that match a pattern.
func traceSearch(cluster string) string {
	return fmt.Sprintf(`{ resource.%s =~ "%s" }`, platform.Cluster, cluster)
}
