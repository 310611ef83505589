package submit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/aws/smithy-go"
	"github.com/cenkalti/backoff/v5"
)

const (
	maxPoll = 30 * time.Second // DescribeStep refills half a call per second, for the whole account

	// maxSilence is how many looks in a row may fail before following stops.
	// With pauses of up to maxPoll a broken line of some minutes is survived.
	maxSilence = 10
)

var errGoesOn = errors.New("the step goes on")

// follow looks at a step until it has ended, then gathers what explains it.
func (c clients) follow(ctx context.Context, o Options, result Result) (Result, error) {
	step, err := c.await(ctx, o, &result)
	if ctx.Err() != nil {
		return result, detached(result)
	}
	if err != nil {
		return result, err
	}
	result.Name = aws.ToString(step.Name)
	result.Started, result.Ended = step.Status.Timeline.StartDateTime, step.Status.Timeline.EndDateTime
	span := spanOf(step)
	if span.IsValid() {
		result.TraceID = span.TraceID().String()
	}
	cluster, err := c.describe(ctx, o.Cluster)
	var printed printed
	if err == nil {
		printed, err = c.printed(ctx, o, cluster, step)
	}
	if err != nil {
		result.Warnings = append(result.Warnings, err.Error())
	}
	result.ApplicationIDs = applications(step, printed)
	if step.Status.State != types.StepStateCompleted {
		result.Failure = failureOf(step, printed.logs)
	}
	if o.OTLPEndpoint != "" && span.IsValid() {
		if err := exportSpan(ctx, o.OTLPEndpoint, span, primary(cluster), result); err != nil {
			result.Warnings = append(result.Warnings, err.Error())
		}
	}
	if result.Failure != nil {
		return result, failed(result)
	}
	return result, nil
}

// await polls until the step's state is a last one.
func (c clients) await(ctx context.Context, o Options, result *Result) (*types.Step, error) {
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.MaxInterval = o.PollInterval, max(o.LongestPoll, o.PollInterval)
	begun, silence := time.Now(), 0
	look := func() (*types.Step, error) {
		out, err := c.emr.DescribeStep(ctx, &emr.DescribeStepInput{
			ClusterId: aws.String(result.Cluster), StepId: aws.String(result.StepID),
		})
		if err != nil {
			silence++
			err = fmt.Errorf("describe step %s: %w", result.StepID, err)
			if refused(err) || silence >= maxSilence {
				return nil, backoff.Permanent(err)
			}
			o.say("%v; trying again", err)
			return nil, err
		}
		silence = 0
		if state := out.Step.Status.State; state != result.State {
			result.State = state
			o.say("step %s is %s after %s", result.StepID, state, time.Since(begun).Round(time.Second))
		}
		if !ended(result.State) {
			return nil, errGoesOn
		}
		return out.Step, nil
	}
	return backoff.Retry(ctx, look, backoff.WithBackOff(pauses), backoff.WithMaxElapsedTime(0))
}

// refused says that asking again would not help. To be throttled is no
// refusal: EMR's limits are the whole account's.
func refused(err error) bool {
	throttled := retry.ThrottleErrorCode{Codes: retry.DefaultThrottleErrorCodes}
	if throttled.IsErrorThrottle(err) == aws.TrueTernary {
		return false
	}
	var answer smithy.APIError
	return errors.As(err, &answer) && answer.ErrorFault() != smithy.FaultServer
}

func ended(state types.StepState) bool {
	return slices.Contains([]types.StepState{
		types.StepStateCompleted, types.StepStateFailed, types.StepStateCancelled, types.StepStateInterrupted,
	}, state)
}

func failureOf(step *types.Step, logs []Log) *Failure {
	failure := &Failure{Reason: string(step.Status.State), Logs: logs}
	if details := step.Status.FailureDetails; details != nil {
		if reason := aws.ToString(details.Reason); reason != "" {
			failure.Reason = reason
		}
		failure.Message = aws.ToString(details.Message)
		if file := aws.ToString(details.LogFile); file != "" && len(logs) == 0 {
			failure.Logs = []Log{{URI: file}}
		}
	}
	return failure
}

func failed(result Result) error {
	var text strings.Builder
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

func detached(result Result) error {
	return fmt.Errorf("%w: it goes on as %s of cluster %s\n"+
		"  follow: aws emr describe-step --cluster-id %[3]s --step-id %[2]s\n"+
		"  cancel: aws emr cancel-steps --cluster-id %[3]s --step-ids %[2]s",
		ErrDetached, result.StepID, result.Cluster)
}
