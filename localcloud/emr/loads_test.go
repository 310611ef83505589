package emr

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsemr "github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// What the loads of these tests run on.
const (
	bootMinutes   = 6    // from the request of a node to its first container
	metricMinutes = 5    // EMR sends its metrics at this interval
	containerMB   = 4096 // of each container
	groupNodeMB   = 24576
	fixedMB       = 6 * groupNodeMB // of nodes that no rule changes
)

// scaledPreset is what a preset says about scaling.
type scaledPreset struct {
	Cluster struct {
		Tasks map[string]struct {
			AutoScaling *struct {
				Min, Max int32
				Rules    []presetRule
			}
		}
		ManagedScaling *struct{ Min, Max, MaxCore, MaxOnDemand int32 }
	}
}

type presetRule struct {
	Name, Metric, Comparison                       string
	Threshold                                      float64
	Adjustment, EvaluationPeriods, CoolDownSeconds int32
	PeriodSeconds                                  int32
}

func (r presetRule) rule() types.ScalingRule {
	period := r.PeriodSeconds
	if period == 0 {
		period = 300
	}
	return types.ScalingRule{
		Name: &r.Name,
		Action: &types.ScalingAction{SimpleScalingPolicyConfiguration: &types.SimpleScalingPolicyConfiguration{
			ScalingAdjustment: &r.Adjustment, CoolDown: &r.CoolDownSeconds,
		}},
		Trigger: &types.ScalingTrigger{CloudWatchAlarmDefinition: &types.CloudWatchAlarmDefinition{
			ComparisonOperator: types.ComparisonOperator(r.Comparison), MetricName: &r.Metric, Period: &period, Threshold: &r.Threshold,
			EvaluationPeriods: &r.EvaluationPeriods,
		}},
	}
}

// readPresets returns the presets that scale, by name.
func readPresets(t *testing.T) map[string]scaledPreset {
	t.Helper()
	files, err := filepath.Glob("../../schema/presets/*.yaml")
	require.NoError(t, err)
	out := map[string]scaledPreset{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		text, err = yaml.YAMLToJSON(text)
		require.NoError(t, err)
		var p scaledPreset
		require.NoError(t, json.Unmarshal(text, &p), file)
		scales := p.Cluster.ManagedScaling != nil
		for _, g := range p.Cluster.Tasks {
			scales = scales || g.AutoScaling != nil
		}
		if scales {
			out[filepath.Base(file)] = p
		}
	}
	require.Len(t, out, 5, "data-engineering, data-lake, machine-learning, streaming, transient")
	return out
}

// loads are demands for memory, in MB by the minute of ten days that end without work.
func loads() map[string]func(minute int) int {
	const hour, day = 60, 24 * 60
	ends := func(load func(int) int) func(int) int {
		return func(minute int) int {
			if minute > 9*day {
				return 0
			}
			return load(minute)
		}
	}
	return map[string]func(int) int{
		"steady": ends(func(int) int { return fixedMB + 6*groupNodeMB }),
		"square": ends(func(m int) int { return m / (6 * hour) % 2 * (fixedMB + 12*groupNodeMB) }),
		"ramp":   ends(func(m int) int { return m % day * (fixedMB + 40*groupNodeMB) / day }),
		"weekend": ends(func(m int) int {
			if m/day%7 >= 5 {
				return 0
			}
			return fixedMB + 8*groupNodeMB
		}),
	}
}

// result is how a group followed a load.
type result struct {
	least, most, last int
	waited            int // the longest time that containers waited while the group was below its most, in minutes
}

// follow runs a load over the rules of a group with the service's own evaluator: nodes take
// time to boot, metrics are late, the clock is the test's.
func follow(t *testing.T, s *Service, cluster string, limit int, load func(int) int, decide func(yarnMetrics)) result {
	t.Helper()
	const minutes = 10 * 24 * 60
	group := func() int { return requested(t, s, cluster)[2] }
	count := group()
	var boots []int // when nodes that boot are there
	out := result{least: count, most: count}
	waits := 0
	for minute := range minutes {
		s.pass(time.Minute)
		for len(boots) > 0 && boots[0] <= minute {
			boots = boots[1:]
		}
		capacity := fixedMB + (count-len(boots))*groupNodeMB
		demand := load(minute)
		allocated := min(demand, capacity)
		waits++
		if demand <= capacity || count >= limit {
			waits = 0
		}
		out.waited = max(out.waited, waits)
		if minute%metricMinutes != 0 {
			continue // nothing new to decide by
		}
		decide(yarnMetrics{
			AllocatedMB: allocated, PendingMB: demand - allocated, AvailableMB: capacity - allocated, TotalMB: capacity,
			ContainersAllocated: allocated / containerMB, ContainersPending: (demand - allocated) / containerMB,
		})
		next := group()
		for range max(0, next-count) {
			boots = append(boots, minute+bootMinutes)
		}
		boots = boots[:min(len(boots), next)]
		count = next
		out.least, out.most = min(out.least, count), max(out.most, count)
	}
	out.last = count
	return out
}

// byRules returns a service with a group that rules scale, and what has it decide.
func byRules(t *testing.T, least, most int32, rules []presetRule) (*Service, string, func(yarnMetrics)) {
	t.Helper()
	s, cluster, _ := newScaled(t, func(r *awsemr.RunJobFlowInput) {
		r.AutoScalingRole = aws.String("scaling")
		policy := &types.AutoScalingPolicy{Constraints: &types.ScalingConstraints{MinCapacity: &least, MaxCapacity: &most}}
		for _, rule := range rules {
			policy.Rules = append(policy.Rules, rule.rule())
		}
		r.Instances.InstanceGroups[2].AutoScalingPolicy, r.Instances.InstanceGroups[2].InstanceCount = policy, &least
	})
	return s, cluster, func(metrics yarnMetrics) {
		groups, err := s.Store.InstanceGroups(cluster)
		require.NoError(t, err)
		for i := range groups { // as after their resizing
			groups[i].Status.State = types.InstanceGroupStateRunning
		}
		_ = s.scaleByRules(cluster, groups, metrics) // an unknown metric decides nothing
	}
}

// Groups that presets scale stay within their limits, follow every load, and are at their
// least again when it has ended.
func TestPresetsFollowLoads(t *testing.T) {
	for name, p := range readPresets(t) {
		for key, g := range p.Cluster.Tasks {
			if g.AutoScaling == nil {
				continue
			}
			for shape, load := range loads() {
				t.Run(name+"/"+key+"/"+shape, func(t *testing.T) {
					least, most := g.AutoScaling.Min, g.AutoScaling.Max
					s, cluster, decide := byRules(t, least, most, g.AutoScaling.Rules)
					r := follow(t, s, cluster, int(most), load, decide)
					require.GreaterOrEqual(t, r.least, int(least))
					require.LessOrEqual(t, r.most, int(most))
					require.EqualValues(t, least, r.last, "the load has ended a day ago")
					require.Greater(t, r.most, int(least), "it grew")
					require.Less(t, r.waited, 120, "minutes that containers waited for memory")
				})
			}
		}
	}
}

// Managed scaling is EMR's own; the presets' limits hold.
func TestManagedPresetsFollowLoads(t *testing.T) {
	for name, p := range readPresets(t) {
		m := p.Cluster.ManagedScaling
		if m == nil {
			continue
		}
		for shape, load := range loads() {
			t.Run(name+"/"+shape, func(t *testing.T) {
				s, cluster, _ := newScaled(t, func(r *awsemr.RunJobFlowInput) {
					r.Instances.InstanceGroups[1].InstanceCount = aws.Int32(m.MaxCore)
					if m.MaxOnDemand < m.Max {
						r.Instances.InstanceGroups[2].Market, r.Instances.InstanceGroups[2].BidPrice = types.MarketTypeSpot, aws.String("0.1")
					}
					r.ManagedScalingPolicy = &types.ManagedScalingPolicy{ComputeLimits: &types.ComputeLimits{
						UnitType: types.ComputeLimitsUnitTypeInstances, MinimumCapacityUnits: &m.Min, MaximumCapacityUnits: &m.Max,
						MaximumCoreCapacityUnits: &m.MaxCore, MaximumOnDemandCapacityUnits: &m.MaxOnDemand,
					}}
				})
				limit := int(m.Max - m.MaxCore)
				r := follow(t, s, cluster, limit, load, func(metrics yarnMetrics) {
					policy, err := s.Store.ManagedScaling(cluster)
					require.NoError(t, err)
					pools, err := s.pools(cluster, "")
					require.NoError(t, err)
					require.NoError(t, s.scaleManaged(cluster, policy.ComputeLimits, pools, metrics))
					require.LessOrEqual(t, requested(t, s, cluster)[1], int(m.MaxCore))
				})
				require.LessOrEqual(t, r.most, limit)
				require.LessOrEqual(t, r.last, int(m.Min), "the load has ended a day ago")
			})
		}
	}
}

// The rules of the user's document do not: the group of its data lake lets containers wait,
// and stays large without work; that of its streams never grows.
func TestTheDocumentsRulesDoNotFollowLoads(t *testing.T) {
	lake := []presetRule{
		{Name: "ScaleOutOnContainerPending", Metric: "ContainerPendingRatio", Comparison: "GREATER_THAN", Threshold: 0.3, Adjustment: 4,
			EvaluationPeriods: 2, CoolDownSeconds: 300},
		{Name: "ScaleInOnLowUtilization", Metric: "YARNMemoryAvailablePercentage", Comparison: "LESS_THAN", Threshold: 80, Adjustment: -2,
			EvaluationPeriods: 3, PeriodSeconds: 600, CoolDownSeconds: 600},
	}
	s, cluster, decide := byRules(t, 4, 50, lake)
	r := follow(t, s, cluster, 50, loads()["steady"], decide)
	require.GreaterOrEqual(t, r.waited, 120, "containers wait: the ratio stays below 0.3")
	r = follow(t, s, cluster, 50, loads()["square"], decide)
	require.Greater(t, r.last, 4, "without work no memory is used, so that nothing shrinks the group")

	streams := []presetRule{{Name: "ScaleOnStreamingLag", Metric: "StreamingBatchProcessingTime", Comparison: "GREATER_THAN", Threshold: 30,
		Adjustment: 2, EvaluationPeriods: 2, PeriodSeconds: 60, CoolDownSeconds: 180}}
	s, cluster, decide = byRules(t, 4, 32, streams)
	r = follow(t, s, cluster, 32, loads()["steady"], decide)
	require.Equal(t, 4, r.most)
	require.GreaterOrEqual(t, r.waited, 120)
}
