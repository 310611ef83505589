package emrapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// Cancelled is the cause (context.Cause) of the context of Nodes.RunStep when the step was
// cancelled: SEND_INTERRUPT lets the process exit, TERMINATE_PROCESS kills it.
type Cancelled struct{ Option types.StepCancellationOption }

// Error names the option.
func (c *Cancelled) Error() string { return fmt.Sprintf("the step was cancelled with %s", c.Option) }

// cancelSteps cancels pending steps and interrupts running ones. The result has a
// status for each step; FAILED if the step has ended.
func (s *Server) cancelSteps(found *record, input *emr.CancelStepsInput) (*emr.CancelStepsOutput, error) {
	option := cmp.Or(input.StepCancellationOption, types.StepCancellationOptionSendInterrupt)
	switch {
	case option != types.StepCancellationOptionSendInterrupt && option != types.StepCancellationOptionTerminateProcess:
		return nil, invalidRequestError("StepCancellationOption '%s' is not valid: must be one of %q", option, option.Values())
	case len(input.StepIds) == 0 || len(input.StepIds) > maxSteps:
		return nil, invalidRequestError("StepIds: %d ids: must be 1 to %d", len(input.StepIds), maxSteps)
	}
	answers := make([]types.CancelStepsInfo, 0, len(input.StepIds))
	for _, stepID := range input.StepIds {
		if _, err := found.step(stepID); err != nil {
			return nil, invalidRequestError("Step id '%s' is not valid.", stepID)
		}
	}
	for _, stepID := range input.StepIds {
		answer := types.CancelStepsInfo{StepId: aws.String(stepID), Status: types.CancelStepsRequestStatusSubmitted}
		if err := s.cancel(stepKey{aws.ToString(input.ClusterId), stepID}, option); err != nil {
			answer.Status, answer.Reason = types.CancelStepsRequestStatusFailed, aws.String(err.Error())
		}
		answers = append(answers, answer)
	}
	return &emr.CancelStepsOutput{CancelStepsInfoList: answers}, nil
}

// cancel cancels a step. It may be called again, but the option of the first call
// applies, as on EMR.
func (s *Server) cancel(key stepKey, option types.StepCancellationOption) error {
	err := s.store.change(key.cluster, func(r *record) error {
		step, err := r.step(key.step)
		if err != nil {
			return err
		}
		switch step.Status.State {
		case types.StepStatePending:
			return setStepState(step, types.StepStateCancelled, nil)
		case types.StepStateRunning, types.StepStateCancelPending:
			return setStepState(step, types.StepStateCancelPending, nil)
		default:
			return fmt.Errorf("the step is %s: only PENDING and RUNNING steps can be cancelled", step.Status.State)
		}
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if stop, ok := s.running[key]; ok {
		stop(&Cancelled{Option: option})
	}
	return nil
}

// terminate stops a terminating cluster's steps, terminates its nodes and sets its
// final state. Further calls do nothing.
func (s *Server) terminate(ctx context.Context, found *record) {
	id := aws.ToString(found.Cluster.Id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.terminating[id] {
		return
	}
	s.terminating[id] = true
	for key, stop := range s.running {
		if key.cluster == id {
			stop(errTerminating)
		}
	}
	reason, tasks := *found.Cluster.Status.StateChangeReason, s.background[id]
	delete(s.background, id)
	s.working.Go(func() {
		for _, t := range tasks {
			t.cancel(errTerminating)
			<-t.done
		}
		err := s.nodes.Terminate(ctx, id)
		if errors.Is(context.Cause(ctx), errClosing) {
			return
		}
		state, reason := finalState(reason, err)
		if err := s.store.SetClusterState(id, state, reason); err != nil {
			s.log.Error("end EMR cluster", "cluster", id, "error", err)
		}
	})
}

// finalState returns a cluster's state after its nodes' termination, which may have
// failed with err: TERMINATED only if a user requested it or all steps had completed.
func finalState(reason types.ClusterStateChangeReason, err error) (types.ClusterState, types.ClusterStateChangeReason) {
	switch {
	case err != nil:
		return types.ClusterStateTerminatedWithErrors, types.ClusterStateChangeReason{
			Code: types.ClusterStateChangeReasonCodeInternalError, Message: aws.String(err.Error()),
		}
	case reason.Code == types.ClusterStateChangeReasonCodeUserRequest,
		reason.Code == types.ClusterStateChangeReasonCodeAllStepsCompleted:
		return types.ClusterStateTerminated, reason
	default:
		return types.ClusterStateTerminatedWithErrors, reason
	}
}
