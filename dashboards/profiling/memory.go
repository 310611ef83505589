package profiling

import (
	"github.com/emr-observatory/emr-observatory/dashboards/job"
	"github.com/emr-observatory/emr-observatory/dashboards/links"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/dashboards/scope"
	"github.com/emr-observatory/emr-observatory/rules"
)

// heap sums a metric over the heap's pools, by JVM.
func heap(metric string) string {
	return perExecutor().Sum(job.Metric(metric, scope.Equal("jvm_memory_type", "heap")))
}

func memory() panel.Row {
	used := job.Metric("jvm_memory_used_bytes", scope.Equal("jvm_memory_type", "heap"))
	return panel.Row{Title: "Memory and spill", Panels: []panel.Panel{
		panel.TimeSeries(panel.Spec{
			Title: "Heap by executor", Unit: panel.UnitShare, Width: 8, Max: 1, Limits: panel.StepsOf(rules.Heap), Links: links.Job(),
			Shows: "Used heap of each JVM as a share of its maximum.",
			Bad: panel.Bad(rules.Heap, "{warn} or more after each collection: memory is full; from {critical} on, act. One far above the others: "+
				"skew."),
			Next: "Read \"GC share of task time\"; use more partitions, or more memory per core.",
		}, panel.Metrics(heap("jvm_memory_used_bytes")+" / "+heap("jvm_memory_limit_bytes"), executorLegend)),
		panel.Bars(panel.Spec{
			Title: "Peak heap by executor", Unit: panel.UnitBytes, Width: 8, Links: links.Job(),
			Shows: "The most that each of a JVM's heap pools held, added up: garbage included.",
			Bad:   "All far below spark.executor.memory for hours: memory is paid for and not used.",
			Next:  "Compare with the table executors of the history, which has peaks by use; lower spark.executor.memory, or use fewer executors.",
		}, panel.Metrics(perExecutor().Sum("max_over_time("+used+"[$__range])"), executorLegend).Instant()),
		panel.TimeSeries(panel.Spec{
			Title: "Peak execution memory of a task", Unit: panel.UnitBytes, Width: 8, Links: links.Job(),
			Shows: "Largest peak of execution memory of any task so far: what it sorted, joined or aggregated.",
			Bad:   "Near the memory of a core: spark.memory.fraction of the heap, divided by the executor's cores.",
			Next:  "Use more partitions, so that each task holds less.",
		}, panel.Metrics(scope.By().Max(job.Metric("spark_task_peak_memory_bytes")), "peak")),
		panel.TimeSeries(panel.Spec{
			Title: "Spilled so far", Unit: panel.UnitBytes, Width: 16, Links: links.Job(),
			Shows: "Bytes that tasks spilled since the application's start: their size in memory and on disk.",
			Bad:   "Steps that are near what the stage reads: it sorts on the disk.",
			Next:  "Read the recipe: more partitions first, then more memory per task.",
		}, panel.Metrics(scope.By("kind").Sum(scope.Last(job.Metric("spark_task_spill_bytes_total"))), "{{kind}}")),
		job.SpilledShare(),
	}}
}
