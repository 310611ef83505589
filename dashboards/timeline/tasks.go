package timeline

import (
	"github.com/emr-observatory/emr-observatory/dashboards/links"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/dashboards/scope"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/rules"
)

func tasks() panel.Row {
	return panel.Row{Title: "Tasks", Panels: []panel.Panel{
		panel.Heatmap(panel.Spec{
			Title: "Task durations", Unit: panel.UnitSeconds, Width: 12, Links: links.Job(),
			Shows: "Tasks that ended per second, by their duration.",
			Bad:   "Two bands far apart: most tasks are short and a few are long.",
			Next:  "\"Mean task duration by executor\" tells whether it is one executor or the data.",
		}, panel.Buckets(scope.By("le").Sum(scope.PerSecond(metric("spark_task_duration_seconds_bucket"))))),
		executorHeatmap(),
		panel.TimeSeries(panel.Spec{
			Title: "Task duration", Unit: panel.UnitSeconds, Width: 12, Links: links.Job(),
			Shows: "Median and 95th percentile of the duration of tasks that compute and of those that write.",
			Bad:   "Write tasks that take many times as long as compute tasks, or a 95th percentile far above its median.",
			Next:  "Write: read the row \"S3\". Compute: \"Where task time goes\".",
		}, quantiles(scope.Gain(metric("spark_task_duration_seconds_bucket")), "kind")...),
		panel.TimeSeries(panel.Spec{
			Title: "Where task time goes", Unit: panel.UnitCores, Width: 12, Links: links.Job(),
			Shows: "Task seconds per second: run is all of it on the executors, the others are parts of it or come before and after it. " +
				"A task counts when it ends.",
			Bad: "Fetch wait, scheduler delay or serialization near run. CPU far below run: tasks wait for data, or a process outside of the " +
				"JVM works, such as Python, whose CPU time Spark does not count.",
			Next: "Fetch wait: \"Shuffle reads\". Scheduler delay: fewer, larger tasks. CPU near run: open the profile. CPU far below run in a " +
				"PySpark job: use built-in functions in place of Python ones.",
		}, panel.Metrics(scope.By("component").Sum(scope.PerSecond(metric("spark_task_time_seconds_total"))), "{{component}}")),
		panel.TimeSeries(panel.Spec{
			Title: "Skew of the worst stage", Unit: panel.UnitTimes, Width: 8, Limits: panel.StepsOf(rules.Skew), Links: links.Job(),
			Shows: "The largest task of the worst finished stage divided by the stage's median one, by time and by bytes of shuffle read. The " +
				"limit is of the 95th percentile of the time divided by the median, which is at most as large.",
			Bad: panel.Bad(rules.Skew, "{warn} or more, look: it may be a single task. From {critical} on, act. Time without bytes: a slow host "+
				"instead of skewed data."),
			Next: "In the trace, open the longest stage. Salt or split the hot key, or let AQE split the join.",
		}, panel.Metrics(scope.By("measure").Max(metric("spark_task_skew_ratio", scope.Equal("of", "median"))), "{{measure}}, max / median")),
		panel.TimeSeries(panel.Spec{
			Title: "GC share of task time", Unit: panel.UnitShare, Width: 8, Limits: panel.StepsOf(rules.GC), Links: links.Job(),
			Shows: "Garbage collection as a share of the tasks' run time.",
			Bad:   panel.Bad(rules.GC, "{warn} or more; from {critical} on, act."),
			Next:  "Open the allocation profile; use fewer cores per executor, or more memory.",
		}, panel.Metrics(taskTimeShare("gc"), "GC")),
		taskFailures(),
		panel.TimeSeries(panel.Spec{
			Title: "Tasks and stages ended", Unit: panel.UnitPerSecond, Width: 12, Links: links.Job(),
			Shows: "Tasks and stage attempts that ended per second, by outcome.",
			Bad:   "Stages that fail are run again, with those whose output was lost.",
			Next:  "Thousands of tasks per second, each of some milliseconds: use fewer partitions.",
		},
			panel.Metrics(scope.By("outcome").Sum(scope.PerSecond(metric("spark_task_count_total"))), "tasks: {{outcome}}"),
			panel.Metrics(scope.By("outcome").Sum(scope.PerSecond(metric("spark_stage_count_total"))), "stages: {{outcome}}")),
		panel.TimeSeries(panel.Spec{
			Title: "Peak memory of a task", Unit: panel.UnitBytes, Width: 12, Links: links.Job(),
			Shows: "Largest peak of execution memory that one task has had so far.",
			Bad:   "Close to the executor's memory divided by its cores: tasks are about to spill.",
			Next:  "Read \"Spill\"; use more partitions or fewer cores per executor.",
		}, panel.Metrics("max("+metric("spark_task_peak_memory_bytes")+")", "peak")),
	}}
}

// executorHeatmap shows means: an executor's own histogram has no bounds, only a sum and a count.
func executorHeatmap() panel.Panel {
	tasks := func(part string) string {
		return scope.By(platform.SparkExecutorID.Metric()).Sum(scope.Gain(metric("spark_executor_task_duration_seconds_" + part)))
	}
	return panel.SeriesHeatmap(panel.Spec{
		Title: "Mean task duration by executor", Unit: panel.UnitSeconds, Width: 12, Links: links.Job(),
		Shows: "Mean duration of the tasks that ended on an executor, one row for each, as the executor measured it.",
		Bad:   "One row darker than the others throughout: a slow host. A single dark cell: a skewed partition.",
		Next:  "Open the CPU profile of the application and select the executor; look at its host in the EMR Overview.",
	}, panel.Metrics(tasks("sum")+" / ("+tasks("count")+" > 0)", panel.Legend(platform.SparkExecutorID)))
}

// taskTimeShare queries a component of the tasks' time as a share of their run time.
func taskTimeShare(component string) string {
	of := func(name string) string {
		return perSecond("spark_task_time_seconds_total", scope.Equal("component", name))
	}
	return of(component) + " / (" + of("run") + " > 0)"
}

func taskFailures() panel.Panel {
	tasks := func(filters ...scope.Filter) string { return counted("spark_task_count_total", filters...) }
	return panel.Stat(panel.Spec{
		Title: "Failed share of tasks", Unit: panel.UnitShare, Width: 8, Height: 8, Links: links.Job(),
		Limits: panel.StepsOf(rules.FailedTasks),
		Shows:  "Tasks that failed, as a share of all that ended.",
		Bad: panel.Bad(rules.FailedTasks, "{warn} or more: the application repeats work. From {critical} on, act: Spark gives up on a stage "+
			"whose task failed four times."),
		Next: "Failed tasks have spans with their reason; read them in the trace.",
	}, panel.Metrics(tasks(scope.Equal("outcome", "failed"))+" / "+tasks(), "failed").Instant())
}
