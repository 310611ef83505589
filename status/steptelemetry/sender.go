package steptelemetry

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

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
