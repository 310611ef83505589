package serve

import "fmt"

// Metrics of the profiler. Gauges other than the interval describe the last run, and are 0
// before the first has ended.
const (
	MetricRuns         = "observatory_profiler_runs_total" // by LabelResult
	MetricObjects      = "observatory_profiler_written_objects_total"
	MetricSuccess      = "observatory_profiler_last_success_timestamp_seconds" // of any run
	MetricInterval     = "observatory_profiler_interval_seconds"               // between the starts of two runs
	MetricDuration     = "observatory_profiler_run_duration_seconds"
	MetricClusters     = "observatory_profiler_clusters"     // found
	MetricApplications = "observatory_profiler_applications" // read
	MetricIncomplete   = "observatory_profiler_incomplete"
	LabelResult        = "result"
)

// register registers the metrics.
func (s *Server) register() {
	for _, result := range Results() {
		s.runs[result] = s.metrics.NewCounter(fmt.Sprintf("%s{%s=%q}", MetricRuns, LabelResult, result))
	}
	s.objects = s.metrics.NewCounter(MetricObjects)
	s.metrics.NewGauge(MetricSuccess, func() float64 {
		if at := s.State().Success; at != nil {
			return float64(at.Unix())
		}
		return 0
	})
	s.metrics.NewGauge(MetricInterval, s.interval.Seconds)
	last := func(name string, value func(*Report) float64) {
		s.metrics.NewGauge(name, func() float64 {
			if report := s.State().Last; report != nil {
				return value(report)
			}
			return 0
		})
	}
	last(MetricDuration, func(r *Report) float64 { return r.Took().Seconds() })
	last(MetricClusters, func(r *Report) float64 { return float64(r.ClustersFound) })
	last(MetricApplications, func(r *Report) float64 { return float64(r.Applications) })
	last(MetricIncomplete, func(r *Report) float64 { return float64(r.IncompleteCount) })
}
