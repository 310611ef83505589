package profiling

import (
	"github.com/emr-observatory/emr-observatory/dashboards/job"
	"github.com/emr-observatory/emr-observatory/dashboards/links"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/dashboards/scope"
)

func shuffle() panel.Row {
	return panel.Row{Title: "Shuffle and skew", Panels: []panel.Panel{
		panel.TimeSeries(panel.Spec{
			Title: "Time lost to skew", Unit: panel.UnitSeconds, Width: 8, Links: links.Job(),
			Shows: "Time by which the longest task of each skewed stage exceeded the stage's median one, added up since the start.",
			Bad:   "A step of more than a few percent of the wall time.",
			Next:  "In the trace, open the stage that ended then; read \"Skew of the worst stage\" and the recipe.",
		}, panel.Metrics(job.Counted("spark_stage_tail_seconds_total"), "lost")),
		job.WorstSkew(),
		job.FetchWait(),
		job.ShuffleReads(),
		panel.TimeSeries(panel.Spec{
			Title: "Shuffle bytes per input byte", Unit: panel.UnitTimes, Width: 12, Links: links.Job(),
			Shows: "Bytes that tasks wrote for shuffles, divided by those that they read as input, since the start.",
			Bad:   "Several times the input: data is moved that could be filtered or aggregated first.",
			Next:  "Filter and select columns before joins; broadcast the smaller side.",
		}, panel.Metrics(job.Counted("spark_task_io_bytes_total", scope.Equal("direction", "shuffle_write"))+" / ("+
			job.Counted("spark_task_io_bytes_total", scope.Equal("direction", "input"))+" > 0)", "shuffled")),
	}}
}
