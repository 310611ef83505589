package overview

import (
	"fmt"

	"github.com/emr-observatory/emr-observatory/dashboards/contract"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/dashboards/scope"
	"github.com/emr-observatory/emr-observatory/platform"
)

const (
	logLimit   = 200
	traceLimit = 50
	flameSize  = 16 // grid units: a flame graph is read by its depth
)

// profileScope returns the scope of the labels that narrow profiles; they carry no role.
func profileScope() scope.Scope { return scope.Of(scope.Cluster, scope.Host, scope.Application) }

func events() panel.Row {
	return panel.Row{Title: "Logs and traces", Panels: []panel.Panel{
		panel.TimeSeries(panel.Spec{
			Title: "Log records by severity", Unit: panel.UnitCount, Width: 12, Height: 6,
			Shows: "Log records of the selected hosts and applications, by severity.",
			Bad:   "A burst of warnings or errors, or silence while a job runs.",
			Next:  "Narrow the time range to the burst and read the records below.",
		}, panel.LogStats(applications().Stream()+" * | stats by ("+contract.FieldSeverity+") count() records",
			"{{"+contract.FieldSeverity+"}}")),
		panel.TimeSeries(panel.Spec{
			Title: "Log records by service", Unit: panel.UnitCount, Width: 12, Height: 6,
			Shows: "Log records of the selected hosts and applications, by the service that wrote them.",
			Bad:   "A service that logs far more than before.",
			Next:  "Read its records below; make it less verbose if they are noise.",
		}, panel.LogStats(fmt.Sprintf(`%s * | stats by ("%s") count() records`, applications().Stream(), platform.ServiceName),
			"{{"+string(platform.ServiceName)+"}}")),
		panel.Lines(panel.Spec{
			Title: "Warnings and errors", Unit: panel.UnitNone, Width: 12,
			Shows:            "Latest log records of severity WARN and above.",
			Bad:              "Any that you cannot explain.",
			Next:             "Open a record for its host, application and trace.",
			EmptyWhenHealthy: "a component that logs a warning or an error.",
		}, panel.Logs(applications().Stream()+" "+contract.FilterWarnings+" | sort by ("+contract.FieldTime+") desc", logLimit)),
		panel.Lines(panel.Spec{
			Title: "Latest log records", Unit: panel.UnitNone, Width: 12,
			Shows: "Latest log records of the selected hosts and applications.",
			Bad:   "No records while a job runs.",
			Next:  "Check \"Bootstrap components\" and \"Collector queues\".",
		}, panel.Logs(applications().Stream()+" * | sort by ("+contract.FieldTime+") desc", logLimit)),
		panel.TraceList(panel.Spec{
			Title: "Submitted steps", Unit: panel.UnitNone, Width: 24,
			Shows: "One trace per submitted step, with its duration.",
			Bad:   "A step that takes longer than earlier runs, or whose status is error.",
			Next:  "Open the trace; its attributes name the step's applications.",
		}, panel.Traces(clusters().Spans(), traceLimit)),
	}}
}

func profiles() panel.Row {
	return panel.Row{Title: "Profiles", Panels: []panel.Panel{
		panel.TimeSeries(panel.Spec{
			Title: "CPU time by application", Unit: panel.UnitNanoseconds, Width: 12, Links: applicationLinks(),
			Shows: "CPU time sampled by the profiler, by application.",
			Bad:   "No data for an application that \"Busy cores\" shows: its profiler did not start.",
			Next:  "Select the application at the top and read the flame graph.",
		}, panel.ProfileSeries(contract.ProfileCPU, profileScope().Profiles(), platform.SparkAppID.Metric())),
		panel.TimeSeries(panel.Spec{
			Title: "Allocations by application", Unit: panel.UnitBytes, Width: 12, Links: applicationLinks(),
			Shows: "Bytes that an application's JVMs allocated, as sampled by the profiler.",
			Bad:   "A rise together with \"GC time\".",
			Next:  "Open the allocation profile from the series.",
		}, panel.ProfileSeries(contract.ProfileAlloc, profileScope().Profiles(), platform.SparkAppID.Metric())),
		panel.FlameGraph(panel.Spec{
			Title: "CPU flame graph", Unit: panel.UnitNanoseconds, Width: 24, Height: flameSize,
			Shows: "Merged stacks of all selected JVMs; the wider a frame, the more CPU time it took.",
			Bad:   "A wide frame that is not the job's own work: serialization, compression, regular expressions, logging.",
			Next:  "Search for the frame in the job's code, or change the codec or serializer.",
		}, panel.Flame(contract.ProfileCPU, profileScope().Profiles())),
	}}
}
