package emr

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsemr "github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
	"github.com/emr-observatory/emr-observatory/platform"
)

func TestManagedScalingSpreadsNodesWithinItsLimits(t *testing.T) {
	worker := func(role string, market types.MarketType, count int) pool {
		return pool{role: role, market: market, count: count}
	}
	onDemand, spot := types.MarketTypeOnDemand, types.MarketTypeSpot
	for name, c := range map[string]struct {
		limits  types.ComputeLimits
		workers []pool
		needed  int
		want    []int
	}{
		"core first": {
			types.ComputeLimits{MinimumCapacityUnits: aws.Int32(1), MaximumCapacityUnits: aws.Int32(9)},
			[]pool{worker(platform.RoleCore, onDemand, 1), worker(platform.RoleTask, spot, 1)}, 5, []int{4, 1},
		},
		"core at its maximum": {
			types.ComputeLimits{MinimumCapacityUnits: aws.Int32(1), MaximumCapacityUnits: aws.Int32(9), MaximumCoreCapacityUnits: aws.Int32(1)},
			[]pool{worker(platform.RoleCore, onDemand, 1), worker(platform.RoleTask, spot, 0)}, 5, []int{1, 4},
		},
		"on-demand at its maximum": {
			types.ComputeLimits{MinimumCapacityUnits: aws.Int32(1), MaximumCapacityUnits: aws.Int32(9), MaximumOnDemandCapacityUnits: aws.Int32(2)},
			[]pool{worker(platform.RoleCore, onDemand, 1), worker(platform.RoleTask, onDemand, 0), worker(platform.RoleTask, spot, 0)}, 6,
			[]int{2, 0, 4},
		},
		"task first, one core node stays": {
			types.ComputeLimits{MinimumCapacityUnits: aws.Int32(1), MaximumCapacityUnits: aws.Int32(9)},
			[]pool{worker(platform.RoleCore, onDemand, 3), worker(platform.RoleTask, spot, 4)}, 1, []int{1, 0},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []int
			for _, p := range newNodeLimits(&c.limits, c.workers).spread(c.workers, c.needed) {
				got = append(got, p.count)
			}
			require.Equal(t, c.want, got)
		})
	}
	l := newNodeLimits(&types.ComputeLimits{
		UnitType: types.ComputeLimitsUnitTypeVcpu, MinimumCapacityUnits: aws.Int32(5), MaximumCapacityUnits: aws.Int32(16),
	}, nil)
	require.Equal(t, []int{2, 4}, []int{l.least, l.most}, "virtual cores of nodes with %d each", nodeVCores)
}

// newScaled returns a service whose store has a running cluster of one core node and a
// task group at 1, and the id of both.
func newScaled(t *testing.T, change func(*awsemr.RunJobFlowInput)) (s *Service, cluster, task string) {
	t.Helper()
	store, err := emrapi.Open(t.TempDir())
	require.NoError(t, err)
	request := awsemr.RunJobFlowInput{
		Name: aws.String("test"), ReleaseLabel: aws.String("emr-7.10.0"), ServiceRole: aws.String("emr"), JobFlowRole: aws.String("nodes"),
		Instances: &types.JobFlowInstancesConfig{Ec2SubnetId: aws.String("subnet-1")},
	}
	for _, role := range []types.InstanceRoleType{types.InstanceRoleTypeMaster, types.InstanceRoleTypeCore, types.InstanceRoleTypeTask} {
		request.Instances.InstanceGroups = append(request.Instances.InstanceGroups, types.InstanceGroupConfig{
			InstanceRole: role, InstanceType: aws.String("m6g.xlarge"), InstanceCount: aws.Int32(1),
		})
	}
	change(&request)
	cluster, err = store.PutJobFlow(request)
	require.NoError(t, err)
	for _, state := range []types.ClusterState{types.ClusterStateBootstrapping, types.ClusterStateRunning} {
		require.NoError(t, store.SetClusterState(cluster, state, types.ClusterStateChangeReason{}))
	}
	s = &Service{Store: store, Clock: clocktest.NewFakePassiveClock(time.Now())}
	groups, err := store.InstanceGroups(cluster)
	require.NoError(t, err)
	return s, cluster, aws.ToString(groups[2].Id)
}

// requested returns the requested counts of the cluster's groups.
func requested(t *testing.T, s *Service, cluster string) []int {
	t.Helper()
	groups, err := s.Store.InstanceGroups(cluster)
	require.NoError(t, err)
	var counts []int
	for _, g := range groups {
		counts = append(counts, int(*g.RequestedInstanceCount))
	}
	return counts
}

func (s *Service) pass(d time.Duration) {
	clock, _ := s.Clock.(*clocktest.FakePassiveClock)
	clock.SetTime(clock.Now().Add(d))
}

func TestManagedScalingFollowsDemand(t *testing.T) {
	s, cluster, _ := newScaled(t, func(r *awsemr.RunJobFlowInput) {
		r.ManagedScalingPolicy = &types.ManagedScalingPolicy{ComputeLimits: &types.ComputeLimits{
			UnitType: types.ComputeLimitsUnitTypeInstances, MinimumCapacityUnits: aws.Int32(2), MaximumCapacityUnits: aws.Int32(4),
			MaximumCoreCapacityUnits: aws.Int32(1),
		}}
	})
	look := func(allocated, pending int) []int {
		policy, err := s.Store.ManagedScaling(cluster)
		require.NoError(t, err)
		pools, err := s.pools(cluster, "")
		require.NoError(t, err)
		require.NoError(t, s.scaleManaged(cluster, policy.ComputeLimits, pools, yarnMetrics{AllocatedMB: allocated, PendingMB: pending}))
		return requested(t, s, cluster)
	}
	require.Equal(t, []int{1, 1, 1}, look(2*nodeMemoryMB, 0))
	require.Equal(t, []int{1, 1, 2}, look(2*nodeMemoryMB, 1), "one more MB needs one more node")
	require.Equal(t, []int{1, 1, 3}, look(2*nodeMemoryMB, 100*nodeMemoryMB), "the maximum")
	require.Equal(t, []int{1, 1, 3}, look(0, 0), "it shrinks later")
	s.pass(scaleInDelay - time.Second)
	require.Equal(t, []int{1, 1, 3}, look(0, 0))
	require.Equal(t, []int{1, 1, 3}, look(4*nodeMemoryMB, 0), "demand restarts the delay")
	require.Equal(t, []int{1, 1, 3}, look(0, 0))
	s.pass(scaleInDelay)
	require.Equal(t, []int{1, 1, 1}, look(0, 0), "the minimum")
}

func TestAutomaticScalingFollowsItsRules(t *testing.T) {
	rule := func(name string, operator types.ComparisonOperator, threshold float64, adjustment int32) types.ScalingRule {
		return types.ScalingRule{
			Name: &name,
			Action: &types.ScalingAction{SimpleScalingPolicyConfiguration: &types.SimpleScalingPolicyConfiguration{
				ScalingAdjustment: &adjustment, CoolDown: aws.Int32(600),
			}},
			Trigger: &types.ScalingTrigger{CloudWatchAlarmDefinition: &types.CloudWatchAlarmDefinition{
				ComparisonOperator: operator, MetricName: aws.String("YARNMemoryAvailablePercentage"), Period: aws.Int32(300), Threshold: &threshold,
			}},
		}
	}
	s, cluster, _ := newScaled(t, func(r *awsemr.RunJobFlowInput) {
		r.AutoScalingRole = aws.String("scaling")
		r.Instances.InstanceGroups[2].AutoScalingPolicy = &types.AutoScalingPolicy{
			Constraints: &types.ScalingConstraints{MinCapacity: aws.Int32(0), MaxCapacity: aws.Int32(3)},
			Rules: []types.ScalingRule{
				rule("out", types.ComparisonOperatorLessThan, 15, 2), rule("in", types.ComparisonOperatorGreaterThan, 75, -1),
			},
		}
	})
	look := func(available int) []int {
		groups, err := s.Store.InstanceGroups(cluster)
		require.NoError(t, err)
		for i := range groups { // as after their resizing
			groups[i].Status.State = types.InstanceGroupStateRunning
		}
		require.NoError(t, s.scaleByRules(cluster, groups, yarnMetrics{AvailableMB: available, TotalMB: 100}))
		return requested(t, s, cluster)
	}
	require.Equal(t, []int{1, 1, 1}, look(10), "the period begins")
	s.pass(300 * time.Second)
	require.Equal(t, []int{1, 1, 3}, look(10))
	require.Equal(t, []int{1, 1, 3}, look(90))
	s.pass(300 * time.Second)
	require.Equal(t, []int{1, 1, 3}, look(90), "it cools down")
	s.pass(300 * time.Second)
	require.Equal(t, []int{1, 1, 2}, look(90))
	require.Equal(t, []int{1, 1, 2}, look(50), "between the thresholds")
}
