package node_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	collectorlogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortraces "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	_ "google.golang.org/grpc/encoding/gzip" // what collectors send

	"github.com/emr-observatory/emr-observatory/internal/testenv"
)

// labels are a resource's attributes.
type labels map[string]string

type metricRow struct {
	resource labels
	metric   *metrics.Metric
}

type spanRow struct {
	resource, attributes labels
	span                 *traces.Span
}

type logRow struct {
	resource, attributes labels
	record               *logs.LogRecord
}

// sink is a fake of the control node's collector, which records what arrives over
// OTLP.
type sink struct {
	collectormetrics.UnimplementedMetricsServiceServer
	mu      sync.Mutex
	changed chan struct{}
	metrics []metricRow
	logs    []logRow
	spans   []spanRow
}

type logService struct {
	collectorlogs.UnimplementedLogsServiceServer
	*sink
}

type traceService struct {
	collectortraces.UnimplementedTraceServiceServer
	*sink
}

func startSink(t *testing.T, address string) *sink {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	require.NoError(t, err)
	s := &sink{changed: make(chan struct{}, 1)}
	server := grpc.NewServer(grpc.MaxRecvMsgSize(64 << 20))
	collectormetrics.RegisterMetricsServiceServer(server, s)
	collectorlogs.RegisterLogsServiceServer(server, logService{sink: s})
	collectortraces.RegisterTraceServiceServer(server, traceService{sink: s})
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return s
}

func (s *sink) Export(
	_ context.Context, r *collectormetrics.ExportMetricsServiceRequest,
) (*collectormetrics.ExportMetricsServiceResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, resource := range r.GetResourceMetrics() {
		for _, scope := range resource.GetScopeMetrics() {
			for _, m := range scope.GetMetrics() {
				s.metrics = append(s.metrics, metricRow{attributes(resource.GetResource().GetAttributes()), m})
			}
		}
	}
	s.notify()
	return &collectormetrics.ExportMetricsServiceResponse{}, nil
}

func (s logService) Export(_ context.Context, r *collectorlogs.ExportLogsServiceRequest) (*collectorlogs.ExportLogsServiceResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, resource := range r.GetResourceLogs() {
		for _, scope := range resource.GetScopeLogs() {
			for _, l := range scope.GetLogRecords() {
				s.logs = append(s.logs, logRow{attributes(resource.GetResource().GetAttributes()), attributes(l.GetAttributes()), l})
			}
		}
	}
	s.notify()
	return &collectorlogs.ExportLogsServiceResponse{}, nil
}

func (s traceService) Export(
	_ context.Context, r *collectortraces.ExportTraceServiceRequest,
) (*collectortraces.ExportTraceServiceResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, resource := range r.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				s.spans = append(s.spans, spanRow{
					attributes(resource.GetResource().GetAttributes()), attributes(span.GetAttributes()), span,
				})
			}
		}
	}
	s.notify()
	return &collectortraces.ExportTraceServiceResponse{}, nil
}

func (s *sink) notify() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// hasLog reports whether a record with that body has arrived.
func (s *sink) hasLog(body string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.logs, func(r logRow) bool { return r.record.GetBody().GetStringValue() == body })
}

// hasMetric reports whether a metric of that name has arrived from a service, and of an
// application unless that is empty.
func (s *sink) hasMetric(name, service, application string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.metrics, func(r metricRow) bool {
		return r.metric.GetName() == name && r.resource["service.name"] == service &&
			(application == "" || r.resource["spark.app.id"] == application)
	})
}

// runUntilSent runs JVMs that have sendsAll, and returns what they printed once all of
// their telemetry has arrived.
func runUntilSent(t *testing.T, run func() (out string), complete func(out string) bool) (out string) {
	t.Helper()
	out = run()
	testenv.Eventually(t, func() bool { return complete(out) }, testenv.Answer, 100*time.Millisecond, "the last telemetry; %s", out)
	return out
}

// metric waits for a row of that name that accept (nil: any) accepts.
func (s *sink) metric(t *testing.T, name string, accept func(metricRow) bool) metricRow {
	t.Helper()
	return await(t, s, "metric "+name, func() (metricRow, bool) {
		for _, row := range s.metrics {
			if row.metric.GetName() == name && (accept == nil || accept(row)) {
				return row, true
			}
		}
		return metricRow{}, false
	})
}

// log waits for a log record.
func (s *sink) log(t *testing.T, what string, accept func(logRow) bool) logRow {
	t.Helper()
	return await(t, s, "log "+what, func() (logRow, bool) {
		for _, row := range s.logs {
			if accept(row) {
				return row, true
			}
		}
		return logRow{}, false
	})
}

// span waits for a span.
func (s *sink) span(t *testing.T, what string, accept func(spanRow) bool) spanRow {
	t.Helper()
	return await(t, s, "span "+what, func() (spanRow, bool) {
		for _, row := range s.spans {
			if accept(row) {
				return row, true
			}
		}
		return spanRow{}, false
	})
}

// await waits until find succeeds, which it calls after every change of the sink.
func await[T any](t *testing.T, s *sink, what string, find func() (T, bool)) T {
	t.Helper()
	deadline := time.After(testenv.Start.Scaled())
	for {
		s.mu.Lock()
		found, ok := find()
		names := map[string]bool{}
		for _, m := range s.metrics {
			names[m.metric.GetName()] = true
		}
		count, spans := len(s.logs), len(s.spans)
		s.mu.Unlock()
		if ok {
			return found
		}
		select {
		case <-s.changed:
		case <-deadline:
			require.FailNow(t, what+" did not arrive", "metrics that did: %v; %d log records; %d spans", names, count, spans)
		}
	}
}

func attributes(list []*common.KeyValue) labels {
	out := labels{}
	for _, kv := range list {
		switch v := kv.GetValue().GetValue().(type) {
		case *common.AnyValue_StringValue:
			out[kv.GetKey()] = v.StringValue
		default:
			out[kv.GetKey()] = fmt.Sprint(v)
		}
	}
	return out
}
