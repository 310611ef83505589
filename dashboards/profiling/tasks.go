package profiling

import (
	"github.com/emr-observatory/emr-observatory/dashboards/job"
	"github.com/emr-observatory/emr-observatory/dashboards/links"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/dashboards/scope"
	"github.com/emr-observatory/emr-observatory/platform"
)

// executorLegend names a JVM.
var executorLegend = panel.Legend(platform.SparkExecutorID)

// perExecutor sums by JVM of the application.
func perExecutor() scope.Group { return scope.By(platform.SparkExecutorID.Metric()) }

func tasks() panel.Row {
	full := job.Metric("jvm_gc_duration_seconds_count", scope.Match("jvm_gc_action", fullCollections))
	return panel.Row{Title: "Task time", Panels: []panel.Panel{
		job.GCShare(),
		panel.TimeSeries(panel.Spec{
			Title: "Full collections", Unit: panel.UnitCount, Width: 8, Links: links.Job(),
			Shows:            "Collections of the whole heap that ended, by executor. Young collections and concurrent cycles do not count.",
			Bad:              "More than one at the start: the heap is full of what tasks or caches keep.",
			Next:             "Give tasks more memory: more per executor, fewer cores, or smaller partitions; unpersist what is no longer used.",
			EmptyWhenHealthy: "A JVM collects its whole heap.",
		}, panel.Metrics(perExecutor().Sum(scope.Increase(full))+" > 0", executorLegend)),
		panel.TimeSeries(panel.Spec{
			Title: "Serialization share", Unit: panel.UnitShare, Width: 8, Links: links.Job(),
			Shows: "Deserialization of tasks and serialization of their results, as shares of the tasks' run time.",
			Bad:   "A tenth or more that lasts: tasks are tiny, or closures and results are large.",
			Next:  "Use fewer, larger tasks; broadcast large objects instead of capturing them.",
		},
			panel.Metrics(job.TaskTimeShare("deserialization"), "deserialization"),
			panel.Metrics(job.TaskTimeShare("result_serialization"), "results")),
		panel.TimeSeries(panel.Spec{
			Title: "CPU efficiency", Unit: panel.UnitShare, Width: 12, Height: 10, Max: 1, Links: links.Job(),
			Shows: "CPU time of the JVM's task threads as a share of the tasks' run time.",
			Bad:   "Far below 1: tasks wait for data, or a process outside of the JVM works, such as Python, whose CPU time Spark does not count.",
			Next:  "Near 1: open the flame graph of CPU. Low: read \"Fetch wait\", and the requests to S3 in Job Phase Timeline.",
		}, panel.Metrics(job.TaskTimeShare("cpu"), "CPU")),
		job.TaskDurationByExecutor(),
	}}
}

// fullCollections matches the actions of collections that stop the JVM to collect its whole
// heap (java.lang.management, GarbageCollectionNotificationInfo.getGcAction).
const fullCollections = "end of major GC"
