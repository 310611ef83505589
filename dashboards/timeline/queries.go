package timeline

import (
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/dashboards/scope"
)

// metric selects a metric of the chosen application.
func metric(name string, filters ...scope.Filter) string {
	return scope.OneApplication().Metric(name, filters...)
}

// total queries the last value of a gauge of the driver. That of a restarted driver counts
// from the submission, too.
func total(name string) string { return scope.By().Latest(metric(name)) }

// counted queries all that a counter of the application has counted.
func counted(name string, filters ...scope.Filter) string {
	return "sum(" + scope.Last(metric(name, filters...)) + ")"
}

// perSecond queries what a counter of the application gains per second.
func perSecond(name string, filters ...scope.Filter) string {
	return "sum(" + scope.PerSecond(metric(name, filters...)) + ")"
}

// quantiles queries the median and the 95th percentile of a histogram's buckets, for
// each value of the labels.
func quantiles(buckets string, by ...string) []panel.Query {
	suffix := ""
	for _, label := range by {
		suffix += ", {{" + label + "}}"
	}
	return []panel.Query{
		panel.Metrics(scope.By(by...).Quantile("0.5", buckets), "median"+suffix),
		panel.Metrics(scope.By(by...).Quantile("0.95", buckets), "p95"+suffix),
	}
}

// distribution shows the median and the 95th percentile of all values of a histogram.
func distribution(spec panel.Spec, histogram string) panel.Panel {
	queries := quantiles(scope.GainInRange(metric(histogram + "_bucket")))
	for i := range queries {
		queries[i] = queries[i].Instant()
	}
	return panel.Stat(spec, queries...)
}
