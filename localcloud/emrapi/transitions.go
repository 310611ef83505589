package emrapi

import (
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// SetClusterState moves a cluster along its life and with it its groups. On
// TERMINATING the steps that wait are cancelled; at the end whatever still ran
// is interrupted and every instance terminated. Details are the ErrorDetails
// that EMR gives for failures (Management Guide, "ErrorDetail codes").
func (s *Store) SetClusterState(
	id string, state types.ClusterState, reason types.ClusterStateChangeReason, details ...types.ErrorDetail,
) error {
	return s.change(id, func(r *record) error {
		return r.setState(state, reason, details)
	})
}

func (r *record) setState(
	state types.ClusterState, reason types.ClusterStateChangeReason, details []types.ErrorDetail,
) error {
	status := r.Cluster.Status
	if err := move("cluster "+aws.ToString(r.Cluster.Id), clusterMoves, status.State, state); err != nil {
		return err
	}
	status.State, status.StateChangeReason = state, &reason
	if len(details) > 0 {
		status.ErrorDetails = details
	}
	if clusterReady(state) && status.Timeline.ReadyDateTime == nil {
		status.Timeline.ReadyDateTime = now()
	}
	if !clusterTakesSteps(state) {
		if err := r.endSteps(types.StepStatePending, types.StepStateCancelled); err != nil {
			return err
		}
	}
	if clusterEnded(state) && status.Timeline.EndDateTime == nil {
		status.Timeline.EndDateTime = now()
		if err := r.endAll(); err != nil {
			return err
		}
	}
	r.setGroupStates(state)
	return nil
}

// endAll ends the steps that run and the instances that live.
func (r *record) endAll() error {
	if err := errors.Join(
		r.endSteps(types.StepStateRunning, types.StepStateInterrupted),
		r.endSteps(types.StepStateCancelPending, types.StepStateCancelled),
	); err != nil {
		return err
	}
	for i := range r.Instances {
		reason := types.InstanceStateChangeReason{
			Code:    types.InstanceStateChangeReasonCodeClusterTerminated,
			Message: aws.String("Cluster was terminated."),
		}
		if r.Instances[i].Status.State == types.InstanceStateTerminated {
			continue
		}
		if err := setInstanceState(&r.Instances[i], types.InstanceStateTerminated, reason); err != nil {
			return err
		}
	}
	return nil
}

func (r *record) setGroupStates(cluster types.ClusterState) {
	for i := range r.Groups {
		status := r.Groups[i].Status
		status.State = groupState(cluster)
		if clusterReady(cluster) && status.Timeline.ReadyDateTime == nil {
			status.Timeline.ReadyDateTime = now()
		}
		if clusterEnded(cluster) && status.Timeline.EndDateTime == nil {
			status.Timeline.EndDateTime = now()
		}
	}
}

// SetStepState moves a step along its life and stamps its timeline. The
// failure tells why it FAILED; it is nil otherwise.
func (s *Store) SetStepState(clusterID, stepID string, state types.StepState, failure *types.FailureDetails) error {
	return s.change(clusterID, func(r *record) error {
		step, err := r.step(stepID)
		if err != nil {
			return err
		}
		return setStepState(step, state, failure)
	})
}

func setStepState(step *types.Step, state types.StepState, failure *types.FailureDetails) error {
	status := step.Status
	if err := move("step "+aws.ToString(step.Id), stepMoves, status.State, state); err != nil {
		return err
	}
	status.State, status.FailureDetails = state, failure
	if state == types.StepStateRunning && status.Timeline.StartDateTime == nil {
		status.Timeline.StartDateTime = now()
	}
	if StepEnded(state) && status.Timeline.EndDateTime == nil {
		status.Timeline.EndDateTime = now()
	}
	return nil
}

// endSteps moves every step that is in one state to another.
func (r *record) endSteps(from, to types.StepState) error {
	for i := range r.Steps {
		if r.Steps[i].Status.State != from {
			continue
		}
		if err := setStepState(&r.Steps[i], to, nil); err != nil {
			return err
		}
	}
	return nil
}

// UpdateStep changes facts of a step that are learnt while it runs, such as
// its YARN applications (AdditionalInfo). Id and status stay as they are.
func (s *Store) UpdateStep(clusterID, stepID string, update func(*types.Step)) error {
	return s.change(clusterID, func(r *record) error {
		step, err := r.step(stepID)
		if err != nil {
			return err
		}
		id, status := step.Id, step.Status
		update(step)
		step.Id, step.Status = id, status
		return nil
	})
}

// Steps lists a cluster's steps, the oldest first.
func (s *Store) Steps(clusterID string) ([]types.Step, error) {
	found, err := s.snapshot(clusterID)
	if err != nil {
		return nil, err
	}
	return clone(found.Steps)
}
