package emrapi

import (
	"cmp"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// checkManagedScaling reports every violation of a managed scaling policy (API
// reference, ComputeLimits). fleets says that the cluster has fleets, coreOnDemand that it
// has a core group on demand.
func (v *violations) checkManagedScaling(p *types.ManagedScalingPolicy, fleets, coreOnDemand bool) {
	const at = "ManagedScalingPolicy.ComputeLimits"
	l := p.ComputeLimits
	if l == nil {
		v.require(false, "%s: must be present", at)
		return
	}
	isFleetUnit := l.UnitType == types.ComputeLimitsUnitTypeInstanceFleetUnits
	v.require(l.UnitType != "", "%s.UnitType: must be one of %q", at, l.UnitType.Values())
	requireOneOf(v, at+".UnitType", l.UnitType, l.UnitType.Values())
	v.require(isFleetUnit == fleets,
		"%s.UnitType: %q: InstanceFleetUnits is for instance fleets, Instances and VCPU for instance groups", at, l.UnitType)
	least, most := aws.ToInt32(l.MinimumCapacityUnits), aws.ToInt32(l.MaximumCapacityUnits)
	v.require(l.MinimumCapacityUnits != nil && l.MaximumCapacityUnits != nil && least >= 1 && least <= most,
		"%s: minimum %d, maximum %d: both must be present, the minimum at least 1 and at most the maximum", at, least, most)
	core, onDemand := l.MaximumCoreCapacityUnits, l.MaximumOnDemandCapacityUnits
	v.require(core == nil || *core >= 1 && *core <= most, "%s.MaximumCoreCapacityUnits: %d: must be 1 to %d", at, aws.ToInt32(core), most)
	v.require(onDemand == nil || *onDemand >= 0 && *onDemand <= most,
		"%s.MaximumOnDemandCapacityUnits: %d: must be 0 to %d", at, aws.ToInt32(onDemand), most)
	// EMR's own words (boto3#3963).
	v.require(!coreOnDemand || core == nil || onDemand == nil || *core <= *onDemand, "Invalid configuration for managed scaling. "+
		"If you select On-Demand market type for core nodes in a cluster with instance groups, MaximumCoreCapacityUnits must be less "+
		"than or equal to MaximumOnDemandCapacityUnits.")
}

// isOnDemandCore reports whether a group is a core group on demand: without a market, a bid
// price makes it one of spot (API reference, InstanceGroupConfig).
func isOnDemandCore(role types.InstanceRoleType, market types.MarketType, bid *string) bool {
	onDemand := market == types.MarketTypeOnDemand || market == "" && bid == nil
	return role == types.InstanceRoleTypeCore && onDemand
}

// checkScalingPolicy reports every violation of an automatic scaling policy (API
// reference, AutoScalingPolicy and what it contains).
func (v *violations) checkScalingPolicy(at string, p *types.AutoScalingPolicy) {
	v.require(p.Constraints != nil && p.Constraints.MinCapacity != nil && p.Constraints.MaxCapacity != nil &&
		*p.Constraints.MinCapacity >= 0 && *p.Constraints.MinCapacity <= *p.Constraints.MaxCapacity,
		"%s.Constraints: needs MinCapacity and MaxCapacity, with the minimum at most the maximum", at)
	v.require(len(p.Rules) > 0, "%s.Rules: must have at least one rule", at)
	names := map[string]bool{}
	for n, r := range p.Rules {
		at, name := fmt.Sprintf("%s.Rules[%d]", at, n), aws.ToString(r.Name)
		v.require(name != "" && !names[name], "%s.Name: %q: must be present and unique in the policy", at, name)
		names[name] = true
		v.require(r.Action != nil && r.Action.SimpleScalingPolicyConfiguration != nil &&
			r.Action.SimpleScalingPolicyConfiguration.ScalingAdjustment != nil,
			"%s.Action.SimpleScalingPolicyConfiguration.ScalingAdjustment: must be present", at)
		var alarm *types.CloudWatchAlarmDefinition
		if r.Trigger != nil {
			alarm = r.Trigger.CloudWatchAlarmDefinition
		}
		v.require(alarm != nil && alarm.ComparisonOperator != "" && alarm.MetricName != nil && alarm.Period != nil && alarm.Threshold != nil,
			"%s.Trigger.CloudWatchAlarmDefinition: needs ComparisonOperator, MetricName, Period and Threshold", at)
	}
}

// describePolicy returns a scaling policy as EMR returns it: attached, with every
// default written (API reference, SimpleScalingPolicyConfiguration and
// CloudWatchAlarmDefinition).
func describePolicy(p *types.AutoScalingPolicy) *types.AutoScalingPolicyDescription {
	if p == nil {
		return nil
	}
	out := &types.AutoScalingPolicyDescription{
		Constraints: p.Constraints, Rules: p.Rules,
		Status: &types.AutoScalingPolicyStatus{
			State:             types.AutoScalingPolicyStateAttached,
			StateChangeReason: &types.AutoScalingPolicyStateChangeReason{Code: types.AutoScalingPolicyStateChangeReasonCodeUserRequest},
		},
	}
	for i := range out.Rules {
		rule := out.Rules[i]
		action, alarm := rule.Action.SimpleScalingPolicyConfiguration, rule.Trigger.CloudWatchAlarmDefinition
		action.AdjustmentType = cmp.Or(action.AdjustmentType, types.AdjustmentTypeChangeInCapacity)
		setDefault(&action.CoolDown, 0)
		setDefault(&alarm.EvaluationPeriods, 1)
		setDefault(&alarm.Namespace, "AWS/ElasticMapReduce")
		alarm.Statistic, alarm.Unit = cmp.Or(alarm.Statistic, types.StatisticAverage), cmp.Or(alarm.Unit, types.UnitNone)
		if len(alarm.Dimensions) == 0 {
			alarm.Dimensions = []types.MetricDimension{{Key: aws.String("JobFlowId"), Value: aws.String("${emr.clusterId}")}}
		}
	}
	return out
}

func setDefault[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}
