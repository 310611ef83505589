package emrapi

import (
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// ErrTransition is returned for a state change that EMR never makes.
var ErrTransition = errors.New("state change not possible")

// Possible state changes: EMR Management Guide, "Understanding the cluster
// lifecycle". A cluster that runs passes through TERMINATING. One that never ran may
// end at once: what failed to start its nodes has removed them.
var (
	clusterMoves = map[types.ClusterState][]types.ClusterState{
		types.ClusterStateStarting: {
			types.ClusterStateBootstrapping, types.ClusterStateTerminating, types.ClusterStateTerminatedWithErrors,
		},
		types.ClusterStateBootstrapping: {
			types.ClusterStateRunning, types.ClusterStateWaiting, types.ClusterStateTerminating,
			types.ClusterStateTerminatedWithErrors,
		},
		types.ClusterStateRunning:     {types.ClusterStateWaiting, types.ClusterStateTerminating},
		types.ClusterStateWaiting:     {types.ClusterStateRunning, types.ClusterStateTerminating},
		types.ClusterStateTerminating: {types.ClusterStateTerminated, types.ClusterStateTerminatedWithErrors},
	}

	instanceMoves = map[types.InstanceState][]types.InstanceState{
		types.InstanceStateAwaitingFulfillment: {types.InstanceStateProvisioning, types.InstanceStateTerminated},
		types.InstanceStateProvisioning:        {types.InstanceStateBootstrapping, types.InstanceStateTerminated},
		types.InstanceStateBootstrapping:       {types.InstanceStateRunning, types.InstanceStateTerminated},
		types.InstanceStateRunning:             {types.InstanceStateTerminated},
	}

	stepMoves = map[types.StepState][]types.StepState{
		types.StepStatePending: {types.StepStateRunning, types.StepStateCancelled},
		types.StepStateRunning: {
			types.StepStateCompleted, types.StepStateFailed, types.StepStateCancelPending, types.StepStateInterrupted,
		},
		types.StepStateCancelPending: {
			types.StepStateCancelled, types.StepStateCompleted, types.StepStateFailed, types.StepStateInterrupted,
		},
	}
)

// checkMove fails for an impossible state change. A state may be set again, since
// its reason may change.
func checkMove[S ~string](what string, moves map[S][]S, from, to S) error {
	if from == to || slices.Contains(moves[from], to) {
		return nil
	}
	return fmt.Errorf("%s: %q to %q: %w; from %q it can go to %q", what, from, to, ErrTransition, from, moves[from])
}

// clusterEnded reports whether a cluster's state is final.
func clusterEnded(state types.ClusterState) bool {
	return state == types.ClusterStateTerminated || state == types.ClusterStateTerminatedWithErrors
}

// clusterTakesSteps reports whether steps can be added to a cluster (API reference,
// AddJobFlowSteps).
func clusterTakesSteps(state types.ClusterState) bool {
	return state != types.ClusterStateTerminating && !clusterEnded(state)
}

// clusterReady reports whether a cluster can run steps.
func clusterReady(state types.ClusterState) bool {
	return state == types.ClusterStateRunning || state == types.ClusterStateWaiting
}

// StepEnded reports whether a step's state is final.
func StepEnded(state types.StepState) bool {
	return len(stepMoves[state]) == 0
}

// groupState returns the state of an instance group, given its cluster's.
func groupState(cluster types.ClusterState) types.InstanceGroupState {
	switch cluster {
	case types.ClusterStateStarting:
		return types.InstanceGroupStateProvisioning
	case types.ClusterStateBootstrapping:
		return types.InstanceGroupStateBootstrapping
	case types.ClusterStateTerminating:
		return types.InstanceGroupStateTerminating
	case types.ClusterStateTerminated, types.ClusterStateTerminatedWithErrors:
		return types.InstanceGroupStateTerminated
	default:
		return types.InstanceGroupStateRunning
	}
}
