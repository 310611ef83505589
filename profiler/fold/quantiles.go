package fold

import (
	"slices"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// p95Quantile is of the durations alone.
const p95Quantile = 0.95

// summarize returns the quantiles of a stage's tasks; nil if no successful task had metrics.
//
// As in org.apache.spark.status.AppStatusStore.taskSummary, a quantile is the value at
// index floor(q·n) of the sorted values, where n counts the successful tasks. The sorted
// durations, scheduler delays and getting-result times also include those of unsuccessful
// tasks, though. Negative values are left out.
func (l *listener) summarize(s *stage) *tables.TaskSummary {
	count := s.samples.count
	if count == 0 {
		return nil
	}
	quantiles := tables.Quantiles()
	n := len(quantiles)
	summary := &tables.TaskSummary{}
	memory := make([]float64, int(numMetrics)*n)
	for m, list := range summary.Lists() {
		values := append(s.samples.column(metric(m), l.scratch[:0]), s.others[m]...)
		l.scratch = values
		values = withoutNegative(values)
		*list = memory[m*n : (m+1)*n : (m+1)*n]
		valuesAt(*list, quantiles, count, values)
		if metric(m) == taskDuration {
			p95 := [1]float64{}
			valuesAt(p95[:], []float64{p95Quantile}, count, values)
			summary.DurationP95 = &p95[0]
		}
	}
	summary.HostSpread = s.hosts.spread()
	return summary
}

// withoutNegative drops negative values, in place.
func withoutNegative(values []int64) []int64 {
	if slices.Min(values) >= 0 {
		return values
	}
	return slices.DeleteFunc(values, func(v int64) bool { return v < 0 })
}

// valuesAt sets found to the values at the quantiles, which ascend, of count values; 0 if
// there are none. It reorders values.
func valuesAt(found, quantiles []float64, count int64, values []int64) {
	if len(values) == 0 {
		return
	}
	if lowest := slices.Min(values); lowest == slices.Max(values) {
		for i := range found {
			found[i] = float64(lowest)
		}
		return
	}
	from := 0
	for i, q := range quantiles {
		index := min(int(min(int64(q*float64(count)), count-1)), len(values)-1)
		if index >= from {
			quickselect(values[from:], index-from)
			from = index + 1
		}
		found[i] = float64(values[index])
	}
}

// summaryJSON encodes the quantiles as in Spark's REST API
// (org.apache.spark.status.api.v1.TaskMetricDistributions).
func summaryJSON(s *tables.TaskSummary) string {
	return compactJSON(struct {
		Quantiles []float64 `json:"quantiles"`
		tables.Distributions
	}{tables.Quantiles(), s.Distributions})
}
