package timeline

import (
	"github.com/emr-observatory/emr-observatory/dashboards/job"
	"github.com/emr-observatory/emr-observatory/dashboards/links"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/dashboards/scope"
	"github.com/emr-observatory/emr-observatory/rules"
)

func tasks() panel.Row {
	return panel.Row{Title: "Tasks", Panels: []panel.Panel{
		panel.Heatmap(panel.Spec{
			Title: "Task durations", Unit: panel.UnitSeconds, Width: 12, Links: links.Job(),
			Shows: "Tasks that ended per second, by their duration.",
			Bad:   "Two bands far apart: most tasks are short and a few are long.",
			Next:  "\"Mean task duration by executor\" tells whether it is one executor or the data.",
		}, panel.Buckets(scope.By("le").Sum(scope.PerSecond(job.Metric("spark_task_duration_seconds_bucket"))))),
		job.TaskDurationByExecutor(),
		panel.TimeSeries(panel.Spec{
			Title: "Task duration", Unit: panel.UnitSeconds, Width: 12, Links: links.Job(),
			Shows: "Median and 95th percentile of the duration of tasks that compute and of those that write.",
			Bad:   "Write tasks that take many times as long as compute tasks, or a 95th percentile far above its median.",
			Next:  "Write: read the row \"S3\". Compute: \"Where task time goes\".",
		}, job.Quantiles(scope.Gain(job.Metric("spark_task_duration_seconds_bucket")), "kind")...),
		panel.TimeSeries(panel.Spec{
			Title: "Where task time goes", Unit: panel.UnitCores, Width: 12, Links: links.Job(),
			Shows: "Task seconds per second: run is all of it on the executors, the others are parts of it or come before and after it. " +
				"A task counts when it ends.",
			Bad: "Fetch wait, scheduler delay or serialization near run. CPU far below run: tasks wait for data, or a process outside of the " +
				"JVM works, such as Python, whose CPU time Spark does not count.",
			Next: "Fetch wait: \"Shuffle reads\". Scheduler delay: fewer, larger tasks. CPU near run: open the profile. CPU far below run in a " +
				"PySpark job: use built-in functions in place of Python ones.",
		}, panel.Metrics(scope.By("component").Sum(scope.PerSecond(job.Metric("spark_task_time_seconds_total"))), "{{component}}")),
		job.WorstSkew(),
		job.GCShare(),
		taskFailures(),
		panel.TimeSeries(panel.Spec{
			Title: "Tasks and stages ended", Unit: panel.UnitPerSecond, Width: 12, Links: links.Job(),
			Shows: "Tasks and stage attempts that ended per second, by outcome.",
			Bad:   "Stages that fail are run again, with those whose output was lost.",
			Next:  "Thousands of tasks per second, each of some milliseconds: use fewer partitions.",
		},
			panel.Metrics(scope.By("outcome").Sum(scope.PerSecond(job.Metric("spark_task_count_total"))), "tasks: {{outcome}}"),
			panel.Metrics(scope.By("outcome").Sum(scope.PerSecond(job.Metric("spark_stage_count_total"))), "stages: {{outcome}}")),
		panel.TimeSeries(panel.Spec{
			Title: "Peak memory of a task", Unit: panel.UnitBytes, Width: 12, Links: links.Job(),
			Shows: "Largest peak of execution memory that one task has had so far.",
			Bad:   "Close to the executor's memory divided by its cores: tasks are about to spill.",
			Next:  "Read \"Spill\"; use more partitions or fewer cores per executor.",
		}, panel.Metrics("max("+job.Metric("spark_task_peak_memory_bytes")+")", "peak")),
	}}
}

func taskFailures() panel.Panel {
	tasks := func(filters ...scope.Filter) string { return job.Counted("spark_task_count_total", filters...) }
	return panel.Stat(panel.Spec{
		Title: "Failed share of tasks", Unit: panel.UnitShare, Width: 8, Height: 8, Links: links.Job(),
		Limits: panel.StepsOf(rules.FailedTasks),
		Shows:  "Tasks that failed, as a share of all that ended.",
		Bad: panel.Bad(rules.FailedTasks, "{warn} or more: the application repeats work. From {critical} on, act: Spark gives up on a stage "+
			"whose task failed four times."),
		Next: "Failed tasks have spans with their reason; read them in the trace.",
	}, panel.Metrics(tasks(scope.Equal("outcome", "failed"))+" / "+tasks(), "failed").Instant())
}
