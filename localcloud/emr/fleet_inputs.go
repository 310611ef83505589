package emr

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// fleetInputs are the properties of an instance fleet: of a cluster's, and of
// aws:emr/instanceFleet:InstanceFleet.
type fleetInputs struct {
	ClusterID            string        `json:"clusterId"`
	Name                 *string       `json:"name"`
	OnDemand             int32         `json:"targetOnDemandCapacity"`
	Spot                 int32         `json:"targetSpotCapacity"`
	Types                []typeInputs  `json:"instanceTypeConfigs"`
	LaunchSpecifications *launchInputs `json:"launchSpecifications"`
}

type typeInputs struct {
	types.InstanceTypeConfig
	EBS []ebsInputs `json:"ebsConfigs"`
}

type launchInputs struct {
	OnDemand []types.OnDemandProvisioningSpecification `json:"onDemandSpecifications"`
	Spot     []types.SpotProvisioningSpecification     `json:"spotSpecifications"`
}

// config returns the fleet as the provider requests it.
func (f fleetInputs) config(kind types.InstanceFleetType) types.InstanceFleetConfig {
	config := types.InstanceFleetConfig{
		InstanceFleetType: kind, Name: f.Name, TargetOnDemandCapacity: &f.OnDemand, TargetSpotCapacity: &f.Spot,
	}
	for _, t := range f.Types {
		config.InstanceTypeConfigs = append(config.InstanceTypeConfigs, t.config())
	}
	if f.LaunchSpecifications == nil {
		return config
	}
	config.LaunchSpecifications = &types.InstanceFleetProvisioningSpecifications{}
	for _, o := range f.LaunchSpecifications.OnDemand {
		config.LaunchSpecifications.OnDemandSpecification = &o
	}
	for _, s := range f.LaunchSpecifications.Spot {
		config.LaunchSpecifications.SpotSpecification = &s
	}
	return config
}

// config returns a type of a fleet as the provider requests it: without its volumes if
// there are two entries, and with 100 percent unless a percentage is given, which it
// leaves out if that is 0 (terraform-provider-aws, expandInstanceTypeConfigs).
func (t typeInputs) config() types.InstanceTypeConfig {
	config := t.InstanceTypeConfig
	config.WeightedCapacity = aws.Int32(max(aws.ToInt32(t.WeightedCapacity), 1))
	if percentage := t.BidPriceAsPercentageOfOnDemandPrice; percentage == nil {
		config.BidPriceAsPercentageOfOnDemandPrice = aws.Float64(100)
	} else {
		config.BidPriceAsPercentageOfOnDemandPrice = optional(*percentage)
	}
	if len(t.EBS) == 1 {
		config.EbsConfiguration = &types.EbsConfiguration{EbsBlockDeviceConfigs: volumes(t.EBS)}
	}
	return config
}

// fleetProperties returns a fleet as a property. Its types lack their classifications:
// the provider does not read them back.
func fleetProperties(f *types.InstanceFleet) map[string]any {
	var offered []any
	for _, t := range f.InstanceTypeSpecifications {
		props := fields(t, "instanceType", "bidPrice", "weightedCapacity")
		props["bidPriceAsPercentageOfOnDemandPrice"] = aws.ToFloat64(t.BidPriceAsPercentageOfOnDemandPrice) // 0 beside a price
		props["ebsConfigs"] = ebsConfigs(t.EbsBlockDevices)
		offered = append(offered, dropNil(props))
	}
	props := fields(f, "id", "name", "targetOnDemandCapacity", "targetSpotCapacity", "provisionedOnDemandCapacity", "provisionedSpotCapacity")
	props["instanceTypeConfigs"], props["launchSpecifications"] = list(offered), launchProperties(f.LaunchSpecifications)
	return dropNil(props)
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
		spot := fields(s, "timeoutAction", "timeoutDurationMinutes", "blockDurationMinutes")
		spot["allocationStrategy"] = strategy(string(s.AllocationStrategy))
		props["spotSpecifications"] = []any{dropNil(spot)}
	}
	return props
}
