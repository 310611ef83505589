package timeline

import (
	"github.com/emr-observatory/emr-observatory/dashboards/limits"
	"github.com/emr-observatory/emr-observatory/dashboards/links"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/dashboards/scope"
	"github.com/emr-observatory/emr-observatory/platform"
)

func indicators() panel.Row {
	return panel.Row{Title: "Service level indicators", Panels: []panel.Panel{
		firstExecutor(), resourceWait(), efficiency(), writeThroughput(), taskQuantile("compute"), taskQuantile("write"),
	}}
}

// number shows one number of the application.
func number(title string, unit panel.Unit, steps []panel.Limit, text panel.Description, query, legend string) panel.Panel {
	return panel.Stat(panel.Spec{
		Title: title, Unit: unit, Width: 4, Limits: steps, Links: links.Job(), Description: text,
	}, panel.Metrics(query, legend).Instant())
}

func firstExecutor() panel.Panel {
	return number("Time to first executor", panel.UnitSeconds, limits.ResourceWait().Steps(), panel.Description{
		Shows: "Time from the start of the Spark context until the first executor registered.",
		Bad:   "Minutes: YARN had no room, or the executors do not fit on any node.",
		Next:  "Look for pending containers in the EMR Overview, then check the scaling limits and the executors' size.",
	}, total("spark_first_executor_wait_seconds"), "first executor")
}

func resourceWait() panel.Panel {
	return number("Wait for resources", panel.UnitSeconds, limits.ResourceWait().Steps(), panel.Description{
		Shows: "All the time in which work was there and no executor to run it, also in the middle of the application.",
		Bad:   "Five minutes or more; above ten minutes, act.",
		Next:  "\"Phase over time\" says when; \"Executors\" says whether they were lost, released, or never came.",
	}, total(platform.PhaseResourceWait.Metric()), "wait")
}

func efficiency() panel.Panel {
	return number("Compute efficiency", panel.UnitShare, nil, panel.Description{
		Shows: "Share of the wall time in which the application computed.",
		Bad:   "Less than earlier runs of the same name had.",
		Next:  "\"Share of the wall time\" names the phase that took its place.",
	}, total(platform.PhaseCompute.Metric())+" / "+total(platform.MetricSparkWall), "compute")
}

func writeThroughput() panel.Panel {
	written := counted("spark_task_io_bytes_total", scope.Equal("direction", "output"))
	return number("S3 write throughput", panel.UnitBytesPerSec, nil, panel.Description{
		Shows: "Bytes that tasks wrote as output, to S3 as a rule, divided by the time in the write phase, commits included.",
		Bad:   "Less than earlier runs of the same name had.",
		Next:  "Read \"S3 requests\" for retries and \"S3 request time\" for the slow operation.",
	}, written+" / ("+total(platform.PhaseWrite.Metric())+" > 0)", "written")
}

func taskQuantile(kind string) panel.Panel {
	title, steps := "Task p95, "+kind, []panel.Limit(nil)
	query := scope.By().Quantile("0.95", scope.GainInRange(metric("spark_task_duration_seconds_bucket", scope.Equal("kind", kind))))
	return number(title, panel.UnitSeconds, steps, panel.Description{
		Shows: "Duration that 95 % of the application's " + kind + " tasks stay below.",
		Bad:   "Far above the median in \"Task duration\": a few tasks hold up their stage.",
		Next:  "Read \"Skew of the worst stage\"; in the trace, the slowest tasks have spans of their own.",
	}, query, "p95")
}
