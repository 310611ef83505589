package dashboards_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/VictoriaMetrics/metricsql"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/dashboards/contract"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/serve"
	"github.com/emr-observatory/emr-observatory/redelivery"
)

func TestMetricQueriesMatchContract(t *testing.T) {
	eachTarget(t, func(t *testing.T, _ panelDoc, q targetDoc) {
		if q.Datasource.UID != string(platform.DatasourceMetrics) {
			return
		}
		require.NotContains(t, q.Expr, "vector(0)", "a missing series must not look like a zero")
		checkMetrics(t, q.Expr)
	})
	for _, d := range suite(t) {
		for _, v := range parse(t, d).Templating.List {
			query, label, found := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(v.Query.Query, "label_values("), ")"), ", ")
			require.True(t, found, v.Query.Query)
			checkMetrics(t, query)
			parsed, err := metricsql.Parse(query)
			require.NoError(t, err)
			for _, metric := range metricsOf(t, parsed.(*metricsql.MetricExpr).LabelFilterss[0]) {
				require.Contains(t, metric.AllLabels(), label)
			}
		}
	}
}

// checkMetrics parses a query and compares each metric, its labels and its use
// with the contract.
func checkMetrics(t *testing.T, expr string) {
	t.Helper()
	macros := strings.NewReplacer("$__rate_interval", "1m", "$__range", "1h", "$__interval", "1m")
	parsed, err := metricsql.Parse(macros.Replace(expr))
	require.NoError(t, err, expr)
	found := 0
	metricsql.VisitAll(parsed, func(e metricsql.Expr) {
		switch e := e.(type) {
		case *metricsql.MetricExpr:
			for _, filters := range e.LabelFilterss {
				found++
				checkSelector(t, expr, filters)
			}
		case *metricsql.FuncExpr:
			checkRate(t, expr, e)
		case *metricsql.AggrFuncExpr:
			checkGrouping(t, expr, e)
		}
	})
	require.Positive(t, found, "%s names no metric", expr)
}

func checkSelector(t *testing.T, expr string, filters []metricsql.LabelFilter) {
	t.Helper()
	metrics := metricsOf(t, filters)
	require.NotEmpty(t, metrics, "%s: no metric of the contract matches", expr)
	for _, filter := range filters {
		if filter.Label == "__name__" {
			continue
		}
		for _, metric := range metrics {
			if filter.Label == platform.LabelClusterName { // "All" also matches what has no name: see scope.Chosen
				require.Equal(t, platform.MetricClusterInfo, metrics[len(metrics)-1].Name, expr)
				continue
			}
			require.Contains(t, metric.AllLabels(), filter.Label, "%s: %s has no label %s", expr, metric.Name, filter.Label)
			if strings.HasPrefix(metric.Name, "queue_metrics_") {
				byQueue := func(f metricsql.LabelFilter) bool { return f.Label == "queue" }
				require.True(t, slices.ContainsFunc(filters, byQueue), "%s: select one queue", expr)
			}
		}
	}
}

// metricsOf returns the contract's metrics that a selector's name filter matches.
func metricsOf(t *testing.T, filters []metricsql.LabelFilter) []contract.Metric {
	t.Helper()
	for _, filter := range filters {
		if filter.Label != "__name__" {
			continue
		}
		if !filter.IsRegexp {
			metric, ok := contract.Find(filter.Value)
			require.True(t, ok, "%s is not in the contract", filter.Value)
			return []contract.Metric{metric}
		}
		pattern := regexp.MustCompile("^(?:" + filter.Value + ")$")
		var metrics []contract.Metric
		for _, m := range contract.Metrics() {
			if slices.ContainsFunc(m.Series(), pattern.MatchString) {
				metrics = append(metrics, m)
			}
		}
		return metrics
	}
	return nil
}

// checkRate requires rate(), increase() and increase_pure() to use $__rate_interval or $__range,
// and to read counters only.
func checkRate(t *testing.T, expr string, f *metricsql.FuncExpr) {
	t.Helper()
	if !slices.Contains([]string{"rate", "increase", "increase_pure"}, f.Name) {
		return
	}
	require.Regexp(t, `\[\$__(rate_interval|range)\]`, expr, "%s uses another interval", f.Name)
	rollup, ok := f.Args[0].(*metricsql.RollupExpr)
	require.True(t, ok, "%s has no lookbehind window", expr)
	for _, filters := range rollup.Expr.(*metricsql.MetricExpr).LabelFilterss {
		for _, metric := range metricsOf(t, filters) {
			require.NotEqual(t, contract.Gauge, metric.Type, "%s: %s of the gauge %s", expr, f.Name, metric.Name)
		}
	}
}

// checkGrouping requires that an aggregation groups only by labels that its metrics
// have.
func checkGrouping(t *testing.T, expr string, f *metricsql.AggrFuncExpr) {
	t.Helper()
	conditions := map[metricsql.Expr]bool{} // what only decides which series stay has labels of its own
	metricsql.VisitAll(f, func(e metricsql.Expr) {
		if b, ok := e.(*metricsql.BinaryOpExpr); ok && (strings.EqualFold(b.Op, "and") || strings.EqualFold(b.Op, "unless")) {
			metricsql.VisitAll(b.Right, func(e metricsql.Expr) { conditions[e] = true })
		}
	})
	metricsql.VisitAll(f, func(e metricsql.Expr) {
		m, ok := e.(*metricsql.MetricExpr)
		if !ok || conditions[e] {
			return
		}
		for _, filters := range m.LabelFilterss {
			for _, metric := range metricsOf(t, filters) {
				for _, label := range f.Modifier.Args {
					require.Contains(t, metric.AllLabels(), label, "%s: %s has no label %s to group by", expr, metric.Name, label)
				}
			}
		}
	})
}

func TestCountersAreNeverReadRaw(t *testing.T) {
	eachTarget(t, func(t *testing.T, _ panelDoc, q targetDoc) {
		if q.Datasource.UID != string(platform.DatasourceMetrics) {
			return
		}
		macros := strings.NewReplacer("$__rate_interval", "1m", "$__range", "1h")
		parsed, err := metricsql.Parse(macros.Replace(q.Expr))
		require.NoError(t, err)
		windowed := map[*metricsql.MetricExpr]bool{}
		metricsql.VisitAll(parsed, func(e metricsql.Expr) {
			if r, ok := e.(*metricsql.RollupExpr); ok {
				if m, ok := r.Expr.(*metricsql.MetricExpr); ok {
					windowed[m] = true
				}
			}
		})
		metricsql.VisitAll(parsed, func(e metricsql.Expr) {
			m, ok := e.(*metricsql.MetricExpr)
			if !ok || windowed[m] {
				return
			}
			for _, filters := range m.LabelFilterss {
				for _, metric := range metricsOf(t, filters) {
					require.Equal(t, contract.Gauge, metric.Type, "%s reads the %s %s raw", q.Expr, metric.Type, metric.Name)
				}
			}
		})
	})
}

// A quantile of a histogram over time is read from the increase of its buckets: raw buckets
// count since the start, and a gauge has none.
func TestQuantilesReadIncreasesOfBuckets(t *testing.T) {
	count := 0
	eachTarget(t, func(t *testing.T, p panelDoc, q targetDoc) {
		if !strings.Contains(q.Expr, "histogram_quantile") {
			return
		}
		count++
		macros := strings.NewReplacer("$__rate_interval", "1m", "$__range", "1h")
		parsed, err := metricsql.Parse(macros.Replace(q.Expr))
		require.NoError(t, err)
		if p.Title != "Events" {
			requireBuckets(t, parsed, false)
			return
		}
		metricsql.VisitAll(parsed, func(e metricsql.Expr) { // among what other rules judge
			if f, call := e.(*metricsql.FuncExpr); call && f.Name == "histogram_quantile" {
				requireBuckets(t, f, true)
			}
		})
	})
	require.Positive(t, count)
}

// requireBuckets requires that a quantile is of one histogram's increase in a range; or of all
// that an application counted, where its rules are judged.
func requireBuckets(t *testing.T, quantile metricsql.Expr, judged bool) {
	t.Helper()
	rollups, text := 0, string(quantile.AppendString(nil))
	metricsql.VisitAll(quantile, func(e metricsql.Expr) {
		switch e := e.(type) {
		case *metricsql.MetricExpr:
			for _, filters := range e.LabelFilterss {
				for _, metric := range metricsOf(t, filters) {
					require.Equal(t, contract.Histogram, metric.Type, "%s: quantile of the %s %s", text, metric.Type, metric.Name)
				}
			}
		case *metricsql.FuncExpr:
			switch e.Name {
			case "increase_pure", "increase", "rate":
				rollups++
			case "last_over_time":
				require.True(t, judged, text)
				rollups++
			}
		}
	})
	require.Equal(t, 1, rollups, text)
}

// undrawn maps metrics that no panel draws to the reason.
func undrawn() map[string]string {
	const byHand = "for a query by hand: the drawn ones change with it"
	const byUploader = "Hadoop 3.4 counts in its beans only what its MultipartUploader does, not the streams of Spark's writes"
	return map[string]string{
		platform.MetricApplicationEnded:                "for the status page and `observatory submit`, which wait for the final phases",
		"hadoop_s3a_multipart_upload_part_put_total":   byUploader,
		"hadoop_s3a_multipart_upload_completed_total":  byUploader,
		"observatory_step_count_total":                 "for alerts: the panel of durations names each step and its state",
		serve.MetricWakes:                              "what a wake does not read the next run does, which is drawn",
		redelivery.MetricResent:                        "what is replayed is not lost: nobody has to act",
		redelivery.MetricKept:                          "bounded, and at its bound the collectors' queues grow, which are drawn",
		"hadoop_s3a_committer_commit_job_total":        byHand,
		"hadoop_s3a_committer_tasks_completed_total":   byHand,
		"hadoop_s3a_stream_read_seek_operations_total": byHand,
		"hadoop_s3a_stream_write_bytes_total":          byHand,
		"hadoop_s3a_stream_read_exceptions_total":      "zero unless S3 fails, when tasks fail and say why",
		"hadoop_s3a_stream_write_exceptions_total":     "zero unless S3 fails, when tasks fail and say why",
	}
}

// What the platform itself measures, of jobs and of its own work, is drawn by a panel, or
// listed with a reason.
func TestOwnMetricsAreDrawn(t *testing.T) {
	drawn, listed := map[string]bool{}, undrawn()
	for _, d := range suite(t) {
		for _, p := range parse(t, d).Panels {
			for _, q := range p.Targets {
				for _, name := range regexp.MustCompile(`[a-z][a-z0-9_]+`).FindAllString(q.Expr, -1) {
					if metric, ok := contract.Find(name); ok {
						drawn[metric.Name] = true
					}
				}
			}
		}
	}
	count := 0
	for _, m := range contract.Metrics() {
		ofJobs := []contract.Source{contract.SourceSpark, contract.SourceSteps, contract.SourceClusters, contract.SourceS3A}
		ownServer := m.Source == contract.SourceStores && strings.HasPrefix(m.Name, "observatory_")
		if !slices.Contains(ofJobs, m.Source) && !ownServer {
			continue
		}
		count++
		_, excused := listed[m.Name]
		require.NotEqual(t, drawn[m.Name], excused, "%s: draw it, or list it in undrawn with the reason, not both", m.Name)
		delete(listed, m.Name)
	}
	require.Positive(t, count)
	require.Empty(t, listed, "the platform has no such metric")
}
