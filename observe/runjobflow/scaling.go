package runjobflow

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
)

// scalingPolicy renders the rules of a group, nil if it has none.
func scalingPolicy(a *schema.AutoScaling) *types.AutoScalingPolicy {
	if a == nil {
		return nil
	}
	out := &types.AutoScalingPolicy{Constraints: &types.ScalingConstraints{
		MinCapacity: aws.Int32(int32(a.Min)), MaxCapacity: aws.Int32(int32(a.Max)),
	}}
	for _, r := range a.Rules {
		out.Rules = append(out.Rules, types.ScalingRule{
			Name: aws.String(r.Name), Description: optional(r.Description),
			Action: &types.ScalingAction{SimpleScalingPolicyConfiguration: &types.SimpleScalingPolicyConfiguration{
				AdjustmentType: types.AdjustmentType(r.AdjustmentType), ScalingAdjustment: aws.Int32(int32(r.Adjustment)),
				CoolDown: aws.Int32(int32(r.CoolDownSeconds)),
			}},
			Trigger: &types.ScalingTrigger{CloudWatchAlarmDefinition: &types.CloudWatchAlarmDefinition{
				ComparisonOperator: types.ComparisonOperator(r.Comparison), EvaluationPeriods: aws.Int32(int32(r.EvaluationPeriods)),
				MetricName: aws.String(r.Metric), Namespace: aws.String("AWS/ElasticMapReduce"), Period: aws.Int32(int32(r.PeriodSeconds)),
				Statistic: types.Statistic(r.Statistic), Threshold: aws.Float64(r.Threshold), Unit: types.Unit(r.Unit()),
			}},
		})
	}
	return out
}

func fleets(f schema.Fleets) []types.InstanceFleetConfig {
	out := []types.InstanceFleetConfig{fleet(platform.RoleMaster, types.InstanceFleetTypeMaster, f.Master)}
	if f.Core != nil {
		out = append(out, fleet(platform.RoleCore, types.InstanceFleetTypeCore, *f.Core))
	}
	if f.Task != nil {
		out = append(out, fleet(platform.RoleTask, types.InstanceFleetTypeTask, *f.Task))
	}
	return out
}

func fleet(name string, role types.InstanceFleetType, f schema.Fleet) types.InstanceFleetConfig {
	out := types.InstanceFleetConfig{
		Name: aws.String(name), InstanceFleetType: role, TargetOnDemandCapacity: aws.Int32(int32(f.OnDemand)),
		TargetSpotCapacity: aws.Int32(int32(f.Spot)),
	}
	for _, t := range f.Types {
		config := types.InstanceTypeConfig{
			InstanceType: aws.String(t.InstanceType), WeightedCapacity: aws.Int32(int32(t.Weight)), BidPrice: optional(t.BidPrice),
			EbsConfiguration: volumes(t.EBS),
		}
		if t.BidPercent > 0 {
			config.BidPriceAsPercentageOfOnDemandPrice = aws.Float64(float64(t.BidPercent))
		}
		out.InstanceTypeConfigs = append(out.InstanceTypeConfigs, config)
	}
	specifications := &types.InstanceFleetProvisioningSpecifications{}
	if f.OnDemand > 0 && f.OnDemandStrategy != "" {
		specifications.OnDemandSpecification = &types.OnDemandProvisioningSpecification{
			AllocationStrategy: types.OnDemandProvisioningAllocationStrategy(f.OnDemandStrategy),
		}
		out.LaunchSpecifications = specifications
	}
	if f.Spot > 0 && f.SpotStrategy != "" {
		specifications.SpotSpecification = &types.SpotProvisioningSpecification{
			AllocationStrategy:     types.SpotProvisioningAllocationStrategy(f.SpotStrategy),
			TimeoutAction:          types.SpotProvisioningTimeoutAction(f.SpotTimeoutAction),
			TimeoutDurationMinutes: aws.Int32(int32(f.SpotTimeoutMinutes)),
		}
		out.LaunchSpecifications = specifications
	}
	return out
}
