package overview

import (
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/dashboards/scope"
	"github.com/emr-observatory/emr-observatory/profiler/serve"
	"github.com/emr-observatory/emr-observatory/rules"
)

// history is the row about the control node's profiler. It ignores the selected cluster:
// each run reads all clusters.
func history() panel.Row {
	return panel.Row{Title: "Spark history in the lake", Panels: []panel.Panel{
		panel.Stat(panel.Spec{
			Title: "Time since last success", Unit: panel.UnitSeconds, Width: 3,
			Shows: "Time since the profiler's last successful run. A run that could read only part of the history counts as successful.",
			Bad:   "Much longer than the run interval. No data: no run has succeeded yet, or the profiler is switched off.",
			Next:  "See the status page for why the last run failed.",
		}, daemon(sinceSuccess(), "since last success").Instant()),
		panel.Stat(panel.Spec{
			Title: "Runs overdue", Unit: panel.UnitCount, Width: 3, Limits: panel.StepsOf(rules.ProfilerOverdue),
			Shows: "Full run intervals since the profiler's last successful run.",
			Bad: panel.Bad(rules.ProfilerOverdue, "{warn} the interval or more: runs fail, hang, or take longer than their interval, or the "+
				"profiler is down."),
			Next: "Compare with \"Duration of a run\", then read the log of the workload profiler with kubectl on the control node.",
		}, daemon("floor(("+sinceSuccess()+") / max(last_over_time("+serve.MetricInterval+"[$__range])))", "overdue").Instant()),
		panel.Stat(panel.Spec{
			Title: "Runs by result", Unit: panel.UnitCount, Width: 5,
			Shows: "Profiler runs that ended in the time range, by result.",
			Bad:   "Any that failed: clusters could not be listed, or tables not written. The next run retries whatever was incomplete.",
			Next:  "See the status page for the reason.",
		}, daemon(scope.By(serve.LabelResult).Sum(scope.IncreaseInRange(serve.MetricRuns)), "{{"+serve.LabelResult+"}}").Instant()),
		panel.Stat(panel.Spec{
			Title: "Duration of a run", Unit: panel.UnitSeconds, Width: 3,
			Shows: "Duration of the profiler's last run.",
			Bad:   "Longer than the run interval: the tables fall behind.",
			Next:  "Lower profiler.maxClusters, narrow profiler.nameFilter, or increase profiler.intervalMinutes.",
		}, ofLastRun(serve.MetricDuration, "last run")),
		panel.Stat(panel.Spec{
			Title: "Read by the last run", Unit: panel.UnitCount, Width: 4,
			Shows: "Clusters that the profiler's last run found, and application attempts that it read; attempts already final are " +
				"not read again.",
			Bad:  "No clusters, although some have run.",
			Next: "Check profiler.clusterStates and profiler.nameFilter in the configuration.",
		}, ofLastRun(serve.MetricClusters, "clusters"), ofLastRun(serve.MetricApplications, "attempts")),
		panel.Stat(panel.Spec{
			Title: "Not read", Unit: panel.UnitCount, Width: 3, Limits: panel.Any(panel.Orange),
			Shows: "Clusters, applications and endpoints that the profiler's last run could not read.",
			Bad:   "Any that persist: each run retries them, until EMR deletes their history after 30 days.",
			Next:  "See the status page for the list and the reasons.",
		}, ofLastRun(serve.MetricIncomplete, "unread")),
		panel.Stat(panel.Spec{
			Title: "Objects written", Unit: panel.UnitCount, Width: 3,
			Shows: "Objects that the profiler wrote to the lake in the time range.",
			Bad:   "None, although applications have ended.",
			Next:  "Compare with \"Read by the last run\" and \"Not read\".",
		}, daemon("sum("+scope.IncreaseInRange(serve.MetricObjects)+")", "objects").Instant()),
	}}
}

// ofLastRun queries a gauge of the profiler's last run.
func ofLastRun(metric, legend string) panel.Query { return daemon("max("+metric+")", legend).Instant() }

// sinceSuccess queries the seconds since the last successful run. The gauge is 0 after a
// restart, so take its maximum over the range.
func sinceSuccess() string {
	return "time() - (max(max_over_time(" + serve.MetricSuccess + "[$__range])) > 0)"
}
