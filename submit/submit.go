package submit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// commandRunner is EMR's JAR that runs a command of the master node.
const commandRunner = "command-runner.jar"

// Errors of a step that was added.
var (
	ErrFailed   = errors.New("step did not complete")
	ErrDetached = errors.New("no longer following the step")
)

// Result is what is known of a submitted step. It is written as JSON for
// machines.
type Result struct {
	Cluster        string          `json:"cluster"`
	StepID         string          `json:"stepId"`
	Name           string          `json:"name"`
	Application    string          `json:"application,omitempty"` // s3:// URI
	State          types.StepState `json:"state"`
	TraceID        string          `json:"traceId,omitempty"`
	Started        *time.Time      `json:"started,omitempty"`
	Ended          *time.Time      `json:"ended,omitempty"`
	ApplicationIDs []string        `json:"applicationIds,omitempty"` // YARN's, if EMR or the log names them
	Failure        *Failure        `json:"failure,omitempty"`
	Warnings       []string        `json:"warnings,omitempty"` // what was tried beside the step and failed
}

// Failure is why a step did not complete.
type Failure struct {
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`
	Logs    []Log  `json:"logs,omitempty"` // what the step printed
}

// Log is the end of one of a step's logs.
type Log struct {
	URI  string   `json:"uri"`            // s3://
	Tail []string `json:"tail,omitempty"` // its last lines, as far as it could be read
}

// clients are the two services that a submission speaks to.
type clients struct {
	emr *emr.Client
	s3  *s3.Client
}

func newClients(config aws.Config) clients {
	return clients{
		emr: emr.NewFromConfig(config),
		s3: s3.NewFromConfig(config, func(o *s3.Options) {
			// A gateway at a given address has no host name per bucket.
			o.UsePathStyle = o.UsePathStyle || o.BaseEndpoint != nil
		}),
	}
}

// Submit uploads the application, adds it as a step and, with Wait, follows it
// to its end. It fails with ErrFailed if the step does not complete, and with
// ErrDetached if ctx ends first: the step then goes on. In both cases, and
// whenever a step was added, the Result says what is known.
func Submit(ctx context.Context, options Options) (Result, error) {
	if err := options.Validate(); err != nil {
		return Result{}, fmt.Errorf("submit:\n%w", err)
	}
	o := options.withDefaults()
	span := newSpanContext(ctx)
	application, err := o.applicationFile()
	if err != nil {
		return Result{}, err
	}
	command, err := o.command(application.uri, traceparent(span))
	if err != nil {
		return Result{}, fmt.Errorf("submit: %w", err)
	}
	c := newClients(o.AWS)
	if err := c.requireReady(ctx, o.Cluster); err != nil {
		return Result{}, err
	}
	if err := c.upload(ctx, o, application); err != nil {
		return Result{}, err
	}
	out, err := c.emr.AddJobFlowSteps(ctx, &emr.AddJobFlowStepsInput{
		JobFlowId: aws.String(o.Cluster),
		Steps: []types.StepConfig{{
			Name: aws.String(o.Name),
			// A failed job is the submitter's affair, not the next one's.
			ActionOnFailure: types.ActionOnFailureContinue,
			HadoopJarStep:   &types.HadoopJarStepConfig{Jar: aws.String(commandRunner), Args: command},
		}},
	})
	if err != nil {
		return Result{}, fmt.Errorf("add step to cluster %s: %w", o.Cluster, err)
	}
	result := Result{
		Cluster: o.Cluster, StepID: out.StepIds[0], Name: o.Name, Application: application.uri,
		State: types.StepStatePending, TraceID: span.TraceID().String(),
	}
	o.say("step %s added to cluster %s", result.StepID, o.Cluster)
	if !o.Wait {
		return result, nil
	}
	return c.follow(ctx, o, result)
}

// Follow follows a step that was added before, as Submit with Wait does. Of
// the options it needs AWS and Cluster.
func Follow(ctx context.Context, options Options, stepID string) (Result, error) {
	if err := options.validateTarget(); err != nil {
		return Result{}, fmt.Errorf("follow: %w", err)
	}
	result := Result{Cluster: options.Cluster, StepID: stepID}
	return newClients(options.AWS).follow(ctx, options.withDefaults(), result)
}

// Cancel asks EMR to cancel a step: to interrupt it, or with force to end its
// process.
func Cancel(ctx context.Context, options Options, stepID string, force bool) error {
	if err := options.validateTarget(); err != nil {
		return fmt.Errorf("cancel: %w", err)
	}
	option := types.StepCancellationOptionSendInterrupt
	if force {
		option = types.StepCancellationOptionTerminateProcess
	}
	out, err := newClients(options.AWS).emr.CancelSteps(ctx, &emr.CancelStepsInput{
		ClusterId: aws.String(options.Cluster), StepIds: []string{stepID}, StepCancellationOption: option,
	})
	if err != nil {
		return fmt.Errorf("cancel step %s of cluster %s: %w", stepID, options.Cluster, err)
	}
	for _, info := range out.CancelStepsInfoList {
		if info.Status != types.CancelStepsRequestStatusSubmitted {
			return fmt.Errorf("cancel step %s of cluster %s: %s", stepID, options.Cluster, aws.ToString(info.Reason))
		}
	}
	return nil
}

func (c clients) describe(ctx context.Context, cluster string) (types.Cluster, error) {
	out, err := c.emr.DescribeCluster(ctx, &emr.DescribeClusterInput{ClusterId: aws.String(cluster)})
	if err != nil {
		return types.Cluster{}, fmt.Errorf("describe cluster %s: %w", cluster, err)
	}
	return *out.Cluster, nil
}

// requireReady refuses a cluster that takes no steps, before anything is
// uploaded for it.
func (c clients) requireReady(ctx context.Context, cluster string) error {
	found, err := c.describe(ctx, cluster)
	if err != nil {
		return err
	}
	switch state := found.Status.State; state {
	case types.ClusterStateTerminating, types.ClusterStateTerminated, types.ClusterStateTerminatedWithErrors:
		return fmt.Errorf("cluster %s is %s (%s): it takes no steps; bring a new one up",
			cluster, state, aws.ToString(found.Status.StateChangeReason.Message))
	}
	return nil
}

func (o Options) say(format string, args ...any) {
	fmt.Fprintf(o.Progress, format+"\n", args...)
}
