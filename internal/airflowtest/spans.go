package airflowtest

import (
	"bytes"
	"encoding/hex"
	"io"
	"net/http"
	"strings"
	"sync"

	collectortraces "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Span is a span as Tempo's API has it, and as OTLP does.
type Span struct {
	TraceID, SpanID, ParentSpanID []byte
	Name                          string
}

// Spans takes spans over OTLP, as HTTP. It is safe for concurrent use.
type Spans struct {
	mu    sync.Mutex
	spans []Span
}

// ServeHTTP takes a request of an exporter.
func (s *Spans) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var request collectortraces.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &request)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, resource := range request.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			for _, span := range scope.Spans {
				s.spans = append(s.spans, Span{span.TraceId, span.SpanId, span.ParentSpanId, span.Name})
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// RunOf returns the trace of a DAG's run, in hex, by a span of one of its tasks, and Airflow's
// spans of it; "" if none has arrived.
func (s *Spans) RunOf(task string) (id string, spans []Span) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var of []byte
	for _, span := range s.spans {
		if strings.Contains(span.Name, task) {
			of = span.TraceID
		}
	}
	for _, span := range s.spans {
		if of != nil && bytes.Equal(span.TraceID, of) {
			spans = append(spans, span)
		}
	}
	return hex.EncodeToString(of), spans
}
