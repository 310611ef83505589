package emrapi_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
)

// runCluster starts a cluster with one primary, one core and, if asked, a task group.
func (c *cloud) runCluster(t *testing.T, roles ...types.InstanceRoleType) (id string, groups []string) {
	t.Helper()
	request := &emr.RunJobFlowInput{
		Name: aws.String("test"), ReleaseLabel: aws.String("emr-7.10.0"), ServiceRole: aws.String("service"), JobFlowRole: aws.String("nodes"),
		Instances: &types.JobFlowInstancesConfig{Ec2SubnetId: aws.String("subnet-1"), KeepJobFlowAliveWhenNoSteps: aws.Bool(true)},
	}
	for _, role := range append([]types.InstanceRoleType{types.InstanceRoleTypeMaster, types.InstanceRoleTypeCore}, roles...) {
		request.Instances.InstanceGroups = append(request.Instances.InstanceGroups, types.InstanceGroupConfig{
			InstanceRole: role, InstanceType: aws.String("m6g.xlarge"), InstanceCount: aws.Int32(1),
		})
	}
	answer, err := c.client.RunJobFlow(t.Context(), request)
	require.NoError(t, err)
	found, err := c.store.InstanceGroups(*answer.JobFlowId)
	require.NoError(t, err)
	for _, g := range found {
		groups = append(groups, *g.Id)
	}
	return *answer.JobFlowId, groups
}

// awaitGroup blocks until a group is in a state and returns it.
func (c *cloud) awaitGroup(t *testing.T, id, group string, state types.InstanceGroupState) types.InstanceGroup {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout.Scaled())
	defer cancel()
	for {
		changed := c.store.Changed()
		groups, err := c.store.InstanceGroups(id)
		require.NoError(t, err)
		for _, g := range groups {
			if *g.Id == group && g.Status.State == state {
				return g
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			require.FailNow(t, "group is not "+string(state))
		}
	}
}

func (c *cloud) resize(t *testing.T, group string, count int32) error {
	t.Helper()
	_, err := c.client.ModifyInstanceGroups(t.Context(), &emr.ModifyInstanceGroupsInput{InstanceGroups: []types.InstanceGroupModifyConfig{
		{InstanceGroupId: &group, InstanceCount: &count},
	}})
	return err
}

// A group whose nodes fail is ARRESTED until another size is requested.
func TestFailedResizeSuspendsTheGroup(t *testing.T) {
	c := newCloud(t)
	id, groups := c.runCluster(t, types.InstanceRoleTypeTask)
	c.awaitState(t, id, types.ClusterStateWaiting)
	c.nodes.failResize = errors.New("bootstrap action 1 failed")
	require.NoError(t, c.resize(t, groups[2], 3))
	arrested := c.awaitGroup(t, id, groups[2], types.InstanceGroupStateArrested)
	require.Equal(t, "bootstrap action 1 failed", *arrested.Status.StateChangeReason.Message)
	require.Equal(t, types.ClusterStateWaiting, c.awaitState(t, id, types.ClusterStateWaiting).Status.State, "the cluster goes on")
	c.nodes.failResize = nil
	require.NoError(t, c.resize(t, groups[2], 1))
	running := c.awaitGroup(t, id, groups[2], types.InstanceGroupStateRunning)
	require.Nil(t, running.Status.StateChangeReason.Message)
	require.Equal(t, groups[2], <-c.nodes.resized)
}

func TestResizingIsRefused(t *testing.T) {
	c := newCloud(t)
	id, groups := c.runCluster(t)
	c.awaitState(t, id, types.ClusterStateWaiting)
	require.ErrorContains(t, c.resize(t, groups[0], 3), "The master instance group cannot be resized.")
	require.ErrorContains(t, c.resize(t, groups[1], 0), "InstanceCount: 0: must be at least 1, or 0 for a task group")
	require.ErrorContains(t, c.resize(t, "ig-NONE", 1), "Instance group id 'ig-NONE' is not valid.")
	add := func(role types.InstanceRoleType, count int) error {
		groups := make([]types.InstanceGroupConfig, count)
		for i := range groups {
			groups[i] = types.InstanceGroupConfig{InstanceRole: role, InstanceType: aws.String("m6g.xlarge"), InstanceCount: aws.Int32(0)}
		}
		_, err := c.client.AddInstanceGroups(t.Context(), &emr.AddInstanceGroupsInput{JobFlowId: &id, InstanceGroups: groups})
		return err
	}
	require.ErrorContains(t, add(types.InstanceRoleTypeCore, 1), "InstanceCount: 0: must be at least 1 for a core group")
	require.NoError(t, add(types.InstanceRoleTypeTask, 48))
	require.ErrorContains(t, add(types.InstanceRoleTypeTask, 1), "48 task groups and 1 more: at most 48, those at 0 among them")
	_, err := c.client.TerminateJobFlows(t.Context(), &emr.TerminateJobFlowsInput{JobFlowIds: []string{id}})
	require.NoError(t, err)
	c.awaitState(t, id, types.ClusterStateTerminated)
	require.ErrorContains(t, c.resize(t, groups[1], 2), "may only be modified when the job flow is running or waiting")
}

// slowNodes launch until their context ends.
type slowNodes struct{ *nodes }

func (n slowNodes) Launch(ctx context.Context, _ string) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestTerminationInterruptsTheLaunch(t *testing.T) {
	c := newCloudOf(t, t.TempDir(), func(n *nodes) emrapi.Nodes { return slowNodes{n} })
	id, _ := c.runCluster(t)
	_, err := c.client.TerminateJobFlows(t.Context(), &emr.TerminateJobFlowsInput{JobFlowIds: []string{id}})
	require.NoError(t, err)
	ended := c.awaitState(t, id, types.ClusterStateTerminated)
	require.Equal(t, types.ClusterStateChangeReasonCodeUserRequest, ended.Status.StateChangeReason.Code)
	require.Equal(t, id, <-c.nodes.terminated)
}

// A size that is requested while the group resizes is applied after it.
func TestLaterSizeWins(t *testing.T) {
	hold := make(chan struct{})
	c := newCloudOf(t, t.TempDir(), func(n *nodes) emrapi.Nodes { return heldNodes{n, hold} })
	id, groups := c.runCluster(t, types.InstanceRoleTypeTask)
	c.awaitState(t, id, types.ClusterStateWaiting)
	require.NoError(t, c.resize(t, groups[2], 3))
	<-c.nodes.resized
	require.NoError(t, c.resize(t, groups[2], 5))
	hold <- struct{}{}
	select {
	case <-c.nodes.resized:
	case <-time.After(testTimeout.Scaled()):
		require.FailNow(t, "the second size was not applied")
	}
	c.awaitGroup(t, id, groups[2], types.InstanceGroupStateResizing)
	hold <- struct{}{}
	require.EqualValues(t, 5, *c.awaitGroup(t, id, groups[2], types.InstanceGroupStateRunning).RequestedInstanceCount)
}

// heldNodes resize until hold lets them go on.
type heldNodes struct {
	*nodes
	hold chan struct{}
}

func (n heldNodes) Resize(ctx context.Context, _, group string) error {
	n.resized <- group
	select {
	case <-n.hold:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
