package emrapi_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
)

func TestStepsRunInOrderAndAreListedNewestFirst(t *testing.T) {
	c := newCloud(t)
	id := c.putCluster(t)
	var names []string
	for i := range 120 {
		names = append(names, fmt.Sprint(i))
	}
	ids := c.addSteps(t, id, types.ActionOnFailureContinue, names...)
	waiting, err := c.client.ListSteps(t.Context(), &emr.ListStepsInput{ClusterId: &id, StepStates: []types.StepState{types.StepStateRunning}})
	require.NoError(t, err)
	require.Empty(t, waiting.Steps, "a cluster that starts runs none yet")
	c.boot(t, id)

	last := ids[len(ids)-1]
	step, err := emr.NewStepCompleteWaiter(c.client, func(o *emr.StepCompleteWaiterOptions) {
		o.MinDelay, o.MaxDelay = 5*time.Millisecond, 20*time.Millisecond
	}).WaitForOutput(t.Context(), &emr.DescribeStepInput{ClusterId: &id, StepId: &last}, testTimeout.Scaled())
	require.NoError(t, err)
	require.Equal(t, names, c.nodes.ranSteps())
	timeline := step.Step.Status.Timeline
	require.False(t, timeline.StartDateTime.Before(*timeline.CreationDateTime))
	require.False(t, timeline.EndDateTime.Before(*timeline.StartDateTime))
	require.Equal(t, map[string]string{"k": "v"}, step.Step.Config.Properties)
	require.Equal(t, []string{"spark-submit", "s3://data/job.py", "--day", "1"}, step.Step.Config.Args)
	c.awaitState(t, id, types.ClusterStateWaiting)

	var listed []string
	pages := emr.NewListStepsPaginator(c.client, &emr.ListStepsInput{ClusterId: &id})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		require.NoError(t, err)
		for _, step := range page.Steps {
			listed = append([]string{*step.Name}, listed...)
		}
		if len(listed) == 50 {
			c.addSteps(t, id, types.ActionOnFailureContinue, "newer")
		}
	}
	require.Equal(t, names, listed, "a step that is added between pages neither repeats nor hides one")

	some, err := c.client.ListSteps(t.Context(), &emr.ListStepsInput{ClusterId: &id, StepIds: ids[3:5]})
	require.NoError(t, err)
	require.Len(t, some.Steps, 2)
}

func TestActionOnFailure(t *testing.T) {
	for _, test := range []struct {
		name    string
		action  types.ActionOnFailure
		change  func(*types.Cluster)
		next    types.StepState
		cluster types.ClusterState
	}{
		{"continue", types.ActionOnFailureContinue, nil, types.StepStateCompleted, types.ClusterStateWaiting},
		{"cancel", types.ActionOnFailureCancelAndWait, nil, types.StepStateCancelled, types.ClusterStateWaiting},
		{"terminate", types.ActionOnFailureTerminateCluster, nil, types.StepStateCancelled, types.ClusterStateTerminatedWithErrors},
		{"default", "", nil, types.StepStateCancelled, types.ClusterStateTerminatedWithErrors},
		{
			"protected", types.ActionOnFailureTerminateJobFlow,
			func(c *types.Cluster) { c.TerminationProtected = aws.Bool(true) },
			types.StepStateCancelled, types.ClusterStateWaiting,
		},
		{
			"transient", types.ActionOnFailureContinue,
			func(c *types.Cluster) { c.AutoTerminate = aws.Bool(true) },
			types.StepStateCompleted, types.ClusterStateTerminated,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCloud(t)
			change := test.change
			if change == nil {
				change = func(*types.Cluster) {}
			}
			id := c.putCluster(t, change)
			steps := c.addSteps(t, id, test.action, "fail", "next")
			c.boot(t, id)
			failed := c.awaitStep(t, id, steps[0], types.StepStateFailed)
			require.Equal(t, "Application exception", *failed.Status.FailureDetails.Reason)
			require.Equal(t, "exit code 1", *failed.Status.FailureDetails.Message)
			require.Equal(t, "s3://data/emr-logs/steps/stderr.gz", *failed.Status.FailureDetails.LogFile)
			c.awaitStep(t, id, steps[1], test.next)
			c.awaitState(t, id, test.cluster)
		})
	}
}

func TestCancelSteps(t *testing.T) {
	c := newCloud(t)
	id := c.putCluster(t)
	c.boot(t, id)
	steps := c.addSteps(t, id, types.ActionOnFailureTerminateCluster, "hold", "never", "last")
	c.awaitStep(t, id, steps[0], types.StepStateRunning)

	out, err := c.client.CancelSteps(t.Context(), &emr.CancelStepsInput{
		ClusterId: &id, StepIds: []string{steps[1], steps[0]}, StepCancellationOption: types.StepCancellationOptionTerminateProcess,
	})
	require.NoError(t, err)
	require.Len(t, out.CancelStepsInfoList, 2)
	for _, info := range out.CancelStepsInfoList {
		require.Equal(t, types.CancelStepsRequestStatusSubmitted, info.Status)
	}
	c.awaitStep(t, id, steps[0], types.StepStateCancelled)
	c.awaitStep(t, id, steps[1], types.StepStateCancelled)
	c.awaitStep(t, id, steps[2], types.StepStateCompleted)
	require.Equal(t, []string{"hold", "last"}, c.nodes.ranSteps())
	var cancelled *emrapi.Cancelled
	require.ErrorAs(t, c.nodes.causes[0], &cancelled)
	require.Equal(t, types.StepCancellationOptionTerminateProcess, cancelled.Option)

	late, err := c.client.CancelSteps(t.Context(), &emr.CancelStepsInput{ClusterId: &id, StepIds: steps[2:]})
	require.NoError(t, err)
	require.Equal(t, types.CancelStepsRequestStatusFailed, late.CancelStepsInfoList[0].Status)
	require.Contains(t, *late.CancelStepsInfoList[0].Reason, "COMPLETED")
	_, err = c.client.CancelSteps(t.Context(), &emr.CancelStepsInput{ClusterId: &id, StepIds: []string{"s-NONE"}})
	requireInvalid(t, err, "Step id 's-NONE' is not valid.")
}

func TestConcurrentSteps(t *testing.T) {
	c := newCloud(t)
	id := c.putCluster(t, func(cluster *types.Cluster) { cluster.StepConcurrencyLevel = aws.Int32(2) })
	c.boot(t, id)
	steps := c.addSteps(t, id, types.ActionOnFailureContinue, "hold", "hold", "hold")
	c.awaitStep(t, id, steps[0], types.StepStateRunning)
	c.awaitStep(t, id, steps[1], types.StepStateRunning)
	kept, err := c.store.Steps(id)
	require.NoError(t, err)
	require.Equal(t, types.StepStatePending, kept[2].Status.State)
	close(c.nodes.release)
	c.awaitStep(t, id, steps[2], types.StepStateCompleted)

	_, err = c.client.AddJobFlowSteps(t.Context(), &emr.AddJobFlowStepsInput{
		JobFlowId: &id, Steps: []types.StepConfig{stepConfig("x", types.ActionOnFailureCancelAndWait)},
	})
	require.ErrorContains(t, err, "step concurrency level of 2")
}

func TestAddJobFlowStepsNamesEveryViolation(t *testing.T) {
	c := newCloud(t)
	id := c.putCluster(t)
	long := stepConfig("long", "SHRUG")
	long.HadoopJarStep.Args = []string{strings.Repeat("x", 10240)}
	_, err := c.client.AddJobFlowSteps(t.Context(), &emr.AddJobFlowStepsInput{JobFlowId: &id, Steps: []types.StepConfig{
		stepConfig("fine", types.ActionOnFailureContinue), long,
		{Name: aws.String(""), HadoopJarStep: &types.HadoopJarStepConfig{Jar: aws.String("")}},
	}})
	var refused smithy.APIError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "ValidationException", refused.ErrorCode())
	for _, part := range []string{
		`Steps[1].ActionOnFailure: "SHRUG"`, "Steps[1].HadoopJarStep: 10260 characters in all: at most 10240",
		"Steps[2].Name", "Steps[2].HadoopJarStep.Jar",
	} {
		require.Contains(t, refused.ErrorMessage(), part)
	}
	steps, err := c.store.Steps(id)
	require.NoError(t, err)
	require.Empty(t, steps, "the valid step is not added either")

	absent := "j-ABSENT"
	_, err = c.client.AddJobFlowSteps(t.Context(), &emr.AddJobFlowStepsInput{
		JobFlowId: &absent, Steps: []types.StepConfig{stepConfig("x", "")},
	})
	require.ErrorContains(t, err, "Specified job flow ID does not exist.")

	full := strings.Split(strings.Repeat("x", 256), "")
	c.addSteps(t, id, types.ActionOnFailureContinue, full...)
	_, err = c.client.AddJobFlowSteps(t.Context(), &emr.AddJobFlowStepsInput{JobFlowId: &id, Steps: []types.StepConfig{stepConfig("x", "")}})
	require.ErrorContains(t, err, "256 active or pending and 1 more, at most 256")
}
