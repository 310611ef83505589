package submit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/aws/smithy-go"

	"github.com/emr-observatory/emr-observatory/internal/poll"
	"github.com/emr-observatory/emr-observatory/internal/stepcause"
	"github.com/emr-observatory/emr-observatory/status"
)

const (
	maxPollInterval = 30 * time.Second // DescribeStep refills half a call per second, for the whole account

	// maxFailures is how many calls in a row may fail before waiting stops. At
	// maxPollInterval it survives a network failure of some minutes.
	maxFailures = 10
)

var errStillRunning = errors.New("the step is still running")

// follow waits until a step has ended, then adds its application ids, the logs of
// a failure, the applications' phases and warnings to the result.
func (c clients) follow(ctx context.Context, o Options, result Result) (Result, error) {
	step, err := c.awaitEnd(ctx, o, &result)
	if ctx.Err() != nil {
		return result, detachedError(result)
	}
	if err != nil {
		return result, err
	}
	ended := time.Now()
	result.Name = aws.ToString(step.Name)
	result.Started, result.Ended = step.Status.Timeline.StartDateTime, step.Status.Timeline.EndDateTime
	cluster, err := c.describeCluster(ctx, o.Cluster)
	var logs stepLogs
	if err == nil {
		logs, err = c.readStepLogs(ctx, o, cluster, step)
	}
	if err != nil {
		result.Warnings = append(result.Warnings, err.Error())
	}
	result.ApplicationIDs = applicationIDs(step, logs)
	if step.Status.State != types.StepStateCompleted {
		result.Failure = failureOf(step, logs)
	}
	result.Phases = awaitPhases(ctx, o, ended, result)
	if result.Failure != nil {
		return result, failedError(result)
	}
	return result, nil
}

// awaitEnd polls a step until its state is final, and keeps the result's state
// up to date.
func (c clients) awaitEnd(ctx context.Context, o Options, result *Result) (*types.Step, error) {
	var step *types.Step
	start, failures := time.Now(), 0
	schedule := poll.Options{Interval: o.PollInterval, MaxInterval: max(o.LongestPoll, o.PollInterval)}
	err := poll.Until(ctx, schedule, func(ctx context.Context) error {
		out, err := c.emr.DescribeStep(ctx, &emr.DescribeStepInput{
			ClusterId: aws.String(result.Cluster), StepId: aws.String(result.StepID),
		})
		if err != nil {
			failures++
			err = fmt.Errorf("describe step %s: %w", result.StepID, err)
			if isPermanent(err) || failures >= maxFailures {
				return poll.Permanent(err)
			}
			o.say("%v; retrying", err)
			return err
		}
		failures = 0
		if state := out.Step.Status.State; state != result.State {
			result.State = state
			o.say("step %s is %s after %s", result.StepID, state, time.Since(start).Round(time.Second))
		}
		if !status.IsFinal(result.State) {
			return errStillRunning
		}
		step = out.Step
		return nil
	})
	return step, err
}

// isPermanent reports whether a retry would fail again. Throttling passes: EMR's
// rate limits are shared by the whole account.
func isPermanent(err error) bool {
	throttled := retry.ThrottleErrorCode{Codes: retry.DefaultThrottleErrorCodes}
	if throttled.IsErrorThrottle(err) == aws.TrueTernary {
		return false
	}
	var answer smithy.APIError
	return errors.As(err, &answer) && answer.ErrorFault() != smithy.FaultServer
}

// failureOf returns why a step failed, with what was read of its logs.
func failureOf(step *types.Step, logs stepLogs) *Failure {
	failure := &Failure{Reason: string(step.Status.State), Logs: logs.tails, Cause: logs.search.Cause()}
	if details := step.Status.FailureDetails; details != nil {
		failure.Reason = cmp.Or(aws.ToString(details.Reason), failure.Reason)
		failure.Message = stepcause.Message(aws.ToString(details.Message))
		if file := aws.ToString(details.LogFile); file != "" && len(logs.tails) == 0 {
			failure.Logs = []Log{{URI: file}}
		}
	}
	return failure
}

// failedError is ErrFailed with the cause, EMR's reason and the last lines of the
// step's logs, in this order.
func failedError(result Result) error {
	var text strings.Builder
	if cause := result.Failure.Cause; cause != nil {
		fmt.Fprintf(&text, "%s\n", cause)
	}
	fmt.Fprintf(&text, "step %s of cluster %s is %s: %s", result.StepID, result.Cluster, result.State, result.Failure.Reason)
	if result.Failure.Message != "" {
		text.WriteString(": " + result.Failure.Message)
	}
	for _, log := range result.Failure.Logs {
		if len(log.Tail) > 0 {
			fmt.Fprintf(&text, "\nlast lines of %s:\n  %s", log.URI, strings.Join(log.Tail, "\n  "))
		} else {
			fmt.Fprintf(&text, "\nits log will be at %s", log.URI)
		}
	}
	return fmt.Errorf("%w: %s", ErrFailed, text.String())
}

// detachedError returns ErrDetached with the commands that follow or cancel the step.
func detachedError(result Result) error {
	return fmt.Errorf("%w: it continues as %s of cluster %s\n"+
		"  follow: aws emr describe-step --cluster-id %[3]s --step-id %[2]s\n"+
		"  cancel: aws emr cancel-steps --cluster-id %[3]s --step-ids %[2]s",
		ErrDetached, result.StepID, result.Cluster)
}
