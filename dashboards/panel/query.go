package panel

import (
	"errors"
	"fmt"
	"time"

	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/grafanapyroscope"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/tempo"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Plugin ids of the datasources.
const (
	PluginMetrics  = "prometheus"
	PluginLogs     = "victoriametrics-logs-datasource"
	PluginTraces   = "tempo"
	PluginProfiles = "grafana-pyroscope-datasource"
)

// pluginOf returns the plugin that reads a datasource.
func pluginOf(ds platform.Datasource) string {
	switch ds {
	case platform.DatasourceMetrics:
		return PluginMetrics
	case platform.DatasourceLogs:
		return PluginLogs
	case platform.DatasourceTraces:
		return PluginTraces
	case platform.DatasourceProfiles:
		return PluginProfiles
	}
	return ""
}

func dataSourceRef(ds platform.Datasource) common.DataSourceRef {
	plugin, uid := pluginOf(ds), string(ds)
	return common.DataSourceRef{Type: &plugin, Uid: &uid}
}

// Query is one query of a panel, created by Metrics, Buckets, Logs, LogStats,
// Traces, ProfileSeries or Flame.
type Query struct {
	datasource platform.Datasource
	expr       string
	legend     string
	instant    bool
	rows       bool
	buckets    bool
	time       bool // values are milliseconds since 1970
	every      time.Duration
	limit      int64
	groupBy    []string
	kind       string
}

// Query kinds, as the plugins spell them in queryType.
const (
	logsLines      = "instant"
	logsRange      = "statsRange"
	tracesSearch   = "traceql"
	profileSeries  = "metrics"
	profileStacks  = "profile"
	tracesPerTable = 3
)

// Metrics returns a MetricsQL range query; legend is Grafana's template, such as
// "{{host_name}}".
func Metrics(expr, legend string) Query {
	return Query{datasource: platform.DatasourceMetrics, expr: expr, legend: legend}
}

// Instant makes a metrics query return one value per series, at the end of the
// time range.
func (q Query) Instant() Query { q.instant = true; return q }

// table makes an instant metrics query return rows instead of series.
func (q Query) table() Query { q.instant, q.rows = true, true; return q }

// Buckets returns a MetricsQL range query for the buckets of a histogram by "le", each
// without those below it, as a Heatmap draws them.
func Buckets(expr string) Query {
	q := Metrics(expr, "{{le}}")
	q.buckets = true
	return q
}

// Every sets the source's collection interval if it is longer than
// platform.CollectionInterval: it widens $__interval and $__rate_interval.
func (q Query) Every(interval time.Duration) Query { q.every = interval; return q }

// Logs returns a LogsQL query for lines, at most limit of them.
func Logs(expr string, limit int) Query {
	return Query{datasource: platform.DatasourceLogs, expr: expr, kind: logsLines, limit: int64(limit)}
}

// LogStats returns a LogsQL query ending in a stats pipe, drawn over time.
func LogStats(expr, legend string) Query {
	return Query{datasource: platform.DatasourceLogs, expr: expr, kind: logsRange, legend: legend}
}

// Traces returns a TraceQL search for at most limit traces.
func Traces(expr string, limit int) Query {
	return Query{datasource: platform.DatasourceTraces, expr: expr, kind: tracesSearch, limit: int64(limit)}
}

// ProfileSeries draws a profile type over time; selector is a Pyroscope label
// selector in braces and groupBy the labels of a series.
func ProfileSeries(profileType, selector string, groupBy ...string) Query {
	return Query{datasource: platform.DatasourceProfiles, expr: selector, legend: profileType, kind: profileSeries, groupBy: groupBy}
}

// Flame merges the stacks of a profile type into one flame graph.
func Flame(profileType, selector string) Query {
	return Query{datasource: platform.DatasourceProfiles, expr: selector, legend: profileType, kind: profileStacks}
}

// build returns the SDK's query with its refId.
func (q Query) build(refID string) (variants.Dataquery, error) {
	if q.expr == "" {
		return nil, fmt.Errorf("query %s has no expression", refID)
	}
	ref := dataSourceRef(q.datasource)
	switch q.datasource {
	case platform.DatasourceMetrics:
		return q.metrics(refID, ref), nil
	case platform.DatasourceLogs:
		return &LogsQuery{RefID: refID, Datasource: ref, Expr: q.expr, QueryType: q.kind, LegendFormat: q.legend, MaxLines: q.limit}, nil
	case platform.DatasourceTraces:
		spss, tableType := int64(tracesPerTable), tempo.SearchTableTypeTraces
		return &tempo.TempoQuery{
			RefId: &refID, Datasource: &ref, QueryType: &q.kind, Query: &q.expr,
			Limit: &q.limit, Spss: &spss, TableType: &tableType, Filters: []tempo.TraceqlFilter{},
		}, nil
	case platform.DatasourceProfiles:
		groupBy := q.groupBy
		if groupBy == nil {
			groupBy = []string{}
		}
		return &grafanapyroscope.Dataquery{
			RefId: &refID, Datasource: &ref, QueryType: &q.kind,
			ProfileTypeId: q.legend, LabelSelector: q.expr, GroupBy: groupBy,
		}, nil
	}
	return nil, fmt.Errorf("query %s: datasource %q is not one of the platform's", refID, q.datasource)
}

func (q Query) metrics(refID string, ref common.DataSourceRef) *prometheus.Dataquery {
	instant, ranged, format := q.instant, !q.instant, prometheus.PromQueryFormatTimeSeries
	switch {
	case q.rows:
		format = prometheus.PromQueryFormatTable
	case q.buckets:
		format = prometheus.PromQueryFormatHeatmap
	}
	query := &prometheus.Dataquery{
		RefId: &refID, Datasource: &ref, Expr: q.expr, Instant: &instant, Range: &ranged, Format: &format,
	}
	if q.legend != "" {
		query.LegendFormat = &q.legend
	}
	if q.every > 0 {
		interval := q.every.String()
		query.Interval = &interval
	}
	return query
}

// LogsQuery is a query of the victoriametrics-logs-datasource plugin, for
// which the SDK has no type (fields: the plugin's src/types.ts).
type LogsQuery struct {
	RefID        string               `json:"refId"`
	Datasource   common.DataSourceRef `json:"datasource"`
	Expr         string               `json:"expr"`
	QueryType    string               `json:"queryType"`
	LegendFormat string               `json:"legendFormat,omitempty"`
	MaxLines     int64                `json:"maxLines,omitempty"`
}

// ImplementsDataqueryVariant marks LogsQuery as a query to the SDK.
func (*LogsQuery) ImplementsDataqueryVariant() {}

// DataqueryType returns the plugin's id.
func (*LogsQuery) DataqueryType() string { return PluginLogs }

// Equals reports whether another query is the same.
func (q *LogsQuery) Equals(other variants.Dataquery) bool {
	o, ok := other.(*LogsQuery)
	return ok && q.RefID == o.RefID && q.Datasource.Equals(o.Datasource) && q.Expr == o.Expr &&
		q.QueryType == o.QueryType && q.LegendFormat == o.LegendFormat && q.MaxLines == o.MaxLines
}

// Validate reports a query that the plugin would reject.
func (q *LogsQuery) Validate() error {
	if q.Expr == "" {
		return errors.New("expr is empty")
	}
	return nil
}
