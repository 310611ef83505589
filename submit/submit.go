// Package submit runs a Spark application as a step of an EMR cluster: it
// uploads the application, adds the step, follows it until it ends, and explains a
// failure from the step's own log. The step's arguments carry the ids of its trace; its
// span comes from the control node (package steptelemetry).
//
// It speaks only the AWS APIs, so it works alike on AWS and wherever the SDK's
// endpoint settings point. It starts no Spark itself and changes no cluster.
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

	"github.com/emr-observatory/emr-observatory/internal/stepcause"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
)

// commandRunner is EMR's JAR that runs a command on the primary node.
const commandRunner = "command-runner.jar"

// Errors that Submit returns after the step was added.
var (
	ErrFailed   = errors.New("step did not complete")
	ErrDetached = errors.New("no longer following the step")
)

// Result describes a submitted step; programs read it as JSON.
type Result struct {
	Cluster        string          `json:"cluster"`
	StepID         string          `json:"stepId"`
	Name           string          `json:"name"`
	Application    string          `json:"application,omitempty"` // s3:// URI
	State          types.StepState `json:"state"`
	TraceID        string          `json:"traceId,omitempty"` // of the step; "" = it has none
	Started        *time.Time      `json:"started,omitempty"`
	Ended          *time.Time      `json:"ended,omitempty"`
	ApplicationIDs []string        `json:"applicationIds,omitempty"` // YARN's, if EMR or the log names them
	Failure        *Failure        `json:"failure,omitempty"`

	Phases   []status.ApplicationPhases `json:"phases,omitempty"`   // of its applications, as the platform's metrics say
	Warnings []string                   `json:"warnings,omitempty"` // failures that did not affect the step
}

// Cause is why a job failed, as its own logs tell.
type Cause = stepcause.Cause

// Failure says why a step did not complete.
type Failure struct {
	Cause   *Cause `json:"cause,omitempty"` // left out if no log names one
	Reason  string `json:"reason"`          // as EMR says
	Message string `json:"message,omitempty"`
	Logs    []Log  `json:"logs,omitempty"` // what the step printed
}

// Log holds the last lines of one of a step's logs.
type Log struct {
	URI  string   `json:"uri"`            // s3://
	Tail []string `json:"tail,omitempty"` // up to where it could be read
}

// clients are those of the two services that a submission needs.
type clients struct {
	emr *emr.Client
	s3  *s3.Client
}

func newClients(config aws.Config) clients {
	return clients{
		emr: emr.NewFromConfig(config),
		s3: s3.NewFromConfig(config, func(o *s3.Options) {
			// A custom endpoint has no host name per bucket.
			o.UsePathStyle = o.UsePathStyle || o.BaseEndpoint != nil
		}),
	}
}

// Submit uploads the application, adds it as a step and, with Wait, waits until
// it has ended. It fails with ErrFailed if the step does not complete, and with
// ErrDetached if ctx ends first: the step then continues. Whenever a step was
// added, the Result describes it.
func Submit(ctx context.Context, options Options) (Result, error) {
	if err := options.Validate(); err != nil {
		return Result{}, fmt.Errorf("submit:\n%w", err)
	}
	o := options.withDefaults()
	application, err := o.applicationFile()
	if err != nil {
		return Result{}, err
	}
	if err := checkCharacters(o.commandRunnerArgs(application.uri, longestTrace())); err != nil {
		return Result{}, fmt.Errorf("submit: %w", err)
	}
	c := newClients(o.AWS)
	cluster, err := c.requireAcceptsSteps(ctx, o.Cluster)
	if err != nil {
		return Result{}, err
	}
	trace, err := newStepTrace(ctx, o.samplingRatio(cluster))
	if err != nil {
		return Result{}, fmt.Errorf("submit: cluster %s: %w", o.Cluster, err)
	}
	if err := c.upload(ctx, o, application); err != nil {
		return Result{}, err
	}
	out, err := c.emr.AddJobFlowSteps(ctx, &emr.AddJobFlowStepsInput{
		JobFlowId: aws.String(o.Cluster),
		Steps: []types.StepConfig{{
			Name: aws.String(o.Name),
			// A failed job must not stop the jobs of others.
			ActionOnFailure: types.ActionOnFailureContinue,
			HadoopJarStep:   &types.HadoopJarStepConfig{Jar: aws.String(commandRunner), Args: o.commandRunnerArgs(application.uri, trace)},
		}},
	})
	if err != nil {
		return Result{}, fmt.Errorf("add step to cluster %s: %w", o.Cluster, err)
	}
	result := Result{
		Cluster: o.Cluster, StepID: out.StepIds[0], Name: o.Name, Application: application.uri,
		State: types.StepStatePending, TraceID: trace.id(),
	}
	o.say("step %s added to cluster %s", result.StepID, o.Cluster)
	if !o.Wait {
		return result, nil
	}
	o.say("waiting for its end; after Ctrl-C the step goes on without")
	return c.follow(ctx, o, result)
}

func (c clients) describeCluster(ctx context.Context, cluster string) (types.Cluster, error) {
	out, err := c.emr.DescribeCluster(ctx, &emr.DescribeClusterInput{ClusterId: aws.String(cluster)})
	if err != nil {
		return types.Cluster{}, fmt.Errorf("describe cluster %s: %w", cluster, err)
	}
	return *out.Cluster, nil
}

// requireAcceptsSteps returns a cluster, and fails for one that is terminating or
// terminated.
func (c clients) requireAcceptsSteps(ctx context.Context, cluster string) (types.Cluster, error) {
	found, err := c.describeCluster(ctx, cluster)
	if err != nil {
		return types.Cluster{}, err
	}
	switch state := found.Status.State; state {
	case types.ClusterStateTerminating, types.ClusterStateTerminated, types.ClusterStateTerminatedWithErrors:
		return types.Cluster{}, fmt.Errorf("cluster %s is %s (%s): it accepts no steps; if it is a stack's, "+
			"`%s`, then `pulumi up` creates another", cluster, state, aws.ToString(found.Status.StateChangeReason.Message), platform.RefreshClusters)
	}
	return found, nil
}

// say prints a progress message.
func (o Options) say(format string, args ...any) {
	fmt.Fprintf(o.Progress, format+"\n", args...)
}

// String describes the result in one line.
func (r Result) String() string {
	line := fmt.Sprintf("%s %s", r.StepID, r.State)
	if r.TraceID != "" {
		line += " trace " + r.TraceID
	}
	return line
}
