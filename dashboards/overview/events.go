package overview

import (
	"fmt"

	"github.com/emr-observatory/emr-observatory/dashboards/contract"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/platform"
)

const (
	logLimit   = 200
	traceLimit = 50
	flameSize  = 16 // grid units: a flame graph is read by its depth
)

// warnings filters log lines; loggers spell severities in their own case.
const warnings = contract.FieldSeverity + `:~"(?i)^(warn|error|fatal)"`

// logScope is the stream filter of what is chosen above.
func logScope() string {
	return fmt.Sprintf(`{"%s"=~"${%s:pipe}","%s"=~"${%s:pipe}","%s"=~"${%s:pipe}","%s"=~"${%s:pipe}"}`,
		platform.Cluster, varCluster, platform.NodeRole, varRole, platform.HostName, varHost, platform.SparkAppID, varApplication)
}

// profileScope is the same for Pyroscope.
func profileScope() string {
	return fmt.Sprintf(`{%s=~"${%s:pipe}",%s=~"${%s:pipe}",%s=~"${%s:pipe}"}`,
		platform.Cluster.Metric(), varCluster, platform.HostName.Metric(), varHost, platform.SparkAppID.Metric(), varApplication)
}

func events() panel.Row {
	return panel.Row{Title: "Logs and traces", Panels: []panel.Panel{logVolume(), logServices(), logWarnings(), logLines(), steps()}}
}

func logVolume() panel.Panel {
	return panel.TimeSeries(panel.Spec{
		Title: "Log records by severity", Unit: panel.UnitCount, Width: 12, Height: 6,
		Description: panel.Description{
			Shows: "Log records of what is chosen above, by severity.",
			Bad:   "A burst of warnings or errors, or silence where a job runs.",
			Next:  "Narrow the time range to the burst and read the lines below.",
		},
	}, panel.LogStats(logScope()+" * | stats by ("+contract.FieldSeverity+") count() records", "{{"+contract.FieldSeverity+"}}"))
}

func logServices() panel.Panel {
	return panel.TimeSeries(panel.Spec{
		Title: "Log records by service", Unit: panel.UnitCount, Width: 12, Height: 6,
		Description: panel.Description{
			Shows: "Log records of what is chosen above, by the service that wrote them.",
			Bad:   "One service that writes far more than it used to.",
			Next:  "Open its lines below; lower its log level if they say nothing.",
		},
	}, panel.LogStats(fmt.Sprintf(`%s * | stats by ("%s") count() records`, logScope(), platform.ServiceName), "{{"+string(platform.ServiceName)+"}}"))
}

func logWarnings() panel.Panel {
	return panel.Lines(panel.Spec{
		Title: "Warnings and errors", Unit: panel.UnitNone, Width: 12,
		Description: panel.Description{
			Shows:            "The latest lines that are warnings or worse.",
			Bad:              "Any you cannot explain.",
			Next:             "Open a line for its host, application and trace.",
			EmptyWhenHealthy: "a part that logs a warning or an error.",
		},
	}, panel.Logs(logScope()+" "+warnings+" | sort by ("+contract.FieldTime+") desc", logLimit))
}

func logLines() panel.Panel {
	return panel.Lines(panel.Spec{
		Title: "Latest lines", Unit: panel.UnitNone, Width: 12,
		Description: panel.Description{
			Shows: "The latest lines of what is chosen above.",
			Bad:   "Nothing, where something runs.",
			Next:  "Check \"Parts installed on the hosts\" and the collectors' queues.",
		},
	}, panel.Logs(logScope()+" * | sort by ("+contract.FieldTime+") desc", logLimit))
}

func steps() panel.Panel {
	return panel.TraceList(panel.Spec{
		Title: "Submitted steps", Unit: panel.UnitNone, Width: 24,
		Description: panel.Description{
			Shows: "One trace for each step that was submitted, with its duration.",
			Bad:   "A step that took longer than the ones before, or a status of error.",
			Next:  "Open the trace; its attributes name the applications.",
		},
	}, panel.Traces(traceSearch("${"+varCluster+":pipe}"), traceLimit))
}

func profiles() panel.Row {
	return panel.Row{Title: "Profiles", Panels: []panel.Panel{
		panel.TimeSeries(panel.Spec{
			Title: "CPU time by application", Unit: panel.UnitNanoseconds, Width: 12, Links: applicationLinks(),
			Description: panel.Description{
				Shows: "CPU time that the profiler saw, by application.",
				Bad:   "Nothing for an application that \"Cores busy\" shows: its profiler did not start.",
				Next:  "Choose the application above and read the flame graph.",
			},
		}, panel.ProfileSeries(contract.ProfileCPU, profileScope(), platform.SparkAppID.Metric())),
		panel.TimeSeries(panel.Spec{
			Title: "Memory allocated by application", Unit: panel.UnitBytes, Width: 12, Links: applicationLinks(),
			Description: panel.Description{
				Shows: "Bytes that an application's JVMs allocated, as sampled.",
				Bad:   "A rise together with time in garbage collection.",
				Next:  "Open the allocation profile from the series.",
			},
		}, panel.ProfileSeries(contract.ProfileAlloc, profileScope(), platform.SparkAppID.Metric())),
		panel.FlameGraph(panel.Spec{
			Title: "Which code takes the CPU", Unit: panel.UnitNanoseconds, Width: 24, Height: flameSize,
			Description: panel.Description{
				Shows: "Stacks of all chosen JVMs merged; the wider, the more CPU time.",
				Bad:   "A wide frame that is not the job's own work: serialisation, compression, regular expressions, logging.",
				Next:  "Search for the frame in the job's code, or change the codec or serialiser.",
			},
		}, panel.Flame(contract.ProfileCPU, profileScope())),
	}}
}
