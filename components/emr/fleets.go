package emr

import (
	"fmt"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/emr"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/schema"
)

// The SDK has the same three times: for primary, core and task fleets. A percentage of 0
// is set beside a bid price: left out, the provider would send its default of 100.

func masterFleet(f schema.Fleet) emr.ClusterMasterInstanceFleetArgs {
	args := emr.ClusterMasterInstanceFleetArgs{
		Name: pulumi.String(masterGroupName), TargetOnDemandCapacity: pulumi.Int(f.OnDemand), TargetSpotCapacity: pulumi.Int(f.Spot),
	}
	var types emr.ClusterMasterInstanceFleetInstanceTypeConfigArray
	for _, t := range f.Types {
		one := emr.ClusterMasterInstanceFleetInstanceTypeConfigArgs{
			InstanceType: pulumi.String(t.InstanceType), BidPrice: nonEmpty(t.BidPrice),
			BidPriceAsPercentageOfOnDemandPrice: pulumi.Float64(t.BidPercent),
			WeightedCapacity:                    pulumi.Int(t.Weight),
		}
		for _, v := range t.EBS {
			one.EbsConfigs = emr.ClusterMasterInstanceFleetInstanceTypeConfigEbsConfigArray{
				emr.ClusterMasterInstanceFleetInstanceTypeConfigEbsConfigArgs(fleetVolume(v)),
			}
		}
		types = append(types, one)
	}
	args.InstanceTypeConfigs = types
	launch := emr.ClusterMasterInstanceFleetLaunchSpecificationsArgs{}
	if onDemand, given := onDemandSpecification(f); given {
		launch.OnDemandSpecifications = emr.ClusterMasterInstanceFleetLaunchSpecificationsOnDemandSpecificationArray{
			emr.ClusterMasterInstanceFleetLaunchSpecificationsOnDemandSpecificationArgs(onDemand),
		}
		args.LaunchSpecifications = launch
	}
	if spot, given := spotSpecification(f); given {
		launch.SpotSpecifications = emr.ClusterMasterInstanceFleetLaunchSpecificationsSpotSpecificationArray{
			emr.ClusterMasterInstanceFleetLaunchSpecificationsSpotSpecificationArgs(spot),
		}
		args.LaunchSpecifications = launch
	}
	return args
}

func coreFleet(f schema.Fleet) emr.ClusterCoreInstanceFleetArgs {
	args := emr.ClusterCoreInstanceFleetArgs{
		Name: pulumi.String(coreGroupName), TargetOnDemandCapacity: pulumi.Int(f.OnDemand), TargetSpotCapacity: pulumi.Int(f.Spot),
	}
	var types emr.ClusterCoreInstanceFleetInstanceTypeConfigArray
	for _, t := range f.Types {
		one := emr.ClusterCoreInstanceFleetInstanceTypeConfigArgs{
			InstanceType: pulumi.String(t.InstanceType), BidPrice: nonEmpty(t.BidPrice),
			BidPriceAsPercentageOfOnDemandPrice: pulumi.Float64(t.BidPercent),
			WeightedCapacity:                    pulumi.Int(t.Weight),
		}
		for _, v := range t.EBS {
			one.EbsConfigs = emr.ClusterCoreInstanceFleetInstanceTypeConfigEbsConfigArray{
				emr.ClusterCoreInstanceFleetInstanceTypeConfigEbsConfigArgs(fleetVolume(v)),
			}
		}
		types = append(types, one)
	}
	args.InstanceTypeConfigs = types
	launch := emr.ClusterCoreInstanceFleetLaunchSpecificationsArgs{}
	if onDemand, given := onDemandSpecification(f); given {
		launch.OnDemandSpecifications = emr.ClusterCoreInstanceFleetLaunchSpecificationsOnDemandSpecificationArray{
			emr.ClusterCoreInstanceFleetLaunchSpecificationsOnDemandSpecificationArgs(onDemand),
		}
		args.LaunchSpecifications = launch
	}
	if spot, given := spotSpecification(f); given {
		launch.SpotSpecifications = emr.ClusterCoreInstanceFleetLaunchSpecificationsSpotSpecificationArray{
			emr.ClusterCoreInstanceFleetLaunchSpecificationsSpotSpecificationArgs(spot),
		}
		args.LaunchSpecifications = launch
	}
	return args
}

// createTaskFleet adds the task fleet, which ends with the cluster. While EMR scales the
// cluster, its targets are EMR's.
func (b *builder) createTaskFleet(cluster *emr.Cluster, f schema.Fleet) (pulumi.Resource, error) {
	args := &emr.InstanceFleetArgs{
		ClusterId: cluster.ID(), Name: pulumi.String(taskGroupName),
		TargetOnDemandCapacity: pulumi.Int(f.OnDemand), TargetSpotCapacity: pulumi.Int(f.Spot),
	}
	var types emr.InstanceFleetInstanceTypeConfigArray
	for _, t := range f.Types {
		one := emr.InstanceFleetInstanceTypeConfigArgs{
			InstanceType: pulumi.String(t.InstanceType), BidPrice: nonEmpty(t.BidPrice),
			BidPriceAsPercentageOfOnDemandPrice: pulumi.Float64(t.BidPercent),
			WeightedCapacity:                    pulumi.Int(t.Weight),
		}
		for _, v := range t.EBS {
			one.EbsConfigs = emr.InstanceFleetInstanceTypeConfigEbsConfigArray{fleetVolume(v)}
		}
		types = append(types, one)
	}
	args.InstanceTypeConfigs = types
	launch := emr.InstanceFleetLaunchSpecificationsArgs{}
	if onDemand, given := onDemandSpecification(f); given {
		launch.OnDemandSpecifications = emr.InstanceFleetLaunchSpecificationsOnDemandSpecificationArray{onDemand}
		args.LaunchSpecifications = launch
	}
	if spot, given := spotSpecification(f); given {
		launch.SpotSpecifications = emr.InstanceFleetLaunchSpecificationsSpotSpecificationArray{spot}
		args.LaunchSpecifications = launch
	}
	options := []pulumi.ResourceOption{pulumi.DeletedWith(cluster)}
	if b.args.ManagedScaling != nil {
		options = append(options, pulumi.IgnoreChanges([]string{"targetOnDemandCapacity", "targetSpotCapacity"}))
	}
	fleet, err := emr.NewInstanceFleet(b.Ctx, b.Name(taskGroupName), args, b.Options(options...)...)
	if err != nil {
		return nil, fmt.Errorf("create task fleet: %w", err)
	}
	return fleet, nil
}

func fleetVolume(v schema.Volume) emr.InstanceFleetInstanceTypeConfigEbsConfigArgs {
	return emr.InstanceFleetInstanceTypeConfigEbsConfigArgs{
		Type: pulumi.String(v.Type), Size: pulumi.Int(v.SizeGiB), VolumesPerInstance: pulumi.Int(v.PerInstance), Iops: nonZero(v.IOPS),
	}
}

func onDemandSpecification(f schema.Fleet) (emr.InstanceFleetLaunchSpecificationsOnDemandSpecificationArgs, bool) {
	return emr.InstanceFleetLaunchSpecificationsOnDemandSpecificationArgs{AllocationStrategy: pulumi.String(f.OnDemandStrategy)},
		f.OnDemand > 0 && f.OnDemandStrategy != ""
}

func spotSpecification(f schema.Fleet) (emr.InstanceFleetLaunchSpecificationsSpotSpecificationArgs, bool) {
	return emr.InstanceFleetLaunchSpecificationsSpotSpecificationArgs{
		AllocationStrategy: pulumi.String(f.SpotStrategy), TimeoutDurationMinutes: pulumi.Int(f.SpotTimeoutMinutes),
		TimeoutAction: pulumi.String(f.SpotTimeoutAction),
	}, f.Spot > 0 && f.SpotStrategy != ""
}
