package timeline

import (
	"github.com/emr-observatory/emr-observatory/dashboards/job"
	"github.com/emr-observatory/emr-observatory/dashboards/links"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/dashboards/scope"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/rules"
)

func indicators() panel.Row {
	return panel.Row{Title: "Service level indicators", Panels: []panel.Panel{
		number(panel.Spec{
			Title: "Time to first executor", Unit: panel.UnitSeconds, Limits: panel.StepsOf(rules.ResourceWait),
			Shows: "Time from the start of the Spark context until the first executor registered.",
			Bad: panel.Bad(rules.ResourceWait, "{warn} or more: YARN had no room, or the executors do not fit on any node. "+
				"From {critical} on, act."),
			Next: "Look for pending containers in the EMR Overview, then check the scaling limits and the executors' size.",
		}, job.Total("spark_first_executor_wait_seconds"), "first executor"),
		number(panel.Spec{
			Title: "Wait for resources", Unit: panel.UnitSeconds, Limits: panel.StepsOf(rules.ResourceWait),
			Shows: "All the time in which work was there and no executor to run it, also in the middle of the application.",
			Bad:   panel.Bad(rules.ResourceWait, "{warn} or more; from {critical} on, act."),
			Next:  "\"Phase over time\" says when; \"Executors\" says whether they were lost, released, or never came.",
		}, job.Total(platform.PhaseResourceWait.Metric()), "wait"),
		number(panel.Spec{
			Title: "Compute efficiency", Unit: panel.UnitShare,
			Shows: "Share of the wall time in which the application computed.",
			Bad:   "Less than earlier runs of the same name had.",
			Next:  "\"Share of the wall time\" names the phase that took its place.",
		}, job.Total(platform.PhaseCompute.Metric())+" / "+job.Total(platform.MetricSparkWall), "compute"),
		writeThroughput(),
		taskQuantile("compute"),
		taskQuantile("write"),
	}}
}

// number shows one number of the application.
func number(spec panel.Spec, query, legend string) panel.Panel {
	spec.Width, spec.Links = 4, links.Job()
	return panel.Stat(spec, panel.Metrics(query, legend).Instant())
}

func writeThroughput() panel.Panel {
	written := job.Counted("spark_task_io_bytes_total", scope.Equal("direction", "output"))
	return number(panel.Spec{
		Title: "S3 write throughput", Unit: panel.UnitBytesPerSec,
		Shows: "Bytes that tasks wrote as output, to S3 as a rule, divided by the time in the write phase, commits included.",
		Bad:   "Less than earlier runs of the same name had.",
		Next:  "Read \"S3 requests\" for retries and \"S3 request time\" for the slow operation.",
	}, written+" / ("+job.Total(platform.PhaseWrite.Metric())+" > 0)", "written")
}

func taskQuantile(kind string) panel.Panel {
	query := scope.By().Quantile("0.95", scope.GainInRange(job.Metric("spark_task_duration_seconds_bucket", scope.Equal("kind", kind))))
	return number(panel.Spec{
		Title: "Task p95, " + kind, Unit: panel.UnitSeconds,
		Shows: "Duration that 95 % of the application's " + kind + " tasks stay below.",
		Bad:   "Far above the median in \"Task duration\": a few tasks hold up their stage.",
		Next:  "Read \"Skew of the worst stage\"; in the trace, the slowest tasks have spans of their own.",
	}, query, "p95")
}
