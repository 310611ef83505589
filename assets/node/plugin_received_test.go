package node_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
)

// otlp are the parts of OTLP's JSON that the plugin's test reads. The real collector
// reads the launcher's encoding elsewhere.
type otlp struct {
	ResourceSpans []struct {
		Resource   otlpAttributes
		ScopeSpans []struct{ Spans []otlpSpan }
	}
	ResourceMetrics []struct {
		Resource     otlpAttributes
		ScopeMetrics []struct {
			Metrics []struct {
				Name                  string
				Gauge, Sum, Histogram struct{ DataPoints []otlpPoint }
			}
		}
	}
	ResourceLogs []struct {
		Resource  otlpAttributes
		ScopeLogs []struct {
			LogRecords []struct {
				TraceID, SpanID string
				Body            struct{ StringValue string }
			}
		}
	}
}

type otlpAttributes struct{ Attributes []otlpAttribute }

type otlpAttribute struct {
	Key   string
	Value map[string]any
}

type otlpSpan struct {
	otlpAttributes
	TraceID, SpanID, ParentSpanID, Name string
	StartTimeUnixNano, EndTimeUnixNano  string
	Status                              struct{ Message string }
	Links                               []struct{ TraceID, SpanID string }
	resource                            map[string]string
}

type otlpPoint struct {
	otlpAttributes
	AsInt, Count  string
	AsDouble, Sum float64
	BucketCounts  []string
}

func (a otlpAttributes) labels() map[string]string {
	labels := map[string]string{}
	for _, attribute := range a.Attributes {
		for _, value := range attribute.Value {
			switch v := value.(type) {
			case string:
				labels[attribute.Key] = v
			case float64:
				labels[attribute.Key] = strconv.FormatFloat(v, 'g', -1, 64)
			case bool:
				labels[attribute.Key] = strconv.FormatBool(v)
			}
		}
	}
	return labels
}

// received is what the JVMs of one application sent.
type received struct {
	mu      sync.Mutex
	spans   []otlpSpan
	metrics map[string]float64 // the last value by JVM, name and labels
	series  map[string]map[string]int
	traced  int // log records with a span
	logged  int // bytes of log records' texts
	output  string
}

func receiveTelemetry(t *testing.T) *received {
	t.Helper()
	r := &received{metrics: map[string]float64{}, series: map[string]map[string]int{}}
	serveTelemetry(t, func(_ http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return
		}
		var message otlp
		if err := json.Unmarshal(body, &message); err != nil {
			t.Errorf("%s: %v", request.URL.Path, err)
		}
		r.add(message)
	})
	return r
}

// final reports whether the last metrics of the driver have arrived. The caller has
// locked r.
func (r *received) final() bool { return r.metrics["driver spark.application.ended"] == 1 }

// finalOfExecutors reports whether the last metrics of all JVMs have arrived. The caller
// has locked r.
func (r *received) finalOfExecutors() bool {
	return r.final() && r.sum("spark.task.s3.time") > s3Seconds-1e-6 && seriesOf(r, "0") > 0 && seriesOf(r, "1") > 0
}

// finalOfTwo reports whether the last metrics of the driver and the spans of both its
// applications have arrived. The caller has locked r.
func (r *received) finalOfTwo() bool {
	applications := 0
	for _, span := range r.spans {
		if span.labels()["spark.kind"] == "application" {
			applications++
		}
	}
	return r.final() && applications >= 2
}

func (r *received) add(message otlp) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, resource := range message.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			for _, span := range scope.Spans {
				span.resource = resource.Resource.labels()
				r.spans = append(r.spans, span)
			}
		}
	}
	for _, resource := range message.ResourceMetrics {
		jvm := resource.Resource.labels()[string(platform.SparkExecutorID)]
		for _, scope := range resource.ScopeMetrics {
			for _, metric := range scope.Metrics {
				for _, point := range slices.Concat(metric.Gauge.DataPoints, metric.Sum.DataPoints, metric.Histogram.DataPoints) {
					r.point(jvm, metric.Name, point)
				}
			}
		}
	}
	for _, resource := range message.ResourceLogs {
		for _, scope := range resource.ScopeLogs {
			for _, record := range scope.LogRecords {
				r.logged += len(record.Body.StringValue)
				if record.SpanID != "" && strings.Contains(record.Body.StringValue, "Exception in task") {
					r.traced++
				}
			}
		}
	}
}

func (r *received) point(jvm, name string, point otlpPoint) {
	if !strings.HasPrefix(name, "spark.") {
		return
	}
	key := jvm + " " + name
	labels := point.labels()
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		key += " " + labels[label]
	}
	value := point.AsDouble + point.Sum
	if point.AsInt != "" {
		value, _ = strconv.ParseFloat(point.AsInt, 64)
	}
	r.metrics[key] = value
	if r.series[jvm] == nil {
		r.series[jvm] = map[string]int{}
	}
	r.series[jvm][key] = 1
	if len(point.BucketCounts) > 0 {
		r.series[jvm][key] = len(point.BucketCounts) + 2
	}
}

// sum adds up the series of a metric whose labels begin so, over all JVMs.
func (r *received) sum(metric string) (sum float64) {
	for key, value := range r.metrics {
		_, rest, _ := strings.Cut(key, " ")
		if rest == metric || strings.HasPrefix(rest, metric+" ") {
			sum += value
		}
	}
	return sum
}

func (r *received) named(t *testing.T, name string) otlpSpan {
	t.Helper()
	i := slices.IndexFunc(r.spans, func(s otlpSpan) bool { return s.Name == name })
	require.GreaterOrEqual(t, i, 0, "no span %s", name)
	return r.spans[i]
}

// requireTree checks that each span has its parent in its trace, except for the given
// ones, and that no span came twice.
func (r *received) requireTree(t *testing.T, others ...string) {
	t.Helper()
	known := map[string]bool{}
	for _, span := range r.spans {
		require.False(t, known[span.TraceID+span.SpanID], "%s came twice", span.Name)
		known[span.TraceID+span.SpanID] = true
	}
	for _, span := range r.spans {
		if span.ParentSpanID != "" && !slices.Contains(others, span.ParentSpanID) {
			require.True(t, known[span.TraceID+span.ParentSpanID], "the parent of %s is not in its trace", span.Name)
		}
	}
}

// requirePhases checks the final phases: the sum is the wall clock.
func (r *received) requirePhases(t *testing.T) {
	t.Helper()
	wall := r.metrics["driver spark.wall"]
	sum := r.metrics["driver spark.resource_wait"]
	for _, phase := range platform.Phases() {
		sum += r.metrics["driver spark.phase."+string(phase)]
	}
	require.Positive(t, wall)
	require.InDelta(t, wall, sum, 0.001)
	require.InDelta(t, 1, r.sum("spark.phase.breakdown"), 1e-9)
	require.Zero(t, r.metrics["driver spark.phase.approximate"])
	require.InDelta(t, 1, r.metrics["driver spark.application.ended"], 0)
	require.Greater(t, r.metrics["driver spark.phase.compute"], 2.5, "a task sleeps so long")
	require.Positive(t, r.metrics["driver spark.phase.io_write"])
}
