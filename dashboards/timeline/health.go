package timeline

import (
	"github.com/emr-observatory/emr-observatory/dashboards/job"
	"github.com/emr-observatory/emr-observatory/dashboards/links"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/dashboards/scope"
	"github.com/emr-observatory/emr-observatory/platform"
)

func telemetry() panel.Row {
	return panel.Row{Title: "Telemetry of the application", Panels: []panel.Panel{
		panel.Stat(panel.Spec{
			Title: "Accuracy of the phases", Unit: panel.UnitNone, Width: 6, Limits: panel.Any(panel.Orange), Links: links.Job(),
			Texts: []panel.Text{{Value: "0", Word: "exact", Color: panel.Green}, {Value: "1", Word: "approximate", Color: panel.Orange}},
			Shows: "Whether the phases were made from all of the application's events.",
			Bad:   "\"approximate\": Spark dropped events, so that phases are a little off.",
			Next:  "Read \"Events dropped\"; import the event log with observatory trace import for the exact phases.",
		}, panel.Metrics(job.Total(platform.MetricPhaseApproximate), "phases").Instant()),
		dropped(panel.Spec{
			Title: "Events dropped",
			Shows: "Events that Spark dropped since the platform's listener did not keep up.",
			Bad:   "Any: counts and phases are incomplete.",
			Next:  "Give the driver a core more, or raise spark.scheduler.listenerbus.eventqueue.capacity.",
		}, "sum("+scope.GainInRange(job.Metric("spark_listener_dropped_total"))+")", "events"),
		dropped(panel.Spec{
			Title: "Spans dropped",
			Shows: "Spans that are missing from the trace, since it was over its budget, the buffer was full, or the collector " +
				"refused them.",
			Bad: "Many with reason buffer: the collector on the host is slow or unreachable.",
			Next: "Budget: nothing, the longest and failed tasks are kept. " +
				"Buffer or refused: look at the collectors' queues and errors in the EMR Overview.",
		}, scope.By("reason").Sum(scope.GainInRange(job.Metric("spark_span_dropped_total"))), "{{reason}}"),
		panel.Stat(panel.Spec{
			Title: "CPU time of the listener", Unit: panel.UnitSeconds, Width: 6, Links: links.Job(),
			Shows: "CPU time that the platform's listener took in the driver.",
			Bad:   "More than 1 % of the wall time.",
			Next:  "Report it, with the number of tasks.",
		}, panel.Metrics(job.Counted("spark_listener_time_seconds_total"), "CPU").Instant()),
	}}
}

// dropped shows a count that should be zero.
func dropped(spec panel.Spec, query, legend string) panel.Panel {
	spec.Unit, spec.Width, spec.Limits, spec.Links = panel.UnitCount, 6, panel.Any(panel.Orange), links.Job()
	return panel.Stat(spec, panel.Metrics(query, legend).Instant())
}
