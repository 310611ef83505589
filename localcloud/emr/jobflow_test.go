package emr_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsemr "github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/poll"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
)

// jobFlow returns a request for a cluster of groups or fleets that is kept alive.
func jobFlow(name string, action map[string]any) *awsemr.RunJobFlowInput {
	path, _ := action["path"].(string)
	args, _ := action["args"].([]string)
	return &awsemr.RunJobFlowInput{
		Name: &name, ReleaseLabel: aws.String("emr-7.10.0"), ServiceRole: aws.String("emr"), JobFlowRole: aws.String("nodes"),
		LogUri: aws.String("s3://" + bucket + "/logs/"), Applications: []types.Application{{Name: aws.String("Spark")}},
		Configurations: []types.Configuration{{
			Classification: aws.String("spark-defaults"), Properties: map[string]string{"spark.dynamicAllocation.enabled": "false"},
		}},
		BootstrapActions: []types.BootstrapActionConfig{{
			Name: aws.String("identity"), ScriptBootstrapAction: &types.ScriptBootstrapActionConfig{Path: &path, Args: args},
		}},
		Instances: &types.JobFlowInstancesConfig{Ec2SubnetId: aws.String("subnet-1"), KeepJobFlowAliveWhenNoSteps: aws.Bool(true)},
	}
}

// run starts a cluster and returns its id once it is ready.
func (c *cloud) run(t *testing.T, request *awsemr.RunJobFlowInput) string {
	t.Helper()
	answer, err := c.api.RunJobFlow(t.Context(), request)
	require.NoError(t, err)
	c.awaitState(t, *answer.JobFlowId, types.ClusterStateWaiting)
	return *answer.JobFlowId
}

func (c *cloud) awaitState(t *testing.T, id string, want types.ClusterState) types.Cluster {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout.Scaled())
	defer cancel()
	ended := []types.ClusterState{want, types.ClusterStateTerminated, types.ClusterStateTerminatedWithErrors}
	require.NoError(t, c.Store.Wait(ctx, id, func(c types.Cluster) bool { return slices.Contains(ended, c.Status.State) }))
	found, err := c.Store.Cluster(id)
	require.NoError(t, err)
	require.Equal(t, want, found.Status.State, "%s", aws.ToString(found.Status.StateChangeReason.Message))
	return found
}

// awaitGroup waits until a group runs and returns it.
func (c *cloud) awaitGroup(t *testing.T, id, group string) types.InstanceGroup {
	t.Helper()
	var found types.InstanceGroup
	require.NoError(t, testenv.Poll(t.Context(), testTimeout, 100*time.Millisecond, func(ctx context.Context) error {
		answer, err := c.api.ListInstanceGroups(ctx, &awsemr.ListInstanceGroupsInput{ClusterId: &id})
		if err != nil {
			return poll.Permanent(err)
		}
		i := slices.IndexFunc(answer.InstanceGroups, func(g types.InstanceGroup) bool { return *g.Id == group })
		found = answer.InstanceGroups[i]
		if found.Status.State != types.InstanceGroupStateRunning {
			return errNotYet
		}
		return nil
	}), "%s: %+v", found.Status.State, found.Status.StateChangeReason)
	return found
}

var errNotYet = errors.New("not yet")

// resizeGroup requests a count, waits until the group runs and requires that many nodes.
func (c *cloud) resizeGroup(t *testing.T, id, group string, count int32, policy *types.ShrinkPolicy) {
	t.Helper()
	change := types.InstanceGroupModifyConfig{InstanceGroupId: &group, InstanceCount: &count, ShrinkPolicy: policy}
	_, err := c.api.ModifyInstanceGroups(t.Context(), &awsemr.ModifyInstanceGroupsInput{
		ClusterId: &id, InstanceGroups: []types.InstanceGroupModifyConfig{change},
	})
	require.NoError(t, err)
	g := c.awaitGroup(t, id, group)
	require.Equal(t, []int32{count, count}, []int32{*g.RequestedInstanceCount, *g.RunningInstanceCount})
}

// primary returns the machine of the cluster's primary node.
func (c *cloud) primary(t *testing.T, id string) *region.Machine {
	t.Helper()
	list, err := c.Store.Instances(id)
	require.NoError(t, err)
	m, ok := c.Region.Machine(*list[0].Ec2InstanceId)
	require.True(t, ok)
	return m
}

// change updates the cluster's inputs and returns the new ones.
func (c *cloud) change(t *testing.T, id string, in, changed map[string]any) map[string]any {
	t.Helper()
	next := maps.Clone(in)
	maps.Copy(next, changed)
	require.NoError(t, c.UpdateCluster(t.Context(), id, in, next))
	return next
}
