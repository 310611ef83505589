package submit

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Follow waits for a step that was added before, as Submit does with Wait. Of a step that
// has ended it tells the same.
func Follow(ctx context.Context, options Options, step string) (Result, error) {
	if err := validateStep(options.Cluster, step); err != nil {
		return Result{}, fmt.Errorf("follow:\n%w", err)
	}
	o := options.withDefaults()
	c := newClients(o.AWS)
	found, err := c.describeStep(ctx, o.Cluster, step)
	if err != nil {
		return Result{}, err
	}
	result := Result{Cluster: o.Cluster, StepID: step, Name: aws.ToString(found.Name), State: found.Status.State}
	if found.Config != nil {
		result.TraceID = traceOf(found.Config.Args)
	}
	o.say("step %s (%s) of cluster %s is %s", step, result.Name, o.Cluster, result.State)
	return c.follow(ctx, o, result)
}

// traceOf returns the id of the trace that a step's arguments name, "" if they name none.
func traceOf(args []string) string {
	carrier := propagation.MapCarrier{"traceparent": platform.TraceparentOf(args)}
	named := trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), carrier))
	return stepTrace{span: named}.id()
}

// Cancel asks EMR to cancel a step, which interrupts one that runs: it may take a moment to
// end. It fails for a step that has ended.
func Cancel(ctx context.Context, config aws.Config, cluster, step string) error {
	if err := validateStep(cluster, step); err != nil {
		return fmt.Errorf("cancel:\n%w", err)
	}
	out, err := newClients(config).emr.CancelSteps(ctx, &emr.CancelStepsInput{ClusterId: aws.String(cluster), StepIds: []string{step}})
	if err != nil {
		return fmt.Errorf("cancel step %s of cluster %s: %w", step, cluster, err)
	}
	for _, answer := range out.CancelStepsInfoList {
		if answer.Status != types.CancelStepsRequestStatusSubmitted {
			return fmt.Errorf("cancel step %s of cluster %s: EMR refused: %s", step, cluster, aws.ToString(answer.Reason))
		}
	}
	return nil
}

// validateStep reports every violation of the ids of a step and its cluster.
func validateStep(cluster, step string) error {
	var violations []error
	if !platform.IsClusterID(cluster) {
		violations = append(violations, errNoCluster(cluster))
	}
	if !platform.IsStepID(step) {
		violations = append(violations, fmt.Errorf("step: %q: must be an EMR step id (s-…), as submit prints it", step))
	}
	return errors.Join(violations...)
}

func errNoCluster(cluster string) error {
	return fmt.Errorf("cluster: %q: must be an EMR cluster id (j-…); the stack output clusters has them", cluster)
}

// describeStep returns a step as EMR knows it.
func (c clients) describeStep(ctx context.Context, cluster, step string) (*types.Step, error) {
	out, err := c.emr.DescribeStep(ctx, &emr.DescribeStepInput{ClusterId: aws.String(cluster), StepId: aws.String(step)})
	if err != nil {
		return nil, fmt.Errorf("describe step %s: %w", step, err)
	}
	return out.Step, nil
}
