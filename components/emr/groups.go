package emr

import (
	"fmt"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/emr"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/platform"
)

// The group names that EMR's console shows.
const (
	masterGroupName = platform.RoleMaster
	coreGroupName   = platform.RoleCore
	taskGroupName   = platform.RoleTask
)

func masterGroup(g InstanceGroup) emr.ClusterMasterInstanceGroupPtrInput {
	args := emr.ClusterMasterInstanceGroupArgs{
		Name: pulumi.String(masterGroupName), InstanceType: pulumi.String(g.InstanceType), InstanceCount: pulumi.Int(g.Count), BidPrice: optional(g.BidPrice),
	}
	if len(g.EBS) > 0 {
		volumes := emr.ClusterMasterInstanceGroupEbsConfigArray{}
		for _, v := range g.EBS {
			volumes = append(volumes, emr.ClusterMasterInstanceGroupEbsConfigArgs{
				Type: pulumi.String(v.Type), Size: pulumi.Int(v.SizeGiB), VolumesPerInstance: pulumi.Int(v.volumes()),
				Iops: positive(v.IOPS), Throughput: positive(v.Throughput),
			})
		}
		args.EbsConfigs = volumes
	}
	return args
}

func coreGroup(g InstanceGroup) emr.ClusterCoreInstanceGroupPtrInput {
	args := emr.ClusterCoreInstanceGroupArgs{
		Name: pulumi.String(coreGroupName), InstanceType: pulumi.String(g.InstanceType), InstanceCount: pulumi.Int(g.Count), BidPrice: optional(g.BidPrice),
	}
	if len(g.EBS) > 0 {
		volumes := emr.ClusterCoreInstanceGroupEbsConfigArray{}
		for _, v := range g.EBS {
			volumes = append(volumes, emr.ClusterCoreInstanceGroupEbsConfigArgs{
				Type: pulumi.String(v.Type), Size: pulumi.Int(v.SizeGiB), VolumesPerInstance: pulumi.Int(v.volumes()),
				Iops: positive(v.IOPS), Throughput: positive(v.Throughput),
			})
		}
		args.EbsConfigs = volumes
	}
	return args
}

// taskGroup is a resource of its own, added to the running cluster. It goes
// with the cluster: shrinking it first would only fail once the cluster has
// ended (terraform-provider-aws#1355).
func (b *builder) taskGroup(cluster *emr.Cluster) error {
	g := b.args.Task
	if g == nil {
		return nil
	}
	args := &emr.InstanceGroupArgs{
		ClusterId: cluster.ID(), Name: pulumi.String(taskGroupName), InstanceType: pulumi.String(g.InstanceType), InstanceCount: pulumi.Int(g.Count), BidPrice: optional(g.BidPrice),
	}
	if len(g.EBS) > 0 {
		volumes := emr.InstanceGroupEbsConfigArray{}
		for _, v := range g.EBS {
			volumes = append(volumes, emr.InstanceGroupEbsConfigArgs{
				Type: pulumi.String(v.Type), Size: pulumi.Int(v.SizeGiB), VolumesPerInstance: pulumi.Int(v.volumes()), Iops: positive(v.IOPS),
			})
		}
		args.EbsConfigs = volumes
	}
	if _, err := emr.NewInstanceGroup(b.ctx, b.name("task"), args, b.child(pulumi.DeletedWith(cluster))...); err != nil {
		return fmt.Errorf("create task group: %w", err)
	}
	return nil
}

// optional leaves an empty string out: EMR takes a bid price of "" for spot.
func optional(s string) pulumi.StringPtrInput {
	if s == "" {
		return nil
	}
	return pulumi.String(s)
}

// positive leaves a zero out: it means the type's own figure.
func positive(n int) pulumi.IntPtrInput {
	if n == 0 {
		return nil
	}
	return pulumi.Int(n)
}
