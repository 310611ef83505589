package steptelemetry

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
	"github.com/emr-observatory/emr-observatory/status/recording"
)

// sender sends to the collector by OTLP over HTTP.
type sender struct {
	recording.Sender
	spans *otlptrace.Exporter
}

func newSender(ctx context.Context, config status.Config) (*sender, error) {
	metrics, err := recording.NewSender(ctx, config, "steps")
	if err != nil {
		return nil, err
	}
	at := strings.TrimSuffix(metrics.Collector, "/") + "/v1/traces"
	spans, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(at), otlptracehttp.WithTimeout(recording.ExportTimeout))
	if err != nil {
		return nil, fmt.Errorf("configure the exporter of spans to %s: %w", metrics.Collector, err)
	}
	return &sender{metrics, spans}, nil
}

func (s *sender) sendSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if len(spans) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, recording.ExportTimeout)
	defer cancel()
	if err := s.spans.ExportSpans(ctx, spans); err != nil {
		return fmt.Errorf("send the spans of %d steps to %s: %w", len(spans), s.Collector, err)
	}
	return nil
}

// sendMetrics sends how many of a cluster's steps have ended, and how long the last one
// of each name took, of its latest steps.
func (s *sender) sendMetrics(ctx context.Context, c *cluster, latest []status.Step, now time.Time) error {
	var durations []metricdata.DataPoint[float64]
	named := map[string]bool{}
	for _, step := range latest { // the newest first
		if step.Started == nil || step.Ended == nil || named[step.Name] {
			continue
		}
		named[step.Name] = true
		labels := attribute.NewSet(attribute.String(platform.LabelStepName, step.Name), stateOf(step.State))
		durations = append(durations, metricdata.DataPoint[float64]{
			Attributes: labels, Time: now, Value: step.Ended.Sub(*step.Started).Seconds(),
		})
	}
	var counts []metricdata.DataPoint[int64]
	for state, count := range c.count {
		counts = append(counts, metricdata.DataPoint[int64]{
			Attributes: attribute.NewSet(stateOf(state)), StartTime: c.begun, Time: now, Value: count,
		})
	}
	var metrics []metricdata.Metrics
	if len(durations) > 0 {
		metrics = append(metrics, metricdata.Metrics{Name: platform.MetricStepDuration, Unit: "s",
			Data: metricdata.Gauge[float64]{DataPoints: durations}})
	}
	if len(counts) > 0 {
		metrics = append(metrics, metricdata.Metrics{Name: platform.MetricStepCount, Unit: "{step}",
			Data: metricdata.Sum[int64]{DataPoints: counts, Temporality: metricdata.CumulativeTemporality, IsMonotonic: true}})
	}
	if len(metrics) == 0 {
		return nil
	}
	return s.Send(ctx, "the metrics of steps", c.labels(), metrics...)
}

func stateOf(state types.StepState) attribute.KeyValue {
	return attribute.String(platform.LabelStepState, string(state))
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

// labels identify the signals of the cluster's steps, which run on its primary node.
func (c *cluster) labels() *resource.Resource {
	labels := []attribute.KeyValue{
		attribute.String(string(platform.ServiceName), platform.ServiceStep),
		attribute.String(string(platform.Cluster), c.id),
		attribute.String(string(platform.NodeRole), platform.RoleMaster),
	}
	if c.host != "" {
		labels = append(labels, attribute.String(string(platform.HostName), c.host))
	}
	return resource.NewSchemaless(labels...)
}

// stepSpan builds the span of a step that has started and ended.
func stepSpan(step status.Step, labels *resource.Resource) sdktrace.ReadOnlySpan {
	ctx := context.Background()
	if parent := step.Span.Parent; parent.IsValid() {
		ctx = trace.ContextWithRemoteSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
			TraceID: step.Span.TraceID(), SpanID: parent, TraceFlags: trace.FlagsSampled, Remote: true,
		}))
	}
	collector := &spanCollector{}
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithSpanProcessor(collector), sdktrace.WithIDGenerator(fixedIDs{step.Span.SpanContext}),
		sdktrace.WithSampler(sdktrace.AlwaysSample()), sdktrace.WithResource(labels))
	attributes := []attribute.KeyValue{
		attribute.String(string(platform.SparkKind), string(platform.SpanStep)),
		attribute.String(string(platform.StepID), step.ID),
		attribute.String(string(platform.StepName), step.Name),
		attribute.String(string(platform.StepState), string(step.State)),
	}
	if len(step.ApplicationIDs) > 0 {
		attributes = append(attributes, attribute.StringSlice(string(platform.StepApps), step.ApplicationIDs))
	}
	if len(step.ApplicationIDs) == 1 {
		attributes = append(attributes, attribute.String(string(platform.SparkAppID), step.ApplicationIDs[0]))
	}
	var verdicts []string
	for _, of := range step.Phases {
		verdicts = append(verdicts, of.String())
	}
	if len(verdicts) > 0 {
		attributes = append(attributes, attribute.StringSlice(string(platform.StepVerdicts), verdicts))
	}
	_, span := provider.Tracer(platform.Project).Start(ctx, "step "+step.Name,
		trace.WithTimestamp(*step.Started), trace.WithAttributes(attributes...))
	if step.State != types.StepStateCompleted {
		span.SetStatus(codes.Error, cmp.Or(step.Cause, step.Reason, string(step.State)))
	}
	span.End(trace.WithTimestamp(slices.MaxFunc([]time.Time{*step.Started, *step.Ended}, time.Time.Compare)))
	return collector.spans[0]
}
