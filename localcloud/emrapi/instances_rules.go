package emrapi

import (
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/simulator/emrlimits"
)

// checkInstances reports every violation of a request's groups or fleets.
func (v *violations) checkInstances(i *types.JobFlowInstancesConfig) {
	v.require(len(subnetIDs(i)) > 0, "Instances.Ec2SubnetId: must name a subnet: this account has no default VPC")
	v.require(i.Ec2SubnetId == nil || len(i.Ec2SubnetIds) == 0, "Instances: Ec2SubnetId and Ec2SubnetIds exclude each other")
	switch groups, fleets := len(i.InstanceGroups), len(i.InstanceFleets); {
	case groups > 0 && fleets > 0:
		v.require(false, "Instances: Instance fleets and instance groups are mutually exclusive.")
	case fleets > 0:
		v.checkFleets(i.InstanceFleets)
	default:
		v.require(len(i.Ec2SubnetIds) <= 1, "Instances.Ec2SubnetIds: %d subnets: instance groups take one", len(i.Ec2SubnetIds))
		v.checkGroups(i.InstanceGroups)
	}
}

func (v *violations) checkGroups(groups []types.InstanceGroupConfig) {
	count := map[types.InstanceRoleType]int{}
	for n, g := range groups {
		count[g.InstanceRole]++
		v.checkGroup(fmt.Sprintf("Instances.InstanceGroups[%d]", n), g)
	}
	v.require(count[types.InstanceRoleTypeMaster] == 1,
		"Instances.InstanceGroups: Invalid instance group configuration, there must be exactly one master instance group, not %d",
		count[types.InstanceRoleTypeMaster])
	v.require(count[types.InstanceRoleTypeCore] <= 1,
		"Instances.InstanceGroups: %d core groups: at most one", count[types.InstanceRoleTypeCore])
	v.require(count[types.InstanceRoleTypeTask] <= maxTaskGroups,
		"Instances.InstanceGroups: %d task groups: at most %d", count[types.InstanceRoleTypeTask], maxTaskGroups)
	v.require(count[types.InstanceRoleTypeTask] == 0 || count[types.InstanceRoleTypeCore] == 1,
		"Instances.InstanceGroups: Task instance groups cannot be added without a core instance group")
}

// checkGroup reports every violation of one instance group.
func (v *violations) checkGroup(at string, g types.InstanceGroupConfig) {
	v.require(g.InstanceRole != "" && slices.Contains(g.InstanceRole.Values(), g.InstanceRole),
		"%s.InstanceRole: %q: must be one of %q", at, g.InstanceRole, g.InstanceRole.Values())
	v.require(aws.ToString(g.InstanceType) != "", "%s.InstanceType: must not be empty", at)
	count := aws.ToInt32(g.InstanceCount)
	switch g.InstanceRole {
	case types.InstanceRoleTypeMaster:
		// EMR also takes 3; the local cloud runs one ResourceManager and one NameNode.
		v.require(count == 1, "%s.InstanceCount: %d: must be 1: the local cloud runs one primary node", at, count)
	case types.InstanceRoleTypeCore:
		v.require(count >= 1, "%s.InstanceCount: %d: must be at least 1 for a core group", at, count)
	case types.InstanceRoleTypeTask:
		v.require(count >= 0, "%s.InstanceCount: %d: must not be negative", at, count)
	}
	requireOneOf(v, at+".Market", g.Market, g.Market.Values())
	v.require(g.BidPrice == nil || g.Market != types.MarketTypeOnDemand,
		"%s.BidPrice: %s: only with Market SPOT", at, aws.ToString(g.BidPrice))
	v.checkVolumes(at+".EbsConfiguration", g.EbsConfiguration)
	v.checkConfigurations(at+".Configurations", g.Configurations)
	if g.AutoScalingPolicy != nil {
		v.checkScalingPolicy(at+".AutoScalingPolicy", g.AutoScalingPolicy)
	}
}

func (v *violations) checkFleets(fleets []types.InstanceFleetConfig) {
	count := map[types.InstanceFleetType]int{}
	var all []emrlimits.Fleet
	for _, f := range fleets {
		all = append(all, strategies(f.TargetOnDemandCapacity, f.TargetSpotCapacity, f.LaunchSpecifications))
	}
	for n, f := range fleets {
		count[f.InstanceFleetType]++
		v.checkFleet(fmt.Sprintf("Instances.InstanceFleets[%d]", n), f, emrlimits.MaxTypesOf(all...))
	}
	v.require(count[types.InstanceFleetTypeMaster] == 1,
		"Instances.InstanceFleets: %d master fleets: there must be exactly one", count[types.InstanceFleetTypeMaster])
	for _, kind := range []types.InstanceFleetType{types.InstanceFleetTypeCore, types.InstanceFleetTypeTask} {
		v.require(count[kind] <= 1, "Instances.InstanceFleets: %d %s fleets: at most one", count[kind], kind)
	}
}

// strategies says where a fleet has targets, and allocation strategies.
func strategies(onDemand, spot *int32, l *types.InstanceFleetProvisioningSpecifications) emrlimits.Fleet {
	out := emrlimits.Fleet{OnDemand: int(aws.ToInt32(onDemand)), Spot: int(aws.ToInt32(spot))}
	if l != nil {
		out.OnDemandStrategy = l.OnDemandSpecification != nil && l.OnDemandSpecification.AllocationStrategy != ""
		out.SpotStrategy = l.SpotSpecification != nil && l.SpotSpecification.AllocationStrategy != ""
	}
	return out
}

// checkFleet reports every violation of one instance fleet, which may name limit types.
func (v *violations) checkFleet(at string, f types.InstanceFleetConfig, limit int) {
	v.require(f.InstanceFleetType != "" && slices.Contains(f.InstanceFleetType.Values(), f.InstanceFleetType),
		"%s.InstanceFleetType: %q: must be one of %q", at, f.InstanceFleetType, f.InstanceFleetType.Values())
	onDemand, spot := aws.ToInt32(f.TargetOnDemandCapacity), aws.ToInt32(f.TargetSpotCapacity)
	v.require(onDemand >= 0 && spot >= 0, "%s: target capacities %d and %d: must not be negative", at, onDemand, spot)
	switch f.InstanceFleetType {
	case types.InstanceFleetTypeMaster:
		v.require(onDemand+spot == 1, "%s: target capacities %d and %d: must be 1 in all: the local cloud runs one primary node",
			at, onDemand, spot)
	case types.InstanceFleetTypeCore:
		v.require(onDemand+spot >= 1, "%s: target capacities %d and %d: must be at least 1 in all", at, onDemand, spot)
	}
	offered := len(f.InstanceTypeConfigs)
	v.require(offered >= 1 && offered <= limit, "%s.InstanceTypeConfigs: %d types: must be 1 to %d", at, offered, limit)
	for n, t := range f.InstanceTypeConfigs {
		v.checkFleetType(fmt.Sprintf("%s.InstanceTypeConfigs[%d]", at, n), f.InstanceFleetType, t)
	}
}

func (v *violations) checkFleetType(at string, fleet types.InstanceFleetType, t types.InstanceTypeConfig) {
	v.require(aws.ToString(t.InstanceType) != "", "%s.InstanceType: must not be empty", at)
	weight := aws.ToInt32(t.WeightedCapacity)
	v.require(t.WeightedCapacity == nil || weight >= 1 && (weight == 1 || fleet != types.InstanceFleetTypeMaster),
		"%s.WeightedCapacity: %d: must be at least 1, and 1 in a master fleet", at, weight)
	v.require(t.BidPrice == nil || t.BidPriceAsPercentageOfOnDemandPrice == nil,
		"%s: BidPrice and BidPriceAsPercentageOfOnDemandPrice exclude each other", at)
	v.checkVolumes(at+".EbsConfiguration", t.EbsConfiguration)
	v.checkConfigurations(at+".Configurations", t.Configurations)
}

// checkVolumes reports every violation of the volumes of one instance (API reference,
// VolumeSpecification).
func (v *violations) checkVolumes(at string, ebs *types.EbsConfiguration) {
	if ebs == nil {
		return
	}
	total := 0
	for n, config := range ebs.EbsBlockDeviceConfigs {
		at := fmt.Sprintf("%s.EbsBlockDeviceConfigs[%d]", at, n)
		total += int(max(aws.ToInt32(config.VolumesPerInstance), 1))
		spec := config.VolumeSpecification
		if spec == nil {
			v.require(false, "%s.VolumeSpecification: must be present", at)
			continue
		}
		kind := aws.ToString(spec.VolumeType)
		v.require(slices.Contains([]string{"gp3", "gp2", "io1", "st1", "sc1", "standard"}, kind),
			"%s.VolumeSpecification.VolumeType: %q: must be gp3, gp2, io1, st1, sc1 or standard", at, kind)
		v.require(aws.ToInt32(spec.SizeInGB) >= 1, "%s.VolumeSpecification.SizeInGB: %d: must be at least 1", at, aws.ToInt32(spec.SizeInGB))
		v.require(spec.Throughput == nil || kind == "gp3" && *spec.Throughput >= 125 && *spec.Throughput <= 1000,
			"%s.VolumeSpecification.Throughput: %d: must be 125 to 1000 MiB/s, of a gp3 volume", at, aws.ToInt32(spec.Throughput))
		v.require(spec.Iops == nil || kind == "gp3" || kind == "io1",
			"%s.VolumeSpecification.Iops: %d: only gp3 and io1 volumes take it", at, aws.ToInt32(spec.Iops))
	}
	v.require(total <= emrlimits.MaxVolumes, "%s: %d volumes: at most %d besides the root volume", at, total, emrlimits.MaxVolumes)
}
