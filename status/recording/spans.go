package recording

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/emr-observatory/emr-observatory/platform"
)

// SpanSender sends spans to a collector by OTLP over HTTP.
type SpanSender struct {
	collector string // URL
	spans     *otlptrace.Exporter
}

// NewSpanSender returns a sender to the collector of a sender of metrics.
func NewSpanSender(ctx context.Context, metrics Sender) (SpanSender, error) {
	at := strings.TrimSuffix(metrics.Collector, "/") + "/v1/traces"
	spans, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(at), otlptracehttp.WithTimeout(ExportTimeout))
	if err != nil {
		return SpanSender{}, fmt.Errorf("configure the exporter of spans to %s: %w", metrics.Collector, err)
	}
	return SpanSender{metrics.Collector, spans}, nil
}

// Send sends spans. An error names them as what.
func (s SpanSender) Send(ctx context.Context, what string, spans []sdktrace.ReadOnlySpan) error {
	if len(spans) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, ExportTimeout)
	defer cancel()
	if err := s.spans.ExportSpans(ctx, spans); err != nil {
		return fmt.Errorf("send the spans of %d %s to %s: %w", len(spans), what, s.collector, err)
	}
	return nil
}

// Span is a span with the ids that it has elsewhere, too.
type Span struct {
	Name       string
	IDs        trace.SpanContext
	Parent     trace.SpanID // of the same trace; not valid = none
	Of         *resource.Resource
	Attributes []attribute.KeyValue
	Start, End time.Time // an end before the start is the start
	Failure    string    // "" = none
}

// Ended returns the span as the SDK exports it.
func (s Span) Ended() sdktrace.ReadOnlySpan {
	ctx := context.Background()
	if s.Parent.IsValid() {
		ctx = trace.ContextWithRemoteSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
			TraceID: s.IDs.TraceID(), SpanID: s.Parent, TraceFlags: trace.FlagsSampled, Remote: true,
		}))
	}
	collector := &spanCollector{}
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithSpanProcessor(collector), sdktrace.WithIDGenerator(fixedIDs{s.IDs}),
		sdktrace.WithSampler(sdktrace.AlwaysSample()), sdktrace.WithResource(s.Of))
	_, span := provider.Tracer(platform.Project).Start(ctx, s.Name, trace.WithTimestamp(s.Start), trace.WithAttributes(s.Attributes...))
	if s.Failure != "" {
		span.SetStatus(codes.Error, s.Failure)
	}
	end := s.End
	if end.Before(s.Start) {
		end = s.Start
	}
	span.End(trace.WithTimestamp(end))
	return collector.spans[0]
}

// fixedIDs is an ID generator that gives the span the ids that it has elsewhere.
type fixedIDs struct{ span trace.SpanContext }

func (f fixedIDs) NewIDs(context.Context) (trace.TraceID, trace.SpanID) {
	return f.span.TraceID(), f.span.SpanID()
}

func (f fixedIDs) NewSpanID(context.Context, trace.TraceID) trace.SpanID { return f.span.SpanID() }

// spanCollector is a span processor that only keeps the ended span. It is then
// exported directly, which returns errors: the SDK's own processors only log them.
type spanCollector struct{ spans []sdktrace.ReadOnlySpan }

func (c *spanCollector) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (c *spanCollector) OnEnd(span sdktrace.ReadOnlySpan)                { c.spans = append(c.spans, span) }
func (c *spanCollector) Shutdown(context.Context) error                  { return nil }
func (c *spanCollector) ForceFlush(context.Context) error                { return nil }
