package emrapi

import (
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// ErrTransition is the error of a state change that EMR never makes.
var ErrTransition = errors.New("state change not possible")

// Life of a cluster: EMR Management Guide, "Understanding the cluster
// lifecycle". A cluster that runs ends through TERMINATING; one that never came
// up may end at once, for whoever starts its nodes also clears them away.
//
//nolint:gochecknoglobals // tables
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

// move checks a change of state. A state may be repeated: its reason may
// change while it lasts.
func move[S ~string](what string, moves map[S][]S, from, to S) error {
	if from == to || slices.Contains(moves[from], to) {
		return nil
	}
	return fmt.Errorf("%s: %q to %q: %w; from %q it can go to %q", what, from, to, ErrTransition, from, moves[from])
}

func clusterEnded(state types.ClusterState) bool {
	return state == types.ClusterStateTerminated || state == types.ClusterStateTerminatedWithErrors
}

// clusterTakesSteps is the rule of AddJobFlowSteps in the API reference.
func clusterTakesSteps(state types.ClusterState) bool {
	return state != types.ClusterStateTerminating && !clusterEnded(state)
}

func clusterReady(state types.ClusterState) bool {
	return state == types.ClusterStateRunning || state == types.ClusterStateWaiting
}

// StepEnded says whether a step in this state can still change.
func StepEnded(state types.StepState) bool {
	return len(stepMoves[state]) == 0
}

// groupState is the state that an instance group shows while its cluster is in
// a state.
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
