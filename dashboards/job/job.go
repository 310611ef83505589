// Package job has the queries that dashboards about one application share.
package job

import (
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/dashboards/scope"
)

// Metric selects a metric of the chosen application.
func Metric(name string, filters ...scope.Filter) string {
	return scope.OneApplication().Metric(name, filters...)
}

// Total queries the last value of a gauge of the driver. That of a restarted driver counts
// from the submission, too.
func Total(name string) string { return scope.By().Latest(Metric(name)) }

// Counted queries all that a counter of the application has counted.
func Counted(name string, filters ...scope.Filter) string {
	return "sum(" + scope.Last(Metric(name, filters...)) + ")"
}

// PerSecond queries what a counter of the application gains per second.
func PerSecond(name string, filters ...scope.Filter) string {
	return "sum(" + scope.PerSecond(Metric(name, filters...)) + ")"
}

// Quantiles queries the median and the 95th percentile of a histogram's buckets, for
// each value of the labels.
func Quantiles(buckets string, by ...string) []panel.Query {
	suffix := ""
	for _, label := range by {
		suffix += ", {{" + label + "}}"
	}
	return []panel.Query{
		panel.Metrics(scope.By(by...).Quantile("0.5", buckets), "median"+suffix),
		panel.Metrics(scope.By(by...).Quantile("0.95", buckets), "p95"+suffix),
	}
}

// Distribution shows the median and the 95th percentile of all values of a histogram.
func Distribution(spec panel.Spec, histogram string) panel.Panel {
	queries := Quantiles(scope.GainInRange(Metric(histogram + "_bucket")))
	for i := range queries {
		queries[i] = queries[i].Instant()
	}
	return panel.Stat(spec, queries...)
}

// TaskTimeShare queries a component of the tasks' time as a share of their run time.
func TaskTimeShare(component string) string {
	of := func(name string) string {
		return PerSecond("spark_task_time_seconds_total", scope.Equal("component", name))
	}
	return of(component) + " / (" + of("run") + " > 0)"
}
