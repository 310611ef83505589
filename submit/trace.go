package submit

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/emr-observatory/emr-observatory/platform"
)

// stepTrace is the trace that a step belongs to. The ids of the step's span exist before
// the step does, because the job receives them as its parent. The zero value: no trace.
type stepTrace struct {
	span   trace.SpanContext
	parent trace.SpanID // of the step's span, not valid = none
}

// newStepTrace continues the trace of ctx and obeys its decision. Without one, the step
// begins a trace, of which ratio are sampled. An empty ratio means that jobs have no
// spans.
func newStepTrace(ctx context.Context, ratio string) (stepTrace, error) {
	if ratio == "" {
		return stepTrace{}, nil
	}
	kept, err := platform.ParseSamplingRatio(ratio)
	if err != nil {
		return stepTrace{}, fmt.Errorf("conf %s: %w", platform.SparkSamplingRatio, err)
	}
	var ids trace.SpanContextConfig
	_, _ = rand.Read(ids.TraceID[:]) // never fails: crypto/rand ends the program instead
	_, _ = rand.Read(ids.SpanID[:])
	ids.TraceFlags = ids.TraceFlags.WithSampled(platform.SampledTrace(ids.TraceID, kept))
	outer := trace.SpanContextFromContext(ctx)
	if outer.IsValid() {
		ids.TraceID, ids.TraceFlags = outer.TraceID(), outer.TraceFlags()
	}
	return stepTrace{span: trace.NewSpanContext(ids), parent: outer.SpanID()}, nil
}

// WithTraceparent returns ctx with the trace context of the environment variable
// TRACEPARENT (OpenTelemetry, "Environment Variables as Context Propagation Carriers"),
// if it holds one.
func WithTraceparent(ctx context.Context) context.Context {
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": os.Getenv("TRACEPARENT")})
}

// properties returns the Spark properties that tell job and control node of the trace.
func (t stepTrace) properties() []string {
	if !t.span.IsValid() {
		return nil
	}
	carrier := propagation.MapCarrier{} // as W3C Trace Context writes it
	propagation.TraceContext{}.Inject(trace.ContextWithSpanContext(context.Background(), t.span), carrier)
	properties := []string{platform.SparkTraceparent + "=" + carrier["traceparent"]}
	if t.parent.IsValid() {
		properties = append(properties, platform.SparkStepParent+"="+t.parent.String())
	}
	return properties
}

// id returns the trace's id, "" if there is none.
func (t stepTrace) id() string {
	if !t.span.IsValid() {
		return ""
	}
	return t.span.TraceID().String()
}

// longestTrace stands for any trace in the length of a step's arguments.
func longestTrace() stepTrace {
	ids := trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1}}
	return stepTrace{parent: trace.SpanID{1}, span: trace.NewSpanContext(ids)}
}

// samplingRatio returns the ratio that a job on the cluster has: its own, or else the
// cluster's; "" if the job has no spans.
func (o Options) samplingRatio(cluster types.Cluster) string {
	if ratio, given := o.Conf[platform.SparkSamplingRatio]; given {
		return ratio
	}
	for _, c := range cluster.Configurations {
		if aws.ToString(c.Classification) == "spark-defaults" {
			return c.Properties[platform.SparkSamplingRatio]
		}
	}
	return ""
}
