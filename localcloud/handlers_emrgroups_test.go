package localcloud_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsemr "github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"
)

func TestTaskGroups(t *testing.T) {
	l := newLab(t)
	cluster := l.create(t, clusterType, clusterProps())
	props := map[string]any{
		"clusterId": cluster.id, "name": "task", "instanceType": "c6g.xlarge", "instanceCount": 2, "bidPrice": "0.10",
		"configurationsJson": `[{"Classification":"yarn-site","Properties":{"a":"b"}}]`,
		"ebsConfigs":         []any{map[string]any{"type": "gp3", "size": 32, "volumesPerInstance": 1}},
	}
	c := l.create(t, groupType, props)
	require.Regexp(t, `^ig-`, c.id)
	require.Equal(t, "RUNNING", c.plain("status"))
	require.Empty(t, c.refresh(t))
	resize := func(count int32) {
		_, err := l.api.ModifyInstanceGroups(t.Context(), &awsemr.ModifyInstanceGroupsInput{InstanceGroups: []types.InstanceGroupModifyConfig{
			{InstanceGroupId: &c.id, InstanceCount: &count},
		}})
		require.NoError(t, err)
	}
	resize(0)
	require.Equal(t, []string{"instanceCount"}, c.refresh(t))
	_, err := l.handlers[groupType].Update(t.Context(), l.request(groupType, c.id, c.inputs, c.state))
	require.NoError(t, err)
	require.Empty(t, c.refresh(t))
	require.NoError(t, l.handlers[groupType].Delete(t.Context(), l.request(groupType, c.id, c.inputs, c.state)))
	groups, err := l.api.ListInstanceGroups(t.Context(), &awsemr.ListInstanceGroupsInput{ClusterId: &cluster.id})
	require.NoError(t, err)
	require.Len(t, groups.InstanceGroups, 3, "a removed group stays")
	require.Zero(t, *groups.InstanceGroups[2].RequestedInstanceCount)
	require.Empty(t, cluster.refresh(t), "the cluster does not own it")
}

func TestFleetsAndManagedScaling(t *testing.T) {
	l, props := newLab(t), clusterProps()
	delete(props, "masterInstanceGroup")
	delete(props, "coreInstanceGroup")
	launch := map[string]any{
		"onDemandSpecifications": []any{map[string]any{"allocationStrategy": "lowest-price"}},
		"spotSpecifications": []any{map[string]any{
			"allocationStrategy": "capacity-optimized", "timeoutAction": "SWITCH_TO_ON_DEMAND", "timeoutDurationMinutes": 10,
		}},
	}
	fleet := func(onDemand, spot int) map[string]any {
		return map[string]any{
			"name": "fleet", "targetOnDemandCapacity": onDemand, "targetSpotCapacity": spot, "launchSpecifications": launch,
			"instanceTypeConfigs": []any{map[string]any{
				"instanceType": "m6g.xlarge", "weightedCapacity": 1, "bidPriceAsPercentageOfOnDemandPrice": 100,
				"ebsConfigs": []any{map[string]any{"type": "gp3", "size": 32, "volumesPerInstance": 1}},
			}},
		}
	}
	props["masterInstanceFleet"], props["coreInstanceFleet"] = fleet(1, 0), fleet(1, 2)
	cluster := l.create(t, clusterType, props)
	require.Empty(t, cluster.refresh(t))
	task := fleet(0, 4)
	task["clusterId"] = cluster.id
	c := l.create(t, fleetType, task)
	require.Empty(t, c.refresh(t))
	_, err := l.api.ModifyInstanceFleet(t.Context(), &awsemr.ModifyInstanceFleetInput{
		ClusterId: &cluster.id, InstanceFleet: &types.InstanceFleetModifyConfig{InstanceFleetId: &c.id, TargetSpotCapacity: aws.Int32(6)},
	})
	require.NoError(t, err)
	require.Equal(t, []string{"targetSpotCapacity"}, c.refresh(t))
	_, err = l.handlers[fleetType].Update(t.Context(), l.request(fleetType, c.id, c.inputs, c.state))
	require.NoError(t, err)
	require.Empty(t, c.refresh(t))

	limits := map[string]any{
		"unitType": "InstanceFleetUnits", "minimumCapacityUnits": 1, "maximumCapacityUnits": 8, "maximumCoreCapacityUnits": 2,
	}
	policy := l.create(t, policyType, map[string]any{"clusterId": cluster.id, "computeLimits": []any{limits}})
	require.Equal(t, cluster.id, policy.id, "it has no id of its own")
	require.Empty(t, policy.refresh(t))
	// Created before the old one is deleted, as Pulumi replaces: the deletion removes the
	// new policy.
	limits["maximumCapacityUnits"] = 10
	l.create(t, policyType, map[string]any{"clusterId": cluster.id, "computeLimits": []any{limits}})
	require.NoError(t, l.handlers[policyType].Delete(t.Context(), l.request(policyType, policy.id, policy.inputs, policy.state)))
	got, err := l.api.GetManagedScalingPolicy(t.Context(), &awsemr.GetManagedScalingPolicyInput{ClusterId: &cluster.id})
	require.NoError(t, err)
	require.Nil(t, got.ManagedScalingPolicy)

	require.NoError(t, l.handlers[fleetType].Delete(t.Context(), l.request(fleetType, c.id, c.inputs, c.state)))
	fleets, err := l.api.ListInstanceFleets(t.Context(), &awsemr.ListInstanceFleetsInput{ClusterId: &cluster.id})
	require.NoError(t, err)
	require.Zero(t, *fleets.InstanceFleets[2].TargetSpotCapacity)
}

// A cluster that has ended is gone for the engine, and so are its groups and policy.
func TestEndedClusterIsGone(t *testing.T) {
	l, props := newLab(t), clusterProps()
	props["terminationProtection"] = false
	cluster := l.create(t, clusterType, props)
	group := l.create(t, groupType, map[string]any{"clusterId": cluster.id, "instanceType": "c6g.xlarge"})
	require.NoError(t, l.handlers[clusterType].Delete(t.Context(), l.request(clusterType, cluster.id, cluster.inputs, cluster.state)))
	for _, c := range []*created{cluster, group} {
		_, exists, err := l.handlers[c.typ].Read(t.Context(), l.request(c.typ, c.id, c.inputs, c.state))
		require.NoError(t, err)
		require.False(t, exists, c.typ)
		require.NoError(t, l.handlers[c.typ].Delete(t.Context(), l.request(c.typ, c.id, c.inputs, c.state)), "again")
	}
	props["terminationProtection"] = true
	protected := l.create(t, clusterType, props)
	err := l.handlers[clusterType].Delete(t.Context(), l.request(clusterType, protected.id, protected.inputs, protected.state))
	require.ErrorContains(t, err, "is protected from termination")
}
