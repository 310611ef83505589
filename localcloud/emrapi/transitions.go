package emrapi

import (
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// SetClusterState sets the state of a cluster and of its groups. TERMINATING cancels
// pending steps; a final state interrupts running ones and terminates every
// instance. details are EMR's ErrorDetails of failures (Management Guide,
// "ErrorDetail codes").
func (s *Store) SetClusterState(
	id string, state types.ClusterState, reason types.ClusterStateChangeReason, details ...types.ErrorDetail,
) error {
	return s.change(id, func(r *record) error {
		return r.setState(state, reason, details)
	})
}

// setState does the work of SetClusterState on a record.
func (r *record) setState(
	state types.ClusterState, reason types.ClusterStateChangeReason, details []types.ErrorDetail,
) error {
	status := r.Cluster.Status
	if err := checkMove("cluster "+aws.ToString(r.Cluster.Id), clusterMoves, status.State, state); err != nil {
		return err
	}
	status.State, status.StateChangeReason = state, &reason
	if len(details) > 0 {
		status.ErrorDetails = details
	}
	becameReady := clusterReady(state) && status.Timeline.ReadyDateTime == nil
	if becameReady {
		status.Timeline.ReadyDateTime = now()
	}
	if !clusterTakesSteps(state) {
		if err := r.moveSteps(types.StepStatePending, types.StepStateCancelled); err != nil {
			return err
		}
	}
	if clusterEnded(state) && status.Timeline.EndDateTime == nil {
		status.Timeline.EndDateTime = now()
		if err := r.endStepsAndInstances(); err != nil {
			return err
		}
	}
	r.setGroupStates(state, becameReady)
	return nil
}

// endStepsAndInstances interrupts running steps and terminates instances.
func (r *record) endStepsAndInstances() error {
	if err := errors.Join(
		r.moveSteps(types.StepStateRunning, types.StepStateInterrupted),
		r.moveSteps(types.StepStateCancelPending, types.StepStateCancelled),
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

// setGroupStates sets the states of groups and fleets while the cluster starts and
// ends. In between they have states of their own.
func (r *record) setGroupStates(cluster types.ClusterState, becameReady bool) {
	if clusterReady(cluster) && !becameReady {
		return
	}
	for i := range r.Groups {
		status := r.Groups[i].Status
		status.State = groupState(cluster)
		setTimes(cluster, &status.Timeline.ReadyDateTime, &status.Timeline.EndDateTime)
	}
	for i := range r.Fleets {
		status := r.Fleets[i].Status
		status.State = types.InstanceFleetState(groupState(cluster)) // fleets have the same names
		setTimes(cluster, &status.Timeline.ReadyDateTime, &status.Timeline.EndDateTime)
	}
}

// setTimes sets when a group became ready and when it ended, given its cluster's state.
func setTimes(cluster types.ClusterState, ready, end **time.Time) {
	if clusterReady(cluster) && *ready == nil {
		*ready = now()
	}
	if clusterEnded(cluster) && *end == nil {
		*end = now()
	}
}

// SetStepState sets a step's state and its timeline. failure says why it FAILED; it
// is nil for other states.
func (s *Store) SetStepState(clusterID, stepID string, state types.StepState, failure *types.FailureDetails) error {
	return s.change(clusterID, func(r *record) error {
		step, err := r.step(stepID)
		if err != nil {
			return err
		}
		return setStepState(step, state, failure)
	})
}

// setStepState sets the state of a step and its timeline.
func setStepState(step *types.Step, state types.StepState, failure *types.FailureDetails) error {
	status := step.Status
	if err := checkMove("step "+aws.ToString(step.Id), stepMoves, status.State, state); err != nil {
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

// moveSteps sets every step that is in state from to state to.
func (r *record) moveSteps(from, to types.StepState) error {
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

// SetStepApplications says which applications of YARN a step has submitted so far, and
// the address of the ResourceManager that runs them.
func (s *Store) SetStepApplications(clusterID, stepID, resourceManager string, applicationIDs []string) error {
	return s.change(clusterID, func(r *record) error {
		step, err := r.step(stepID)
		if err != nil {
			return err
		}
		step.AdditionalInfo = &types.StepAdditionalInfo{ResourceManager: &resourceManager, ResourceManagerApplicationIds: applicationIDs}
		return nil
	})
}

// Steps returns copies of a cluster's steps, the oldest first, or ErrNotFound for an
// unknown cluster.
func (s *Store) Steps(clusterID string) ([]types.Step, error) {
	return read(s, clusterID, func(r *record) []types.Step { return r.Steps })
}
