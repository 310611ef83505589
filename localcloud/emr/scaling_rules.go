package emr

import (
	"errors"
	"math"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// ruleKey names a rule of a group's automatic scaling policy. The rule "" is the group
// itself.
type ruleKey struct{ cluster, group, rule string }

// scaleByRules applies the automatic scaling policies of groups: a rule whose condition
// has held for its periods changes the group's count, then no rule of the group does
// until the cool-down has passed.
func (s *Service) scaleByRules(id string, groups []types.InstanceGroup, metrics yarnMetrics) error {
	var errs []error
	for _, g := range groups {
		if g.AutoScalingPolicy == nil || g.Status.State != types.InstanceGroupStateRunning {
			continue
		}
		for _, rule := range g.AutoScalingPolicy.Rules {
			fires, err := s.ruleFires(id, g, rule, metrics)
			errs = append(errs, err)
			if !fires {
				continue
			}
			count := adjusted(aws.ToInt32(g.RequestedInstanceCount), rule.Action.SimpleScalingPolicyConfiguration, g.AutoScalingPolicy.Constraints)
			if count != int(aws.ToInt32(g.RequestedInstanceCount)) {
				errs = append(errs, s.Store.ResizeGroup(id, aws.ToString(g.Id), count))
			}
			break
		}
	}
	return errors.Join(errs...)
}

// ruleFires reports whether a rule changes its group now.
func (s *Service) ruleFires(id string, g types.InstanceGroup, rule types.ScalingRule, metrics yarnMetrics) (bool, error) {
	alarm := rule.Trigger.CloudWatchAlarmDefinition
	value, err := metrics.metricValue(aws.ToString(alarm.MetricName))
	if err != nil {
		return false, err
	}
	key, now := ruleKey{id, aws.ToString(g.Id), aws.ToString(rule.Name)}, s.Clock.Now()
	if !breaches(alarm.ComparisonOperator, value, aws.ToFloat64(alarm.Threshold)) {
		s.rules.Delete(key)
		return false, nil
	}
	holds, _ := s.rules.LoadOrStore(key, now)
	since, _ := holds.(time.Time)
	seconds := aws.ToInt32(alarm.Period) * max(aws.ToInt32(alarm.EvaluationPeriods), 1)
	group := ruleKey{cluster: id, group: aws.ToString(g.Id)}
	cools, _ := s.rules.Load(group)
	until, _ := cools.(time.Time)
	if now.Sub(since) < time.Duration(seconds)*time.Second || now.Before(until) {
		return false, nil
	}
	s.rules.Delete(key)
	s.rules.Store(group, now.Add(time.Duration(aws.ToInt32(rule.Action.SimpleScalingPolicyConfiguration.CoolDown))*time.Second))
	return true, nil
}

func breaches(operator types.ComparisonOperator, value, threshold float64) bool {
	switch operator {
	case types.ComparisonOperatorGreaterThan:
		return value > threshold
	case types.ComparisonOperatorGreaterThanOrEqual:
		return value >= threshold
	case types.ComparisonOperatorLessThan:
		return value < threshold
	case types.ComparisonOperatorLessThanOrEqual:
		return value <= threshold
	}
	return false
}

// adjusted returns a group's count after an action, within the policy's constraints.
func adjusted(count int32, action *types.SimpleScalingPolicyConfiguration, limits *types.ScalingConstraints) int {
	adjustment := aws.ToInt32(action.ScalingAdjustment)
	switch action.AdjustmentType {
	case types.AdjustmentTypeExactCapacity:
		count = adjustment
	case types.AdjustmentTypePercentChangeInCapacity:
		count += int32(math.Round(float64(count) * float64(adjustment) / 100))
	default:
		count += adjustment
	}
	return int(min(max(count, aws.ToInt32(limits.MinCapacity)), aws.ToInt32(limits.MaxCapacity)))
}
