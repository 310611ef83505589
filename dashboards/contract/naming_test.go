package contract_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"

	"github.com/emr-observatory/emr-observatory/dashboards/contract"
	"github.com/emr-observatory/emr-observatory/internal/storetest"
)

// sendsUnit reports whether a source's metrics reach the store as OTLP with a unit.
// Metrics that a collector scrapes have none, and those that VictoriaMetrics scrapes
// keep their names.
func sendsUnit(source contract.Source) bool {
	return slices.Contains([]contract.Source{
		contract.SourceHost, contract.SourceJVM, contract.SourceS3A, contract.SourceSpark, contract.SourceSteps, contract.SourceClusters,
	}, source)
}

// The contract's names must be those under which the real VictoriaMetrics stores what
// the sources emit.
func TestVictoriaMetricsStoresContractNames(t *testing.T) {
	base := storetest.Metrics(t)
	now := time.Now()
	scope, want := &metricspb.ScopeMetrics{}, []string{}
	for _, m := range contract.Metrics() {
		if m.Source == contract.SourceStores {
			continue
		}
		scope.Metrics = append(scope.Metrics, emit(m, now))
		want = append(want, m.Series()...)
	}
	require.NotEmpty(t, want)
	body, err := proto.Marshal(&metricspb.MetricsData{ResourceMetrics: []*metricspb.ResourceMetrics{
		{ScopeMetrics: []*metricspb.ScopeMetrics{scope}},
	}})
	require.NoError(t, err)
	storetest.Post(t, base+"/opentelemetry/v1/metrics", "application/x-protobuf", body)
	storetest.Get(t, base+"/internal/force_flush")

	var answer struct {
		Data []string `json:"data"`
	}
	window := url.Values{"start": {now.Add(-time.Hour).Format(time.RFC3339)}, "end": {now.Add(time.Hour).Format(time.RFC3339)}}
	require.NoError(t, json.Unmarshal(storetest.Get(t, base+"/api/v1/label/__name__/values?"+window.Encode()), &answer))
	require.ElementsMatch(t, want, answer.Data)
}

// emit returns one sample of a metric as its source sends it.
func emit(m contract.Metric, now time.Time) *metricspb.Metric {
	at := uint64(now.UnixNano())
	point := []*metricspb.NumberDataPoint{{TimeUnixNano: at, Value: &metricspb.NumberDataPoint_AsDouble{AsDouble: 1}}}
	out := &metricspb.Metric{Name: m.Emitted}
	if sendsUnit(m.Source) {
		out.Unit = m.Unit
	}
	switch m.Type {
	case contract.Counter:
		out.Data = &metricspb.Metric_Sum{Sum: &metricspb.Sum{
			IsMonotonic: true, AggregationTemporality: metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE, DataPoints: point,
		}}
	case contract.Gauge:
		out.Data = &metricspb.Metric_Gauge{Gauge: &metricspb.Gauge{DataPoints: point}}
	case contract.Histogram:
		sum := 1.0
		out.Data = &metricspb.Metric_Histogram{Histogram: &metricspb.Histogram{
			AggregationTemporality: metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE,
			DataPoints: []*metricspb.HistogramDataPoint{{
				TimeUnixNano: at, Count: 1, Sum: &sum, ExplicitBounds: []float64{0.1}, BucketCounts: []uint64{0, 1},
			}},
		}}
	}
	return out
}
