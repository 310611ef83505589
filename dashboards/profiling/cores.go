package profiling

import (
	"github.com/emr-observatory/emr-observatory/dashboards/job"
	"github.com/emr-observatory/emr-observatory/dashboards/links"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/dashboards/scope"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/rules"
)

func cores() panel.Row {
	return panel.Row{Title: "Cores", Panels: []panel.Panel{
		job.ExecutorCores(),
		panel.TimeSeries(panel.Spec{
			Title: "Idle share over time", Unit: panel.UnitShare, Width: 12, Max: 1, Limits: panel.StepsOf(rules.IdleCores), Links: links.Job(),
			Shows: "Cores without a task as a share of the executors' cores.",
			Bad:   panel.Bad(rules.IdleCores, "{warn} or more that lasts: executors are paid for and not used. From {critical} on, act."),
			Next:  "Idle between jobs: the driver works. Idle within a stage: read \"Idle cores while tasks run\".",
		}, panel.Metrics(idle()+" / ("+idle()+" + "+busy()+" > 0)", "idle")),
		panel.TimeSeries(panel.Spec{
			Title: "Idle cores while tasks run", Unit: panel.UnitCores, Width: 24, Links: links.Job(),
			Shows: "Cores without a task while another core had one: the tails of stages.",
			Bad:   "As many as the application has: each stage ends with a few long tasks, or has fewer tasks than cores.",
			Next:  "Read \"Time lost to skew\"; use more, smaller partitions.",
		}, panel.Metrics(idle()+" and on () ("+busy()+" > 0)", "idle")),
	}}
}

func idle() string { return coreTime("idle") }
func busy() string { return coreTime("busy") }

// coreTime queries how many cores are in a state.
func coreTime(state string) string {
	return job.PerSecond("spark_executor_core_time_seconds_total", scope.Equal("state", state))
}

func queues() panel.Row {
	return panel.Row{Title: "Listener queues", Panels: []panel.Panel{
		panel.TimeSeries(panel.Spec{
			Title: "Fill of the listener queues", Unit: panel.UnitShare, Width: 12, Max: 1, Links: links.Job(),
			Shows: "Events that wait in each queue of Spark's listener bus, as a share of the queue's capacity.",
			Bad:   "A queue that fills up: the driver is short of CPU, or a listener is slow. Full, it drops events.",
			Next:  "Give the driver a core more, or raise spark.scheduler.listenerbus.eventqueue.capacity.",
		}, panel.Metrics(scope.By("queue").Max(job.Metric("spark_listener_queue_fill_ratio")), "{{queue}}")),
		panel.Stat(panel.Spec{
			Title: "Events dropped by queue", Unit: panel.UnitCount, Width: 12, Height: 8, Limits: panel.Any(panel.Orange), Links: links.Job(),
			Shows: "Events that each queue of Spark's listener bus dropped because it was full.",
			Bad: "Any. executorManagement: executors come late or stay. appStatus: Spark's UI is wrong. eventLog: the history lacks events. " +
				platform.Name + "'s own: phases are approximate.",
			Next: "Give the driver a core more, or raise the queue's capacity.",
		}, panel.Metrics(scope.By("queue").Sum(scope.Last(job.Metric("spark_listener_queue_dropped_total"))), "{{queue}}").Instant()),
	}}
}
