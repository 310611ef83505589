package links

import (
	"github.com/emr-observatory/emr-observatory/dashboards/contract"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/dashboards/scope"
	"github.com/emr-observatory/emr-observatory/platform"
)

// Uids of the dashboards that lead to each other.
const (
	Overview = "emr-overview"
	Timeline = "job-phase-timeline"
)

// Phases leads from an application's series to where its time went.
func Phases(application string) panel.Link {
	return panel.ToBoard("Phases of this application", Timeline, map[string]string{string(scope.App): application})
}

// Job leads from a panel about the chosen application to everything else about it.
func Job() []panel.Link {
	app := "${" + string(scope.App) + "}"
	return []panel.Link{
		panel.ToTraces("Traces of this application", scope.Spans(platform.SparkAppID, app)),
		panel.ToLogs("Logs of this application", scope.Stream(platform.SparkAppID, app)),
		panel.ToProfile("CPU profile of this application", contract.ProfileCPU, scope.Profiles(platform.SparkAppID, app)),
		panel.ToBoard("Hosts and JVMs of this application", Overview, map[string]string{string(scope.Application): app}),
	}
}

// Trace opens the trace whose id is in a label: the exact timeline.
func Trace(id string) panel.Link { return panel.ToTraces("Exact timeline in the trace", id) }
