package overview

import (
	"github.com/emr-observatory/emr-observatory/dashboards/limits"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/dashboards/scope"
	"github.com/emr-observatory/emr-observatory/profiler/serve"
)

// history is about the profiler on the control node, whatever cluster is chosen: a run
// reads them all.
func history() panel.Row {
	return panel.Row{Title: "Spark history in the lake", Panels: []panel.Panel{
		sinceRun(), overdueRuns(), historyRuns(), runDuration(), readByRun(), unread(), objectsWritten(),
	}}
}

// ofLastRun queries a gauge of the profiler's last run.
func ofLastRun(metric, legend string) panel.Query { return daemon("max("+metric+")", legend).Instant() }

// sinceSuccess queries the seconds since a run succeeded. A profiler that has started
// again does not know of runs before, so look back over the range.
func sinceSuccess() string {
	return "time() - (max(max_over_time(" + serve.MetricSuccess + "[$__range])) > 0)"
}

func sinceRun() panel.Panel {
	return panel.Stat(panel.Spec{
		Title: "Time since a run", Unit: panel.UnitSeconds, Width: 3,
		Description: panel.Description{
			Shows: "Time since a run of the profiler succeeded: it read the history of the account's clusters, whether or not all of it.",
			Bad:   "Much more than the interval of the runs. No data: no run has succeeded yet, or the profiler is switched off.",
			Next:  "Read on the status page why the last run failed.",
		},
	}, daemon(sinceSuccess(), "since a run").Instant())
}

func overdueRuns() panel.Panel {
	return panel.Stat(panel.Spec{
		Title: "Runs overdue", Unit: panel.UnitCount, Width: 3, Limits: limits.OverdueRuns().Steps(),
		Description: panel.Description{
			Shows: "Whole intervals that have passed since a run of the profiler succeeded.",
			Bad:   "Two or more: runs fail, hang, or take longer than their interval.",
			Next:  "Compare with \"Duration of a run\", then read the log of workload profiler: kubectl logs on the control node.",
		},
	}, daemon("floor(("+sinceSuccess()+") / max("+serve.MetricInterval+"))", "overdue").Instant())
}

func historyRuns() panel.Panel {
	return panel.Stat(panel.Spec{
		Title: "Runs by result", Unit: panel.UnitCount, Width: 5,
		Description: panel.Description{
			Shows: "Runs of the profiler that ended in the time range, by result.",
			Bad:   "Any that failed: clusters could not be listed, or tables not written. What was incomplete is tried again.",
			Next:  "Read the reason on the status page.",
		},
	}, daemon(scope.By(serve.LabelResult).Sum(scope.IncreaseInRange(serve.MetricRuns)), "{{"+serve.LabelResult+"}}").Instant())
}

func runDuration() panel.Panel {
	return panel.Stat(panel.Spec{
		Title: "Duration of a run", Unit: panel.UnitSeconds, Width: 3,
		Description: panel.Description{
			Shows: "Duration of the profiler's last run.",
			Bad:   "More than the interval of the runs: what is read becomes ever older.",
			Next:  "Lower profiler.maxClusters, narrow profiler.nameFilter, or enlarge the interval.",
		},
	}, ofLastRun(serve.MetricDuration, "last run"))
}

func readByRun() panel.Panel {
	return panel.Stat(panel.Spec{
		Title: "Read by the last run", Unit: panel.UnitCount, Width: 4,
		Description: panel.Description{
			Shows: "Clusters that the profiler's last run found, and attempts of applications that it read; those that were final " +
				"before are not read again.",
			Bad:  "No cluster, though some have run.",
			Next: "Check profiler.clusterStates and profiler.nameFilter in the configuration.",
		},
	}, ofLastRun(serve.MetricClusters, "clusters"), ofLastRun(serve.MetricApplications, "attempts"))
}

func unread() panel.Panel {
	return panel.Stat(panel.Spec{
		Title: "Not read", Unit: panel.UnitCount, Width: 3, Limits: limits.Any(panel.Orange),
		Description: panel.Description{
			Shows: "Clusters, applications and endpoints that the profiler's last run could not read.",
			Bad:   "Any that stay: each run tries them again, until EMR deletes their history after 30 days.",
			Next:  "Read on the status page which they are, and why.",
		},
	}, ofLastRun(serve.MetricIncomplete, "unread"))
}

func objectsWritten() panel.Panel {
	return panel.Stat(panel.Spec{
		Title: "Objects written", Unit: panel.UnitCount, Width: 3,
		Description: panel.Description{
			Shows: "Objects that the profiler wrote to the lake in the time range.",
			Bad:   "None, though applications have ended.",
			Next:  "Compare with \"Read by the last run\" and \"Not read\".",
		},
	}, daemon("sum("+scope.IncreaseInRange(serve.MetricObjects)+")", "objects").Instant())
}
