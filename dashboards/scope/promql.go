package scope

import (
	"slices"
	"strconv"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Filter is a PromQL label matcher.
type Filter string

// Equal matches series whose label has exactly this value.
func Equal(label, value string) Filter { return filter(label, "=", value) }

// NotEqual matches series whose label has another value or is absent.
func NotEqual(label, value string) Filter { return filter(label, "!=", value) }

// Match matches series whose whole label value matches a regular expression.
func Match(label, pattern string) Filter { return filter(label, "=~", pattern) }

// NotMatch matches the other series.
func NotMatch(label, pattern string) Filter { return filter(label, "!~", pattern) }

func filter(label, operator, value string) Filter {
	return Filter(label + operator + strconv.Quote(value))
}

func joinFilters(lists ...[]Filter) string {
	var texts []string
	for _, list := range lists {
		for _, f := range list {
			texts = append(texts, string(f))
		}
	}
	return strings.Join(texts, ",")
}

// Group is the list of labels that an aggregation keeps.
type Group []string

// By groups by the given labels.
func By(labels ...string) Group { return labels }

// PerCluster keeps one series per cluster.
func PerCluster(more ...string) Group { return groupBy(more, platform.Cluster) }

// PerHost keeps one series per host, with all labels that links of a host need.
func PerHost(more ...string) Group {
	return groupBy(more, platform.Cluster, platform.NodeRole, platform.HostName)
}

// PerApplication keeps one series per Spark application.
func PerApplication(more ...string) Group {
	return groupBy(more, platform.Cluster, platform.SparkAppID)
}

// PerExecutor keeps one series per Spark JVM; the driver is the executor
// platform.DriverID.
func PerExecutor(more ...string) Group {
	return groupBy(more, platform.Cluster, platform.HostName, platform.SparkAppID, platform.SparkExecutorID)
}

// groupBy returns a group of the labels' metric names and more labels.
func groupBy(more []string, labels ...platform.Label) Group {
	group := make(Group, 0, len(labels)+len(more))
	for _, label := range labels {
		group = append(group, label.Metric())
	}
	return append(group, more...)
}

// Sum adds up the series of each group.
func (g Group) Sum(expr string) string { return g.aggregate("sum", expr) }

// Max keeps the largest value of each group.
func (g Group) Max(expr string) string { return g.aggregate("max", expr) }

// Min keeps the smallest value of each group.
func (g Group) Min(expr string) string { return g.aggregate("min", expr) }

// Count counts the series of each group.
func (g Group) Count(expr string) string { return g.aggregate("count", expr) }

func (g Group) aggregate(operator, expr string) string {
	return operator + " by (" + strings.Join(g, ", ") + ") (" + expr + ")"
}

// Rate returns a query for a counter's increase per second over Grafana's rate interval.
func Rate(series string) string { return "rate(" + series + "[$__rate_interval])" }

// Increase returns a query for a counter's increase over Grafana's rate interval.
func Increase(series string) string { return "increase(" + series + "[$__rate_interval])" }

// Gain returns a query for what a counter of an application gained over Grafana's rate
// interval. It counts the first sample, too (MetricsQL's increase_pure): such a counter
// starts with the application, and its first export may hold all there ever is.
func Gain(series string) string { return "increase_pure(" + series + "[$__rate_interval])" }

// PerSecond returns the same per second.
func PerSecond(series string) string { return Gain(series) + " / $__rate_interval" }

// GainInRange returns what Gain does over the dashboard's time range.
func GainInRange(series string) string { return "increase_pure(" + series + "[$__range])" }

// Quantile returns a query for a quantile of a histogram's buckets, by the labels of
// the group.
func (g Group) Quantile(q string, buckets string) string {
	return "histogram_quantile(" + q + ", " + append(slices.Clone(g), "le").Sum(buckets) + ")"
}

// IncreaseInRange returns a query for a counter's increase over the dashboard's time range.
func IncreaseInRange(series string) string { return "increase(" + series + "[$__range])" }

// Last returns a query for the last value within the dashboard's time range. It finds
// what an application reported before it ended.
func Last(series string) string { return "last_over_time(" + series + "[$__range])" }

// Latest keeps, of each group, the last value within the dashboard's time range of the
// series that was written last: a driver that YARN restarted elsewhere has two.
func (g Group) Latest(series string) string {
	written := "topk(1, tlast_over_time(" + series + "[$__range])) by (" + strings.Join(g, ", ") + ")"
	return g.Max(Last(series) + " and " + written)
}
