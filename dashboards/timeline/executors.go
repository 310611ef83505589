package timeline

import (
	"github.com/emr-observatory/emr-observatory/dashboards/job"
	"github.com/emr-observatory/emr-observatory/dashboards/links"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/dashboards/scope"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/rules"
)

func executors() panel.Row {
	return panel.Row{Title: "Executors", Panels: []panel.Panel{
		panel.TimeSeries(panel.Spec{
			Title: "Executors", Unit: panel.UnitCount, Width: 12, Stack: true, Links: links.Job(),
			Styles: []panel.Style{
				{Series: "active", Color: panel.Green}, {Series: "idle", Color: panel.Gray}, {Series: "pending", Color: panel.Orange},
			},
			Shows: "Executors that run tasks (active), that run none (idle), and that were requested and have not registered (pending).",
			Bad:   "Executors that stay pending, or idle ones while tasks wait.",
			Next:  "Pending: look at YARN's containers in the EMR Overview. Idle: the stage has fewer tasks than cores, or a skewed one.",
		}, panel.Metrics(scope.By("state").Max(job.Metric(platform.MetricExecutorCount)), "{{state}}")),
		job.ExecutorCores(),
		job.IdleCores(),
		job.Distribution(panel.Spec{
			Title: "Executor allocation latency", Unit: panel.UnitSeconds, Width: 8, Links: links.Job(),
			Limits: panel.StepsOf(rules.ResourceWait),
			Shows:  "Time from the request of an executor to its registration: the median and the 95th percentile.",
			Bad: panel.Bad(rules.ResourceWait, "{warn} or more, which is the limit for the whole application's wait: the cluster adds nodes, or "+
				"the queue is full. From {critical} on, act."),
			Next: "Compare with the nodes and pending containers in the EMR Overview.",
		}, "spark_executor_allocation_latency_seconds"),
		panel.Stat(panel.Spec{
			Title: "Executors removed", Unit: panel.UnitCount, Width: 8, Links: links.Job(),
			Shows: "Executors that were removed, by reason.",
			Bad:   "Any reason but idle: lost, preempted, decommissioned and out of memory cost finished work.",
			Next: "Memory: raise spark.executor.memoryOverhead. Killed: a signal ended the JVM, as when its host has no memory left. " +
				"Lost or decommissioned: look at the nodes' states in the EMR Overview.",
		}, panel.Metrics(scope.By("reason").Sum(scope.GainInRange(job.Metric("spark_executor_removed_total"))), "{{reason}}").Instant()),
	}}
}
