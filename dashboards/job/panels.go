package job

import (
	"github.com/emr-observatory/emr-observatory/dashboards/links"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/dashboards/scope"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/rules"
)

// GCShare shows how much of the tasks' time was garbage collection.
func GCShare() panel.Panel {
	return panel.TimeSeries(panel.Spec{
		Title: "GC share of task time", Unit: panel.UnitShare, Width: 8, Limits: panel.StepsOf(rules.GC), Links: links.Job(),
		Shows: "Garbage collection as a share of the tasks' run time.",
		Bad:   panel.Bad(rules.GC, "{warn} or more; from {critical} on, act."),
		Next:  "Open the allocation profile; use fewer cores per executor, or more memory.",
	}, panel.Metrics(TaskTimeShare("gc"), "GC"))
}

// WorstSkew shows how uneven the tasks of the worst stage were.
func WorstSkew() panel.Panel {
	return panel.TimeSeries(panel.Spec{
		Title: "Skew of the worst stage", Unit: panel.UnitTimes, Width: 8, Limits: panel.StepsOf(rules.Skew), Links: links.Job(),
		Shows: "The largest task of the worst finished stage divided by the stage's median one, by time and by bytes of shuffle read. The " +
			"limit is of the 95th percentile of the time divided by the median, which is at most as large.",
		Bad: panel.Bad(rules.Skew, "{warn} or more, look: it may be a single task. From {critical} on, act. Time without bytes: a slow host "+
			"instead of skewed data."),
		Next: "In the trace, open the longest stage. Salt or split the hot key, or let AQE split the join.",
	}, panel.Metrics(scope.By("measure").Max(Metric("spark_task_skew_ratio", scope.Equal("of", "median"))), "{{measure}}, max / median"))
}

// ShuffleReads shows how much of a shuffle one task reads.
func ShuffleReads() panel.Panel {
	return Distribution(panel.Spec{
		Title: "Shuffle reads", Unit: panel.UnitBytes, Width: 12, Height: 8, Links: links.Job(),
		Limits: panel.StepsOf(rules.LargeShuffleReads),
		Shows:  "Shuffle bytes that one task reads: the median and the 95th percentile of all tasks.",
		Bad:    panel.Bad(rules.LargeShuffleReads, "{warn} or more, or far above the median. From {critical} on, act."),
		Next:   "Raise spark.sql.shuffle.partitions, or split the hot key.",
	}, "spark_task_shuffle_read_bytes")
}

// FetchWait shows how long tasks waited for shuffle blocks.
func FetchWait() panel.Panel {
	return panel.TimeSeries(panel.Spec{
		Title: "Fetch wait", Unit: panel.UnitShare, Width: 8, Limits: panel.StepsOf(rules.FetchWait), Links: links.Job(),
		Shows: "Time that tasks waited for shuffle blocks, as a share of their run time.",
		Bad:   panel.Bad(rules.FetchWait, "{warn} or more: blocks are small, or their node is overloaded. From {critical} on, act."),
		Next:  "Look for executors that were lost, and for busy disks in the EMR Overview.",
	}, panel.Metrics(TaskTimeShare("fetch_wait"), "fetch wait"))
}

// ExecutorCores shows busy, idle and missing cores.
func ExecutorCores() panel.Panel {
	return panel.TimeSeries(panel.Spec{
		Title: "Executor cores", Unit: panel.UnitCores, Width: 12, Stack: true, Links: links.Job(),
		Styles: []panel.Style{
			{Series: "busy", Color: panel.Green}, {Series: "idle", Color: panel.Gray}, {Series: "missing", Color: panel.Orange},
		},
		Shows: "Cores that run a task (busy), that are allocated without one (idle), and that waiting tasks lack (missing).",
		Bad:   "Many idle cores: they are paid for. Many missing ones: the application would run faster with more executors.",
		Next:  "Idle: use fewer executors or more partitions. Missing: raise the number of executors or the scaling limit.",
	}, panel.Metrics(scope.By("state").Sum(scope.PerSecond(Metric("spark_executor_core_time_seconds_total"))), "{{state}}"))
}

// SpilledShare shows how much of what tasks read they spilled.
func SpilledShare() panel.Panel {
	spilled := PerSecond("spark_task_spill_bytes_total", scope.Equal("kind", "disk"))
	read := PerSecond("spark_task_io_bytes_total", scope.Match("direction", "input|shuffle_read"))
	return panel.TimeSeries(panel.Spec{
		Title: "Spilled share", Unit: panel.UnitShare, Width: 8, Limits: panel.StepsOf(rules.Spill), Links: links.Job(),
		Shows: "Bytes that ended tasks spilled to disk, as a share of those that they read as input and from shuffles.",
		Bad:   panel.Bad(rules.Spill, "{warn} or more: tasks sort on the disk. From {critical} on, act."),
		Next:  "Use more partitions, or more memory per task.",
	}, panel.Metrics(spilled+" / ("+read+" > 0)", "spilled"))
}

// IdleCores shows how much of the executors' core time had no task.
func IdleCores() panel.Panel {
	cores := func(state scope.Filter) string { return Counted("spark_executor_core_time_seconds_total", state) }
	return panel.Stat(panel.Spec{
		Title: "Idle share of cores", Unit: panel.UnitShare, Width: 8, Limits: panel.StepsOf(rules.IdleCores), Links: links.Job(),
		Shows: "Share of the executors' core time in which a core had no task.",
		Bad:   panel.Bad(rules.IdleCores, "{warn} or more: the application holds more cores than it uses. From {critical} on, act."),
		Next:  "Lower spark.dynamicAllocation.maxExecutors or the executors' cores; read \"Skew of the worst stage\".",
	}, panel.Metrics(cores(scope.Equal("state", "idle"))+" / "+cores(scope.Match("state", "busy|idle")), "idle").Instant())
}

// TaskDurationByExecutor shows means: an executor's own histogram has no bounds, only a sum and a count.
func TaskDurationByExecutor() panel.Panel {
	tasks := func(part string) string {
		return scope.By(platform.SparkExecutorID.Metric()).Sum(scope.Gain(Metric("spark_executor_task_duration_seconds_" + part)))
	}
	return panel.SeriesHeatmap(panel.Spec{
		Title: "Mean task duration by executor", Unit: panel.UnitSeconds, Width: 12, Links: links.Job(),
		Shows: "Mean duration of the tasks that ended on an executor, one row for each, as the executor measured it.",
		Bad:   "One row darker than the others throughout: a slow host. A single dark cell: a skewed partition.",
		Next:  "Open the CPU profile of the application and select the executor; look at its host in the EMR Overview.",
	}, panel.Metrics(tasks("sum")+" / ("+tasks("count")+" > 0)", panel.Legend(platform.SparkExecutorID)))
}
