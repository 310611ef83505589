package submit_test

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/submit"
)

func TestDetachLeavesTheStepRunning(t *testing.T) {
	w := newWorld(t)
	o := w.options(t, "hold.py")
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	o.Progress = &progress{react: map[string]func(){"is RUNNING": interrupt}}
	left, err := submit.Submit(ctx, o)
	require.ErrorIs(t, err, submit.ErrDetached)
	require.EqualError(t, err, "no longer following the step: it continues as "+left.StepID+" of cluster "+w.cluster)
	require.Equal(t, types.StepStateRunning, left.State)

	close(w.releaseHold)
	ended, err := submit.Follow(t.Context(), o, left.StepID)
	require.NoError(t, err)
	require.Equal(t, types.StepStateCompleted, ended.State)
	require.Equal(t, left.TraceID, ended.TraceID)
	require.Equal(t, left.Name, ended.Name)
	require.NotNil(t, ended.Ended)
}

func TestCancelledStepIsAFailure(t *testing.T) {
	w := newWorld(t)
	o := w.options(t, "hold.py")
	client := emr.NewFromConfig(o.AWS)
	o.Progress = &progress{react: map[string]func(){"added to cluster": func() {
		steps, err := client.ListSteps(t.Context(), &emr.ListStepsInput{ClusterId: &w.cluster})
		require.NoError(t, err)
		_, err = client.CancelSteps(t.Context(), &emr.CancelStepsInput{ClusterId: &w.cluster, StepIds: []string{*steps.Steps[0].Id}})
		require.NoError(t, err)
	}}}
	result, err := submit.Submit(t.Context(), o)
	require.ErrorIs(t, err, submit.ErrFailed)
	require.ErrorContains(t, err, "is CANCELLED")
	require.Equal(t, types.StepStateCancelled, result.State)
}

// Who follows a step that has ended reads why it failed, and with its logs.
func TestFollowTellsOfAnEndedStep(t *testing.T) {
	w := newWorld(t)
	o := w.options(t, "fail.py")
	first, want := submit.Submit(t.Context(), o)
	require.ErrorIs(t, want, submit.ErrFailed)
	again, err := submit.Follow(t.Context(), o, first.StepID)
	require.EqualError(t, err, want.Error())
	require.Equal(t, first.Failure, again.Failure)
	require.Equal(t, first.ApplicationIDs, again.ApplicationIDs)
	o.ShowLogs = true
	_, err = submit.Follow(t.Context(), o, first.StepID)
	require.ErrorContains(t, err, "\n  Traceback (most recent call last):\n")
}

func TestCancel(t *testing.T) {
	w := newWorld(t)
	o := w.options(t, "hold.py")
	o.Wait = false
	running, err := submit.Submit(t.Context(), o)
	require.NoError(t, err)
	require.NoError(t, submit.Cancel(t.Context(), o.AWS, w.cluster, running.StepID))
	_, err = submit.Follow(t.Context(), o, running.StepID)
	require.ErrorContains(t, err, "is CANCELLED")
	for name, c := range map[string]struct{ cluster, step, want string }{
		"an ended step": {w.cluster, running.StepID, "EMR refused: "},
		"no such step":  {w.cluster, "s-0123456789ABC", "Step id 's-0123456789ABC' is not valid"},
		"no id":         {w.cluster, "hold.py", `step: "hold.py": must be an EMR step id (s-…)`},
		"no cluster's":  {"main", running.StepID, `cluster: "main": must be an EMR cluster id (j-…)`},
	} {
		require.ErrorContains(t, submit.Cancel(t.Context(), o.AWS, c.cluster, c.step), c.want, name)
		if name != "an ended step" {
			o.Cluster = c.cluster
			_, err := submit.Follow(t.Context(), o, c.step)
			require.ErrorContains(t, err, c.want, name)
		}
	}
}
