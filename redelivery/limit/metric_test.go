package limit

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/VictoriaMetrics/metrics"
	"github.com/stretchr/testify/require"
	otlp "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"

	"github.com/emr-observatory/emr-observatory/platform"
)

func gauge(name string, points ...*otlp.NumberDataPoint) *otlp.Metric {
	return &otlp.Metric{Name: name, Data: &otlp.Metric_Gauge{Gauge: &otlp.Gauge{DataPoints: points}}}
}

func point(pairs ...string) *otlp.NumberDataPoint {
	return &otlp.NumberDataPoint{Attributes: attributes(pairs...), Value: &otlp.NumberDataPoint_AsInt{AsInt: 7}}
}

func measured(t *testing.T, sender string, all ...*otlp.Metric) []byte {
	t.Helper()
	return encoded(t, &otlp.MetricsData{ResourceMetrics: []*otlp.ResourceMetrics{{
		Resource: from(sender), ScopeMetrics: []*otlp.ScopeMetrics{{Metrics: all}},
	}}})
}

// Series that a cluster has go on when it may have no more, into the next hour, too; a new one waits for
// that. A connection makes no new ones.
func TestSeriesThatExistGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimited(t, Limits{platform.SignalMetrics: 3})
		admit := func(sender string, all ...*otlp.Metric) Admission {
			return l.Admit(platform.SignalMetrics, measured(t, sender, all...))
		}
		old := gauge("a", point("x", "1"), point("x", "2"))
		require.True(t, admit("10.0.0.1:1", old).Whole)
		require.True(t, admit("10.0.0.1:2", old).Whole)
		l.requireMetric(platform.MetricLimitUsed, "metrics", `cluster="j-ONE"`, 2.0/3)
		a := admit("10.0.0.1", gauge("b", point("x", "2"), point("x", "3")), old)
		a.Stored()
		l.requireMetric(platform.MetricOverLimit, "metrics", `cluster="j-ONE"`, 1)
		var left otlp.MetricsData
		require.NoError(t, proto.Unmarshal(a.Body, &left))
		kept := left.GetResourceMetrics()[0].GetScopeMetrics()[0].GetMetrics()
		require.Len(t, kept[0].GetGauge().GetDataPoints(), 1)
		require.Equal(t, "2", kept[0].GetGauge().GetDataPoints()[0].GetAttributes()[0].GetValue().GetStringValue(), "the first new one")
		require.Len(t, kept[1].GetGauge().GetDataPoints(), 2)

		time.Sleep(window)
		require.True(t, admit("10.0.0.1", gauge("c", point(), point("x", "1"), point("x", "2"))).Whole)
		require.True(t, admit("10.0.0.1", old).Whole, "it had them in the hour before")
		require.False(t, admit("10.0.0.1", gauge("d", point())).Whole)

		for hour := range 5 { // it adds as many as it may, and keeps the others
			time.Sleep(window)
			require.True(t, admit("10.0.0.1", gauge(fmt.Sprintf("e%d", hour), point(), point("x", "1"), point("x", "2"))).Whole)
			admit("10.0.0.1", old, gauge("c", point(), point("x", "1"), point("x", "2")), gauge("b", point("x", "2")),
				gauge(fmt.Sprintf("e%d", hour-1), point(), point("x", "1"), point("x", "2")))
			require.LessOrEqual(t, l.shares["j-ONE"].count, int64(6))
		}
		time.Sleep(2 * window)
		require.True(t, admit("10.0.0.1", gauge("d", point())).Whole)
	})
}

// A data point is as many series as VictoriaMetrics makes of it, and whatever names a series is one of its own.
func TestWhatIsASeries(t *testing.T) {
	gaugeOf := func(name, unit string) *otlp.Metric {
		m := gauge(name, point("x", "1"))
		m.Unit = unit
		return m
	}
	sum := func(grows bool) *otlp.Metric {
		points := []*otlp.NumberDataPoint{point("x", "1")}
		return &otlp.Metric{Name: "a", Data: &otlp.Metric_Sum{Sum: &otlp.Sum{IsMonotonic: grows, DataPoints: points}}}
	}
	histogram := func(bounds ...float64) *otlp.Metric {
		return &otlp.Metric{Name: "h", Data: &otlp.Metric_Histogram{Histogram: &otlp.Histogram{DataPoints: []*otlp.HistogramDataPoint{
			{ExplicitBounds: bounds, BucketCounts: make([]uint64, len(bounds)+1)},
		}}}}
	}
	exponential := func(scale, offset int32, counts ...uint64) *otlp.Metric {
		buckets := &otlp.ExponentialHistogramDataPoint_Buckets{Offset: offset, BucketCounts: counts}
		return &otlp.Metric{Name: "e", Data: &otlp.Metric_ExponentialHistogram{ExponentialHistogram: &otlp.ExponentialHistogram{
			DataPoints: []*otlp.ExponentialHistogramDataPoint{{Scale: scale, Positive: buckets}},
		}}}
	}
	summary := func(quantiles ...float64) *otlp.Metric {
		p := &otlp.SummaryDataPoint{}
		for _, q := range quantiles {
			p.QuantileValues = append(p.QuantileValues, &otlp.SummaryDataPoint_ValueAtQuantile{Quantile: q, Value: 7 * q})
		}
		return &otlp.Metric{Name: "s", Data: &otlp.Metric_Summary{Summary: &otlp.Summary{DataPoints: []*otlp.SummaryDataPoint{p}}}}
	}
	for name, c := range map[string]struct {
		metrics []*otlp.Metric
		series  int64
	}{
		"the same twice":             {[]*otlp.Metric{gaugeOf("a", "s"), gaugeOf("a", "s")}, 1},
		"two names":                  {[]*otlp.Metric{gaugeOf("a", "s"), gaugeOf("b", "s")}, 2},
		"two units":                  {[]*otlp.Metric{gaugeOf("a", "s"), gaugeOf("a", "ms")}, 2},
		"a gauge and two sums":       {[]*otlp.Metric{gauge("a", point("x", "1")), sum(true), sum(false)}, 3},
		"attributes in two orders":   {[]*otlp.Metric{gauge("a", point("x", "1", "y", "2"), point("y", "2", "x", "1"))}, 2},
		"a key twice":                {[]*otlp.Metric{gauge("a", point("x", "1", "x", "2"), point("x", "2", "x", "1"), point("x", "1"))}, 3},
		"a histogram without bounds": {[]*otlp.Metric{histogram()}, 3},
		"histograms":                 {[]*otlp.Metric{histogram(1, 2), histogram(1, 2), histogram(1, 3)}, 10},
		"exponential histograms": {[]*otlp.Metric{
			exponential(0, 0, 1, 300), exponential(0, 0, 1, 300), exponential(0, 1, 1, 300), exponential(1, 0, 1, 300),
		}, 15},
		"one that grows":        {[]*otlp.Metric{exponential(0, 0, 1), exponential(0, 0, 1, 2)}, 5},
		"a summary":             {[]*otlp.Metric{summary(0.5, 0.99), summary(0.5, 0.99)}, 4},
		"summaries":             {[]*otlp.Metric{summary(0.5), summary(0.9)}, 6},
		"a metric without data": {[]*otlp.Metric{{Name: "a"}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLimited(t, Limits{platform.SignalMetrics: 100})
			require.True(t, l.Admit(platform.SignalMetrics, measured(t, "10.0.0.1", c.metrics...)).Whole)
			require.Equal(t, c.series, l.shares["j-ONE"].count)
		})
	}
}

func BenchmarkAdmit(b *testing.B) {
	var all []*otlp.Metric
	for i := range 500 {
		x := fmt.Sprint(i)
		all = append(all, gauge("metric_"+x, point("x", x, "state", "used"), point("x", x, "state", "free")))
	}
	body, err := proto.Marshal(&otlp.MetricsData{ResourceMetrics: []*otlp.ResourceMetrics{{
		Resource: from("10.0.0.1"), ScopeMetrics: []*otlp.ScopeMetrics{{Metrics: all}},
	}}})
	require.NoError(b, err)
	l := New(Limits{platform.SignalMetrics: 1 << 20}, metrics.NewSet())
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if !l.Admit(platform.SignalMetrics, body).Whole {
			b.Fatal("refused")
		}
	}
}
