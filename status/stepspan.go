package status

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Tracing says which steps have a span. The zero value: none.
type Tracing struct {
	Enabled bool
	Ratio   float64 // of the steps whose arguments carry no decision
}

// ParseTracing reads a sampling ratio; "" means that no step has a span.
func ParseTracing(ratio string) (Tracing, error) {
	if ratio == "" {
		return Tracing{}, nil
	}
	kept, err := platform.ParseSamplingRatio(ratio)
	return Tracing{Enabled: true, Ratio: kept}, err // it names the value and the rule
}

// StepSpan identifies a step's span. It is not valid if the step has none.
type StepSpan struct {
	trace.SpanContext
	Parent trace.SpanID // of the same trace, not valid = none
}

// ratioOf returns the ratio by which the step's driver decides: its own, if it has one.
func (t Tracing) ratioOf(args []string) float64 {
	if own, err := platform.ParseSamplingRatio(platform.StepSamplingRatioOf(args)); err == nil {
		return own
	}
	return t.Ratio
}

// spanOf returns the span that a step's arguments identify, or else a hash of its id.
// The arguments say whether their trace is sampled.
func (t Tracing) spanOf(id string, args []string) StepSpan {
	carrier := propagation.MapCarrier{"traceparent": platform.TraceparentOf(args)}
	given := trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), carrier))
	switch {
	case !t.Enabled:
		return StepSpan{}
	case given.IsValid() && !given.IsSampled():
		return StepSpan{}
	case given.IsValid():
		parent, err := trace.SpanIDFromHex(platform.StepParentOf(args))
		if err != nil || parent == given.SpanID() {
			parent = trace.SpanID{}
		}
		return StepSpan{SpanContext: given, Parent: parent}
	case !platform.SampledTrace(platform.TraceID(id), t.ratioOf(args)):
		return StepSpan{}
	}
	return StepSpan{SpanContext: trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: platform.TraceID(id), SpanID: platform.StepSpanID(id), TraceFlags: trace.FlagsSampled,
	})}
}
