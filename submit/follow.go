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
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/aws/smithy-go"

	"github.com/emr-observatory/emr-observatory/internal/poll"
	"github.com/emr-observatory/emr-observatory/internal/stepcause"
	"github.com/emr-observatory/emr-observatory/internal/steplog"
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
		return result, fmt.Errorf("%w: it continues as %s of cluster %s", ErrDetached, result.StepID, result.Cluster)
	}
	if err != nil {
		return result, err
	}
	ended := time.Now()
	result.Name = aws.ToString(step.Name)
	result.Started, result.Ended = step.Status.Timeline.StartDateTime, step.Status.Timeline.EndDateTime
	cluster, err := c.describeCluster(ctx, o.Cluster)
	var logs steplog.Logs
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
		return result, failedError(o, result)
	}
	return result, nil
}

// awaitEnd polls a step until its state is final, and keeps the result's state
// up to date.
func (c clients) awaitEnd(ctx context.Context, o Options, result *Result) (*types.Step, error) {
	var step *types.Step
	failures, w := 0, newWatch(c, o)
	schedule := poll.Options{Interval: o.PollInterval, MaxInterval: max(o.LongestPoll, o.PollInterval)}
	err := poll.Until(ctx, schedule, func(ctx context.Context) error {
		found, err := c.describeStep(ctx, result.Cluster, result.StepID)
		if err != nil {
			failures++
			if isPermanent(err) || failures >= maxFailures {
				return poll.Permanent(err)
			}
			o.say("%v; retrying", err)
			return err
		}
		failures = 0
		w.tell(ctx, result.State, found)
		result.State = found.Status.State
		if !status.IsFinal(result.State) {
			return errStillRunning
		}
		step = found
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
func failureOf(step *types.Step, logs steplog.Logs) *Failure {
	failure := &Failure{Reason: string(step.Status.State), Cause: logs.Search.Cause()}
	for _, tail := range logs.Tails {
		failure.Logs = append(failure.Logs, Log{URI: tail.URI, Tail: tail.Lines})
	}
	if details := step.Status.FailureDetails; details != nil {
		failure.Reason = cmp.Or(aws.ToString(details.Reason), failure.Reason)
		failure.Message = stepcause.Message(aws.ToString(details.Message))
		if file := aws.ToString(details.LogFile); file != "" && len(logs.Tails) == 0 {
			failure.Logs = []Log{{URI: file}}
		}
	}
	return failure
}

// failedError is ErrFailed with the cause, EMR's reason and where the step's logs are.
// After their last lines, which would bury it, the cause follows once more.
func failedError(o Options, result Result) error {
	var text strings.Builder
	cause := result.Failure.Cause
	if cause != nil {
		fmt.Fprintf(&text, "%s\n", cause)
	}
	fmt.Fprintf(&text, "step %s of cluster %s is %s: %s", result.StepID, result.Cluster, result.State, result.Failure.Reason)
	if result.Failure.Message != "" {
		text.WriteString(": " + result.Failure.Message)
	}
	shown := false
	for _, log := range result.Failure.Logs {
		switch {
		case len(log.Tail) == 0:
			fmt.Fprintf(&text, "\nits log will be at %s", log.URI)
		case o.ShowLogs:
			shown = true
			fmt.Fprintf(&text, "\nlast lines of %s:\n  %s", log.URI, strings.Join(log.Tail, "\n  "))
		default:
			fmt.Fprintf(&text, "\nlog: %s", log.URI)
		}
	}
	if shown && cause != nil {
		fmt.Fprintf(&text, "\nwhy it failed: %s", cause)
	}
	return fmt.Errorf("%w: %s", ErrFailed, text.String())
}
