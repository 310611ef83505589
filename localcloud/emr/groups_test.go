package emr_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsemr "github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/localcloud/emr"
	"github.com/emr-observatory/emr-observatory/platform"
)

// Two clusters that somebody starts with the SDK run side by side: one of groups, whose
// task group goes from 1 to 3 to 1 node while a job runs, one of fleets.
func TestClustersSideBySide(t *testing.T) {
	c := newCloud(t)
	action := c.putAction("first.sh", identityScript)
	request := jobFlow("groups", action)
	for _, role := range []types.InstanceRoleType{types.InstanceRoleTypeMaster, types.InstanceRoleTypeCore} {
		request.Instances.InstanceGroups = append(request.Instances.InstanceGroups, types.InstanceGroupConfig{
			InstanceRole: role, InstanceType: aws.String("m6g.xlarge"), InstanceCount: aws.Int32(1),
		})
	}
	request.Configurations = append(request.Configurations, types.Configuration{
		Classification: aws.String("yarn-site"), Properties: map[string]string{
			"yarn.node-labels.enabled": "true", "yarn.node-labels.am.default-node-label-expression": "ON_DEMAND",
		},
	})
	id := c.run(t, request)
	config := types.InstanceGroupConfig{
		InstanceRole: types.InstanceRoleTypeTask, InstanceType: aws.String("c6g.xlarge"), InstanceCount: aws.Int32(1),
		Market:         types.MarketTypeSpot,
		Configurations: []types.Configuration{{Classification: aws.String("yarn-site"), Properties: map[string]string{"own": "1"}}},
	}
	added, err := c.api.AddInstanceGroups(t.Context(), &awsemr.AddInstanceGroupsInput{
		JobFlowId: &id, InstanceGroups: []types.InstanceGroupConfig{config},
	})
	require.NoError(t, err)
	task := added.InstanceGroupIds[0]
	require.Equal(t, types.InstanceGroupStateProvisioning, c.groupState(t, id, task), "not RUNNING without a node")
	c.awaitGroup(t, id, task)
	require.Len(t, c.yarnHosts(t), 2)
	c.requireTaskNode(t, id, task)

	t.Run("task group 1 to 3 to 1 in a job", func(t *testing.T) {
		out := runSession(t, c.primary(t, id), func() {
			c.requireMasterOnDemand(t, id)
			c.resizeGroup(t, id, task, 3, nil)
			require.Len(t, c.yarnHosts(t), 4)
			c.resizeGroup(t, id, task, 1, &types.ShrinkPolicy{DecommissionTimeout: aws.Int32(5)})
			require.Len(t, c.yarnHosts(t), 2)
		})
		require.Contains(t, out, "counted 10")
		c.resizeGroup(t, id, task, 0, nil)
		require.Equal(t, types.InstanceGroupStateRunning, c.groupState(t, id, task), "a removed group stays at 0")
		c.resizeGroup(t, id, task, 1, nil)
	})
	t.Run("reconfigured", func(t *testing.T) {
		_, err := c.api.ModifyInstanceGroups(t.Context(), &awsemr.ModifyInstanceGroupsInput{InstanceGroups: []types.InstanceGroupModifyConfig{{
			InstanceGroupId: &task, Configurations: []types.Configuration{{
				Classification: aws.String("yarn-site"), Properties: map[string]string{"yarn.nodemanager.resource.memory-mb": "1500"},
			}},
		}}})
		require.NoError(t, err)
		g := c.awaitGroup(t, id, task)
		require.Equal(t, g.Configurations, g.LastSuccessfullyAppliedConfigurations)
		// The restarted NodeManager says what it offers.
		testenv.Eventually(t, func() bool { return c.yarnMemory(t) == 2048+1500 }, testTimeout, 100*time.Millisecond)
	})
	t.Run("managed scaling", func(t *testing.T) {
		testenv.RequireLong(t, "TestManagedScalingFollowsDemand decides without nodes; a group is resized above")
		c.testManagedScaling(t, id)
	})
	t.Run("fleets", func(t *testing.T) { c.testFleets(t, action) })
	t.Run("a group whose nodes fail", func(t *testing.T) {
		require.NoError(t, c.Objects.Put(t.Context(), bucket, "first.sh", []byte("#!/bin/bash\nexit 1\n")))
		_, err := c.api.ModifyInstanceGroups(t.Context(), &awsemr.ModifyInstanceGroupsInput{InstanceGroups: []types.InstanceGroupModifyConfig{
			{InstanceGroupId: &task, InstanceCount: aws.Int32(2)},
		}})
		require.NoError(t, err)
		arrested := func() bool { return c.groupState(t, id, task) == types.InstanceGroupStateArrested }
		testenv.Eventually(t, arrested, testTimeout, 100*time.Millisecond)
		require.Len(t, c.yarnHosts(t), 2, "the other nodes go on")
		c.resizeGroup(t, id, task, 1, nil)
	})
	_, err = c.api.TerminateJobFlows(t.Context(), &awsemr.TerminateJobFlowsInput{JobFlowIds: []string{id}})
	require.NoError(t, err)
	c.awaitState(t, id, types.ClusterStateTerminated)
	c.requireRemoved(id)
}

func (c *cloud) groupState(t *testing.T, id, group string) types.InstanceGroupState {
	t.Helper()
	answer, err := c.api.ListInstanceGroups(t.Context(), &awsemr.ListInstanceGroupsInput{ClusterId: &id})
	require.NoError(t, err)
	for _, g := range answer.InstanceGroups {
		if *g.Id == group {
			return g.Status.State
		}
	}
	return ""
}

// requireTaskNode requires a task node with the bootstrap action and the group's own
// configuration, and without HDFS.
func (c *cloud) requireTaskNode(t *testing.T, id, group string) {
	t.Helper()
	answer, err := c.api.ListInstances(t.Context(), &awsemr.ListInstancesInput{
		ClusterId: &id, InstanceGroupTypes: []types.InstanceGroupType{types.InstanceGroupTypeTask},
	})
	require.NoError(t, err)
	require.Len(t, answer.Instances, 1)
	node := answer.Instances[0]
	require.Equal(t, group, *node.InstanceGroupId)
	require.Equal(t, "hadoop the arguments c6g.xlarge\n", c.log(id+"/node/"+*node.Ec2InstanceId+"/bootstrap-actions/1/stdout.gz"))
	site, err := os.ReadFile(filepath.Join(c.Region.Root(*node.Ec2InstanceId), "etc/hadoop/conf/yarn-site.xml"))
	require.NoError(t, err)
	require.Contains(t, string(site), "<name>own</name><value>1</value>")
	m, ok := c.Region.Machine(*node.Ec2InstanceId)
	require.True(t, ok)
	units, err := m.Units(t.Context())
	require.NoError(t, err)
	var names []string
	for _, u := range units {
		names = append(names, u.Name)
	}
	require.Contains(t, names, "hadoop-yarn-nodemanager.service")
	require.NotContains(t, names, "hadoop-hdfs-datanode.service")
}

// testFleets runs a second cluster, of fleets, which ends by itself.
func (c *cloud) testFleets(t *testing.T, action map[string]any) {
	fleet := func(kind types.InstanceFleetType, onDemand, spot, weight int32) types.InstanceFleetConfig {
		return types.InstanceFleetConfig{
			InstanceFleetType: kind, TargetOnDemandCapacity: &onDemand, TargetSpotCapacity: &spot,
			InstanceTypeConfigs: []types.InstanceTypeConfig{
				{InstanceType: aws.String("m6g.xlarge"), WeightedCapacity: &weight},
				{InstanceType: aws.String("m7g.xlarge"), WeightedCapacity: &weight},
			},
		}
	}
	request := jobFlow("fleets", action)
	request.Instances.InstanceFleets = []types.InstanceFleetConfig{
		fleet(types.InstanceFleetTypeMaster, 1, 0, 1), fleet(types.InstanceFleetTypeCore, 1, 0, 1), fleet(types.InstanceFleetTypeTask, 0, 3, 2),
	}
	id := c.run(t, request)
	first, second := c.page(emr.ResourceManager), ""
	testenv.Eventually(t, func() bool { // soon after the cluster's state
		second = c.page(emr.PageName(emr.ResourceManager, 1))
		return second != ""
	}, testTimeout, 10*time.Millisecond)
	require.NotEqual(t, first, second, "each cluster has its page")
	for _, address := range []string{first, second} {
		res, err := http.Get("http://" + address + "/ws/v1/cluster/info")
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
	}
	provisioned := func() []int32 {
		answer, err := c.api.ListInstanceFleets(t.Context(), &awsemr.ListInstanceFleetsInput{ClusterId: &id})
		require.NoError(t, err)
		var out []int32
		for _, f := range answer.InstanceFleets {
			require.Equal(t, types.InstanceFleetStateRunning, f.Status.State)
			out = append(out, *f.ProvisionedOnDemandCapacity, *f.ProvisionedSpotCapacity)
		}
		return out
	}
	require.Equal(t, []int32{1, 0, 1, 0, 0, 4}, provisioned(), "two nodes of weight 2 for 3 units")
	fleets, err := c.Store.InstanceFleets(id)
	require.NoError(t, err)
	require.NoError(t, c.UpdateFleet(t.Context(), *fleets[2].Id, map[string]any{"clusterId": id, "targetSpotCapacity": 2}))
	require.Equal(t, []int32{1, 0, 1, 0, 0, 2}, provisioned())
	step := c.addStep(t, id, "bash", "-c", "id -un")
	c.awaitStep(t, id, step, types.StepStateCompleted)
	_, err = c.api.SetKeepJobFlowAliveWhenNoSteps(t.Context(), &awsemr.SetKeepJobFlowAliveWhenNoStepsInput{
		JobFlowIds: []string{id}, KeepJobFlowAliveWhenNoSteps: aws.Bool(false),
	})
	require.NoError(t, err)
	c.awaitState(t, id, types.ClusterStateTerminated)
	c.requireRemoved(id)
	require.Equal(t, first, c.page(emr.ResourceManager), "the other cluster keeps its page")
	require.Empty(t, c.page(emr.PageName(emr.ResourceManager, 1)))
}

// page returns the address of an exposed web page.
func (c *cloud) page(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.exposed[name]
}

// yarnMemory returns the memory of all of the first cluster's nodes.
func (c *cloud) yarnMemory(t *testing.T) int {
	t.Helper()
	res, err := http.Get("http://" + c.page(emr.ResourceManager) + "/ws/v1/cluster/metrics")
	require.NoError(t, err)
	defer res.Body.Close()
	var metrics struct{ TotalClusterResourcesAcrossPartition struct{ MemorySize int } }
	require.NoError(t, json.NewDecoder(res.Body).Decode(&metrics))
	return metrics.TotalClusterResourcesAcrossPartition.MemorySize
}

// testManagedScaling has a job's executors bring nodes, which leave after it.
func (c *cloud) testManagedScaling(t *testing.T, id string) {
	_, err := c.api.PutManagedScalingPolicy(t.Context(), &awsemr.PutManagedScalingPolicyInput{
		ClusterId: &id, ManagedScalingPolicy: &types.ManagedScalingPolicy{ComputeLimits: &types.ComputeLimits{
			UnitType: types.ComputeLimitsUnitTypeInstances, MinimumCapacityUnits: aws.Int32(1), MaximumCapacityUnits: aws.Int32(4),
			MaximumCoreCapacityUnits: aws.Int32(1),
		}},
	})
	require.NoError(t, err)
	nodes := func() int { return len(c.yarnHosts(t)) }
	out := runSession(t, c.primary(t, id), func() {
		testenv.Eventually(t, func() bool {
			c.Scale(t.Context())
			return nodes() == 4
		}, testTimeout, time.Second)
	}, "--num-executors", "6")
	require.Contains(t, out, "counted 10")
	testenv.Eventually(t, func() bool {
		c.clock.SetTime(c.clock.Now().Add(time.Minute))
		c.Scale(t.Context())
		return nodes() == 1
	}, testTimeout, time.Second)
	_, err = c.api.RemoveManagedScalingPolicy(t.Context(), &awsemr.RemoveManagedScalingPolicyInput{ClusterId: &id})
	require.NoError(t, err)
	groups, err := c.Store.InstanceGroups(id)
	require.NoError(t, err)
	require.Zero(t, *groups[2].RequestedInstanceCount, "task nodes leave first")
	c.resizeGroup(t, id, *groups[2].Id, 1, nil)
}

// requireMasterOnDemand requires that the core node alone has the label ON_DEMAND, and that
// the application master of the running application is there.
func (c *cloud) requireMasterOnDemand(t *testing.T, id string) {
	t.Helper()
	res, err := http.Get("http://" + c.exposed[emr.ResourceManager] + "/ws/v1/cluster/nodes?states=RUNNING")
	require.NoError(t, err)
	defer res.Body.Close()
	var answer struct {
		Nodes []struct {
			NodeID     string
			NodeLabels []string
		}
	}
	require.NoError(t, json.NewDecoder(res.Body).Decode(&answer))
	labels := map[string][]string{}
	for _, n := range answer.Nodes {
		host, _, _ := strings.Cut(n.NodeID, ":")
		labels[host] = slices.DeleteFunc(n.NodeLabels, func(label string) bool { return label == "" })
	}
	list, err := c.Store.Instances(id)
	require.NoError(t, err)
	masters := map[string]int{}
	for _, i := range list {
		logs, err := filepath.Glob(filepath.Join(c.Region.Root(*i.Ec2InstanceId), platform.EMRContainerLogDir, "*", "container_*_01_000001"))
		require.NoError(t, err)
		masters[string(i.Market)] += len(logs)
		if i.Market == types.MarketTypeSpot {
			require.Empty(t, labels[*i.PrivateDnsName], "%v", labels)
		}
	}
	require.Equal(t, 0, masters[string(types.MarketTypeSpot)], "%v", masters)
	require.Positive(t, masters[string(types.MarketTypeOnDemand)], "%v", masters)
	require.Contains(t, labels, *list[1].PrivateDnsName)
	require.Equal(t, []string{"ON_DEMAND"}, labels[*list[1].PrivateDnsName])
}
