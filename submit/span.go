package submit

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Sending telemetry must not delay the result for long.
const (
	exportTimeout = 10 * time.Second // for a whole export, also if nothing answers
	retryTimeout  = 2 * time.Second  // for retries after a retryable response
	retryPause    = 500 * time.Millisecond
)

// newSpanContext creates the ids of the step's span before the step exists, because
// the job receives them as its parent. It continues the trace of ctx, if there is one.
func newSpanContext(ctx context.Context) trace.SpanContext {
	var traceID trace.TraceID
	var spanID trace.SpanID
	_, _ = rand.Read(traceID[:]) // never fails: crypto/rand ends the program instead
	_, _ = rand.Read(spanID[:])
	if parent := trace.SpanContextFromContext(ctx); parent.IsValid() {
		traceID = parent.TraceID()
	}
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: traceID, SpanID: spanID, TraceFlags: trace.FlagsSampled})
}

// traceparent writes a span context as W3C Trace Context does.
func traceparent(span trace.SpanContext) string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(trace.ContextWithSpanContext(context.Background(), span), carrier)
	return carrier["traceparent"]
}

// spanContextOf reads the span context that Submit put into a step's arguments.
func spanContextOf(step *types.Step) trace.SpanContext {
	if step.Config == nil {
		return trace.SpanContext{}
	}
	carrier := propagation.MapCarrier{"traceparent": platform.TraceparentOf(step.Config.Args)}
	return trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), carrier))
}

// fixedIDs is an ID generator that gives the span the ids that the job received.
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

// primaryHostName returns the host.name of the cluster's primary node, on which
// steps run; "" if EMR returns only a public name, which no host uses as its own.
func primaryHostName(cluster types.Cluster) string {
	host, _, _ := strings.Cut(aws.ToString(cluster.MasterPublicDnsName), ".")
	if !strings.HasPrefix(host, "ip-") {
		return ""
	}
	return host
}

// exportSpan sends the span of an ended step, which ran on host. A step that
// never started has none.
func exportSpan(ctx context.Context, endpoint string, span trace.SpanContext, host string, result Result) error {
	if result.Started == nil || result.Ended == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, exportTimeout)
	defer cancel()
	exporter, err := otlptracegrpc.New(ctx, otlptracegrpc.WithEndpoint(endpoint), otlptracegrpc.WithInsecure(),
		otlptracegrpc.WithRetry(otlptracegrpc.RetryConfig{
			Enabled: true, InitialInterval: retryPause, MaxInterval: retryPause, MaxElapsedTime: retryTimeout,
		}))
	if err != nil {
		return fmt.Errorf("send the step's span to %s: %w", endpoint, err)
	}
	defer func() { _ = exporter.Shutdown(ctx) }() // the span is sent or reported by then
	if err := exporter.ExportSpans(ctx, stepSpan(ctx, span, host, result)); err != nil {
		return fmt.Errorf("send the step's span to %s: %w", endpoint, err)
	}
	return nil
}

// stepSpan builds the span of an ended step. Its parent is the span of ctx if
// both are of one trace.
func stepSpan(ctx context.Context, span trace.SpanContext, host string, result Result) []sdktrace.ReadOnlySpan {
	identity := []attribute.KeyValue{
		attribute.String(string(platform.ServiceName), platform.ServiceStep),
		attribute.String(string(platform.Cluster), result.Cluster),
		attribute.String(string(platform.NodeRole), platform.RoleMaster),
	}
	if host != "" {
		identity = append(identity, attribute.String(string(platform.HostName), host))
	}
	if parent := trace.SpanContextFromContext(ctx); parent.TraceID() != span.TraceID() {
		ctx = trace.ContextWithSpanContext(ctx, trace.SpanContext{}) // the step belongs to another trace
	}
	collector := &spanCollector{}
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithSpanProcessor(collector), sdktrace.WithIDGenerator(fixedIDs{span}), sdktrace.WithSampler(sdktrace.AlwaysSample()),
		sdktrace.WithResource(resource.NewSchemaless(identity...)))
	attributes := []attribute.KeyValue{
		attribute.String(string(platform.StepID), result.StepID),
		attribute.String(string(platform.StepName), result.Name),
		attribute.String(string(platform.StepState), string(result.State)),
	}
	if len(result.ApplicationIDs) > 0 {
		attributes = append(attributes, attribute.StringSlice(string(platform.StepApps), result.ApplicationIDs))
	}
	if len(result.ApplicationIDs) == 1 {
		attributes = append(attributes, attribute.String(string(platform.SparkAppID), result.ApplicationIDs[0]))
	}
	_, step := provider.Tracer(platform.Project).Start(ctx, "step "+result.Name,
		trace.WithTimestamp(aws.ToTime(result.Started)), trace.WithAttributes(attributes...))
	if result.Failure != nil {
		step.SetStatus(codes.Error, result.Failure.Reason)
	}
	step.End(trace.WithTimestamp(aws.ToTime(result.Ended)))
	return collector.spans
}
