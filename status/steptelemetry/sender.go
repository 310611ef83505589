package steptelemetry

import (
	"cmp"
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
	"github.com/emr-observatory/emr-observatory/status/recording"
)

// sender sends to the collector by OTLP over HTTP.
type sender struct {
	recording.Sender
	spans recording.SpanSender
}

func newSender(ctx context.Context, config status.Config) (*sender, error) {
	metrics, err := recording.NewSender(ctx, config, "steps")
	if err != nil {
		return nil, err
	}
	spans, err := recording.NewSpanSender(ctx, metrics)
	if err != nil {
		return nil, err
	}
	return &sender{metrics, spans}, nil
}

func (s *sender) sendSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	return s.spans.Send(ctx, "steps", spans)
}

// sendMetrics sends how many of a cluster's steps have ended, and how long the last one
// of each name took, of its latest steps.
func (s *sender) sendMetrics(ctx context.Context, c *cluster, latest []status.Step, now time.Time) error {
	var durations []metricdata.DataPoint[float64]
	named := map[string]bool{}
	for _, step := range latest { // the newest first
		name, _, _, _ := platform.ParseScheduledStep(step.Name) // a name per run would be a series per run
		if step.Started == nil || step.Ended == nil || named[name] {
			continue
		}
		named[name] = true
		labels := attribute.NewSet(attribute.String(platform.LabelStepName, name), stateOf(step.State))
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
	span := recording.Span{
		Name: "step " + step.Name, IDs: step.Span.SpanContext, Parent: step.Span.Parent, Of: labels, Attributes: attributes,
		Start: *step.Started, End: *step.Ended,
	}
	if step.State != types.StepStateCompleted {
		span.Failure = cmp.Or(step.Cause, step.Reason, string(step.State))
	}
	return span.Ended()
}
