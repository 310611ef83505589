package emr

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// fleetInputs are the properties of an instance fleet: of a cluster's, and of
// aws:emr/instanceFleet:InstanceFleet.
type fleetInputs struct {
	ClusterID string        `json:"clusterId"`
	Name      string        `json:"name"`
	OnDemand  int32         `json:"targetOnDemandCapacity"`
	Spot      int32         `json:"targetSpotCapacity"`
	Types     []typeInputs  `json:"instanceTypeConfigs"`
	Launch    *launchInputs `json:"launchSpecifications"`
}

type typeInputs struct {
	InstanceType   string                 `json:"instanceType"`
	BidPrice       string                 `json:"bidPrice"`
	BidPercentage  *float64               `json:"bidPriceAsPercentageOfOnDemandPrice"`
	Weight         int32                  `json:"weightedCapacity"`
	EBS            []ebsInputs            `json:"ebsConfigs"`
	Configurations []classificationInputs `json:"configurations"`
}

type classificationInputs struct {
	Classification string            `json:"classification"`
	Properties     map[string]string `json:"properties"`
}

type launchInputs struct {
	OnDemand []struct {
		Strategy string `json:"allocationStrategy"`
	} `json:"onDemandSpecifications"`
	Spot []struct {
		Strategy string `json:"allocationStrategy"`
		Block    int32  `json:"blockDurationMinutes"`
		Action   string `json:"timeoutAction"`
		Timeout  int32  `json:"timeoutDurationMinutes"`
	} `json:"spotSpecifications"`
}

// config returns the fleet as the provider requests it.
func (f fleetInputs) config(kind types.InstanceFleetType) types.InstanceFleetConfig {
	config := types.InstanceFleetConfig{
		InstanceFleetType: kind, Name: optional(f.Name), TargetOnDemandCapacity: &f.OnDemand, TargetSpotCapacity: &f.Spot,
	}
	for _, t := range f.Types {
		config.InstanceTypeConfigs = append(config.InstanceTypeConfigs, t.config())
	}
	if f.Launch == nil {
		return config
	}
	config.LaunchSpecifications = &types.InstanceFleetProvisioningSpecifications{}
	for _, o := range f.Launch.OnDemand {
		config.LaunchSpecifications.OnDemandSpecification = &types.OnDemandProvisioningSpecification{
			AllocationStrategy: types.OnDemandProvisioningAllocationStrategy(o.Strategy),
		}
	}
	for _, s := range f.Launch.Spot {
		config.LaunchSpecifications.SpotSpecification = &types.SpotProvisioningSpecification{
			AllocationStrategy: types.SpotProvisioningAllocationStrategy(s.Strategy), BlockDurationMinutes: optional(s.Block),
			TimeoutAction: types.SpotProvisioningTimeoutAction(s.Action), TimeoutDurationMinutes: &s.Timeout,
		}
	}
	return config
}

// config returns a type of a fleet as the provider requests it: without its volumes if
// there are two entries, and with 100 percent unless a percentage is given, which it
// leaves out if that is 0 (terraform-provider-aws, expandInstanceTypeConfigs).
func (t typeInputs) config() types.InstanceTypeConfig {
	config := types.InstanceTypeConfig{
		InstanceType: &t.InstanceType, BidPrice: optional(t.BidPrice), WeightedCapacity: aws.Int32(max(t.Weight, 1)),
		BidPriceAsPercentageOfOnDemandPrice: aws.Float64(100),
	}
	if t.BidPercentage != nil {
		config.BidPriceAsPercentageOfOnDemandPrice = optional(*t.BidPercentage)
	}
	if len(t.EBS) == 1 {
		config.EbsConfiguration = &types.EbsConfiguration{EbsBlockDeviceConfigs: volumes(t.EBS)}
	}
	for _, c := range t.Configurations {
		config.Configurations = append(config.Configurations, types.Configuration{Classification: &c.Classification, Properties: c.Properties})
	}
	return config
}

// fleetProperties returns a fleet as a property. Its types lack their classifications:
// the provider does not read them back.
func fleetProperties(f *types.InstanceFleet) map[string]any {
	var offered []any
	for _, t := range f.InstanceTypeSpecifications {
		props := map[string]any{
			"instanceType": text(t.InstanceType), "bidPrice": text(t.BidPrice), "weightedCapacity": number(t.WeightedCapacity),
			"bidPriceAsPercentageOfOnDemandPrice": aws.ToFloat64(t.BidPriceAsPercentageOfOnDemandPrice), // 0 beside a price
			"ebsConfigs":                          ebsConfigs(t.EbsBlockDevices),
		}
		dropNil(props)
		offered = append(offered, props)
	}
	props := map[string]any{
		"id": text(f.Id), "name": text(f.Name), "instanceTypeConfigs": list(offered),
		"launchSpecifications":   launchProperties(f.LaunchSpecifications),
		"targetOnDemandCapacity": number(f.TargetOnDemandCapacity), "targetSpotCapacity": number(f.TargetSpotCapacity),
		"provisionedOnDemandCapacity": number(f.ProvisionedOnDemandCapacity), "provisionedSpotCapacity": number(f.ProvisionedSpotCapacity),
	}
	dropNil(props)
	return props
}

// launchProperties returns a fleet's launch specifications. EMR returns strategies in
// capitals with underscores, which the provider reverses.
func launchProperties(l *types.InstanceFleetProvisioningSpecifications) any {
	if l == nil {
		return nil
	}
	strategy := func(s string) string { return strings.ReplaceAll(strings.ToLower(s), "_", "-") }
	props := map[string]any{}
	if o := l.OnDemandSpecification; o != nil {
		props["onDemandSpecifications"] = []any{map[string]any{"allocationStrategy": strategy(string(o.AllocationStrategy))}}
	}
	if s := l.SpotSpecification; s != nil {
		spot := map[string]any{
			"allocationStrategy": strategy(string(s.AllocationStrategy)), "timeoutAction": string(s.TimeoutAction),
			"timeoutDurationMinutes": number(s.TimeoutDurationMinutes), "blockDurationMinutes": number(s.BlockDurationMinutes),
		}
		dropNil(spot)
		props["spotSpecifications"] = []any{spot}
	}
	return props
}
