// Package links has the links from a value of a panel to the logs, traces and
// profiles of the same host or application, and to a dashboard narrowed to it.
package links

import (
	"fmt"

	"github.com/emr-observatory/emr-observatory/dashboards/contract"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/dashboards/scope"
	"github.com/emr-observatory/emr-observatory/platform"
)

// Target is a link from outside Grafana to a path of one of the platform's servers.
type Target struct {
	Title   string
	Service platform.Workload
	Path    string // with query
}

// Host leads from a host's value to everything else about that host. uid is
// the dashboard that the first link narrows; value names a label of what was
// clicked: panel.Field in a graph, panel.Cell in a table.
func Host(uid string, value func(platform.Label) string) []panel.Link {
	host := value(platform.HostName)
	return []panel.Link{
		panel.ToBoard("Only this host", uid, map[string]string{string(scope.Host): host}),
		panel.ToLogs("Logs of this host", scope.Stream(platform.HostName, host)),
		panel.ToProfile("CPU profile of this host's JVMs", contract.ProfileCPU, scope.Profiles(platform.HostName, host)),
		panel.ToTraces("Traces of this host's cluster", scope.Spans(platform.Cluster, value(platform.Cluster))),
	}
}

// Application leads from an application's series to its logs, profiles and
// traces. uid is the dashboard that the first link narrows.
func Application(uid string) []panel.Link {
	app := panel.Field(platform.SparkAppID)
	return []panel.Link{
		panel.ToBoard("Only this application", uid, map[string]string{string(scope.Application): app}),
		Phases(app),
		panel.ToLogs("Logs of this application", scope.Stream(platform.SparkAppID, app)),
		panel.ToProfile("CPU profile of this application", contract.ProfileCPU, scope.Profiles(platform.SparkAppID, app)),
		panel.ToProfile("Allocation profile of this application", contract.ProfileAlloc, scope.Profiles(platform.SparkAppID, app)),
		panel.ToTraces("Steps of the selected clusters", scope.Clusters().Spans()),
	}
}

// Warnings leads to the warnings and errors that a service logged on the
// chosen clusters.
func Warnings(title, service string) panel.Link {
	return panel.ToLogs(title, fmt.Sprintf(`{"%s"=~"%s","%s"="%s"} %s`,
		platform.Cluster, scope.Cluster.Pattern(), platform.ServiceName, service, contract.FilterWarnings))
}
