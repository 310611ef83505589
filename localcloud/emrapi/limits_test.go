package emrapi_test

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud/emrapi/emrapitest"
)

// run asks for a cluster and returns EMR's refusal, if any.
func (c *cloud) run(t *testing.T, edit func(*emr.RunJobFlowInput)) error {
	t.Helper()
	request := emrapitest.JobFlow()
	edit(&request)
	_, err := c.client.RunJobFlow(t.Context(), &request)
	return err
}

func TestVolumesOfAnInstance(t *testing.T) {
	c := newCloud(t)
	volumes := func(n int32) error {
		return c.run(t, func(r *emr.RunJobFlowInput) {
			r.Instances.InstanceGroups[0].EbsConfiguration = &types.EbsConfiguration{EbsBlockDeviceConfigs: []types.EbsBlockDeviceConfig{{
				VolumeSpecification: &types.VolumeSpecification{VolumeType: aws.String("gp3"), SizeInGB: aws.Int32(10)}, VolumesPerInstance: &n,
			}}}
		})
	}
	require.NoError(t, volumes(24))
	require.ErrorContains(t, volumes(25), "25 volumes: at most 24 besides the root volume")
}

// fleet returns a fleet on demand of some types.
func fleet(kind types.InstanceFleetType, n int, strategy bool) types.InstanceFleetConfig {
	f := types.InstanceFleetConfig{InstanceFleetType: kind, TargetOnDemandCapacity: aws.Int32(1)}
	for i := range n {
		f.InstanceTypeConfigs = append(f.InstanceTypeConfigs, types.InstanceTypeConfig{InstanceType: aws.String(fmt.Sprintf("m%d.xlarge", i))})
	}
	if strategy {
		f.LaunchSpecifications = &types.InstanceFleetProvisioningSpecifications{OnDemandSpecification: &types.OnDemandProvisioningSpecification{
			AllocationStrategy: types.OnDemandProvisioningAllocationStrategyLowestPrice,
		}}
	}
	return f
}

// One fleet may name more types only if all have a strategy, those that are there already
// among them.
func TestTypesOfFleets(t *testing.T) {
	c := newCloud(t)
	start := func(masterStrategy bool, coreTypes int) (string, error) {
		request := emrapitest.JobFlow()
		request.Instances.InstanceGroups = nil
		request.Instances.InstanceFleets = []types.InstanceFleetConfig{
			fleet(types.InstanceFleetTypeMaster, 1, masterStrategy), fleet(types.InstanceFleetTypeCore, coreTypes, true),
		}
		answer, err := c.client.RunJobFlow(t.Context(), &request)
		if err != nil {
			return "", err
		}
		return *answer.JobFlowId, nil
	}
	_, err := start(true, 30)
	require.NoError(t, err)
	_, err = start(true, 31)
	require.ErrorContains(t, err, "InstanceFleets[1].InstanceTypeConfigs: 31 types: must be 1 to 30")
	_, err = start(false, 6)
	require.ErrorContains(t, err, "InstanceFleets[1].InstanceTypeConfigs: 6 types: must be 1 to 5")

	for _, masterStrategy := range []bool{true, false} {
		id, err := start(masterStrategy, 1)
		require.NoError(t, err)
		c.awaitState(t, id, types.ClusterStateWaiting)
		task := fleet(types.InstanceFleetTypeTask, 6, true)
		_, err = c.client.AddInstanceFleet(t.Context(), &emr.AddInstanceFleetInput{ClusterId: &id, InstanceFleet: &task})
		if masterStrategy {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, "InstanceFleet.InstanceTypeConfigs: 6 types: must be 1 to 5")
		}
	}
}

func TestCoreNodesOnDemandDoNotOutgrowTheLimit(t *testing.T) {
	c := newCloud(t)
	limits := &types.ComputeLimits{
		UnitType: types.ComputeLimitsUnitTypeInstances, MinimumCapacityUnits: aws.Int32(2), MaximumCapacityUnits: aws.Int32(26),
		MaximumOnDemandCapacityUnits: aws.Int32(12), MaximumCoreCapacityUnits: aws.Int32(15),
	}
	const refusal = "MaximumCoreCapacityUnits must be less than or equal to MaximumOnDemandCapacityUnits."
	start := func(bid *string) error {
		return c.run(t, func(r *emr.RunJobFlowInput) {
			r.ManagedScalingPolicy = &types.ManagedScalingPolicy{ComputeLimits: limits}
			r.Instances.InstanceGroups = append(r.Instances.InstanceGroups, types.InstanceGroupConfig{
				InstanceRole: types.InstanceRoleTypeCore, InstanceType: aws.String("m6g.xlarge"), InstanceCount: aws.Int32(2), BidPrice: bid,
			})
		})
	}
	require.ErrorContains(t, start(nil), refusal)
	require.NoError(t, start(aws.String("0.1")), "core nodes on spot")
	id, _ := c.runCluster(t)
	_, err := c.client.PutManagedScalingPolicy(t.Context(), &emr.PutManagedScalingPolicyInput{
		ClusterId: &id, ManagedScalingPolicy: &types.ManagedScalingPolicy{ComputeLimits: limits},
	})
	require.ErrorContains(t, err, refusal)
}
