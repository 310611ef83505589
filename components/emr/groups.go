package emr

import (
	"fmt"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/emr"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/observe"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
)

// The group names that EMR's console shows.
const (
	masterGroupName = platform.RoleMaster
	coreGroupName   = platform.RoleCore
	taskGroupName   = platform.RoleTask
)

func masterGroup(g schema.InstanceGroup) emr.ClusterMasterInstanceGroupPtrInput {
	args := emr.ClusterMasterInstanceGroupArgs{
		Name: pulumi.String(masterGroupName), InstanceType: pulumi.String(g.InstanceType),
		InstanceCount: pulumi.Int(g.Count), BidPrice: nonEmpty(g.BidPrice),
	}
	if len(g.EBS) > 0 {
		args.EbsConfigs = emr.ClusterMasterInstanceGroupEbsConfigArray(convert(g.EBS,
			func(v schema.Volume) emr.ClusterMasterInstanceGroupEbsConfigInput {
				return ebsConfig(v)
			}))
	}
	return args
}

func coreGroup(g schema.InstanceGroup) emr.ClusterCoreInstanceGroupPtrInput {
	args := emr.ClusterCoreInstanceGroupArgs{
		Name: pulumi.String(coreGroupName), InstanceType: pulumi.String(g.InstanceType),
		InstanceCount: pulumi.Int(g.Count), BidPrice: nonEmpty(g.BidPrice), AutoscalingPolicy: nonEmpty(scalingPolicy(g.AutoScaling)),
	}
	if len(g.EBS) > 0 {
		args.EbsConfigs = emr.ClusterCoreInstanceGroupEbsConfigArray(convert(g.EBS,
			func(v schema.Volume) emr.ClusterCoreInstanceGroupEbsConfigInput {
				return emr.ClusterCoreInstanceGroupEbsConfigArgs(ebsConfig(v))
			}))
	}
	return args
}

// createTaskGroups adds the task groups, resources of their own, to the running
// cluster. They are marked as deleted with the cluster: the provider's delete would
// resize the group first, which fails once the cluster has terminated
// (terraform-provider-aws#1355).
func (b *builder) createTaskGroups(cluster *emr.Cluster) ([]pulumi.Resource, error) {
	var out []pulumi.Resource
	for _, key := range b.args.TaskKeys() {
		args, err := b.args.taskGroup(key)
		if err != nil {
			return nil, err
		}
		args.ClusterId = cluster.ID()
		options := b.Options(append(b.taskOptions(b.args.Tasks[key]), pulumi.DeletedWith(cluster))...)
		group, err := emr.NewInstanceGroup(b.Ctx, b.Name(taskName(key)), args, options...)
		if err != nil {
			return nil, fmt.Errorf("create task group %s: %w", key, err)
		}
		out = append(out, group)
	}
	return out, nil
}

// taskOptions returns how a task group changes. The provider fails when a policy is
// taken away, and sends nothing when the last classification or volume is, so that the
// group is replaced then. While EMR scales the group, its count is EMR's.
func (b *builder) taskOptions(g schema.InstanceGroup) []pulumi.ResourceOption {
	volumes := "EMR's volumes"
	if len(g.EBS) > 0 {
		volumes = "own volumes"
	}
	out := []pulumi.ResourceOption{pulumi.ReplacementTrigger(pulumi.String(volumes))}
	if g.AutoScaling == nil {
		out = append(out, pulumi.ReplaceOnChanges([]string{"autoscalingPolicy"}))
	}
	if len(g.Configurations) == 0 {
		out = append(out, pulumi.ReplaceOnChanges([]string{"configurationsJson"}))
	}
	if g.AutoScaling != nil || b.args.ManagedScaling != nil {
		out = append(out, pulumi.IgnoreChanges([]string{"instanceCount"}))
	}
	return out
}

// taskName is the name of a task group, in EMR and as a part of the logical name.
func taskName(key string) string { return taskGroupName + "-" + key }

func (a *Args) taskGroup(key string) (*emr.InstanceGroupArgs, error) {
	g := a.Tasks[key]
	args := &emr.InstanceGroupArgs{
		Name: pulumi.String(taskName(key)), InstanceType: pulumi.String(g.InstanceType),
		InstanceCount: pulumi.Int(g.Count), BidPrice: nonEmpty(g.BidPrice), AutoscalingPolicy: nonEmpty(scalingPolicy(g.AutoScaling)),
	}
	if g.EBSOptimized {
		args.EbsOptimized = pulumi.Bool(true)
	}
	if len(g.EBS) > 0 {
		args.EbsConfigs = emr.InstanceGroupEbsConfigArray(convert(g.EBS, func(v schema.Volume) emr.InstanceGroupEbsConfigInput {
			return emr.InstanceGroupEbsConfigArgs{
				Type: pulumi.String(v.Type), Size: pulumi.Int(v.SizeGiB), VolumesPerInstance: pulumi.Int(v.PerInstance), Iops: nonZero(v.IOPS),
			}
		}))
	}
	if len(g.Configurations) > 0 {
		text, err := observe.Render(observe.GroupConfigurationsOf(a.Cluster, g))
		if err != nil {
			return nil, fmt.Errorf("render configurations of task group %s: %w", key, err)
		}
		args.ConfigurationsJson = a.withBucket(text)
	}
	return args, nil
}

// ebsConfig converts a volume to the SDK's type for master groups, whose fields are
// those of the type for core groups.
func ebsConfig(v schema.Volume) emr.ClusterMasterInstanceGroupEbsConfigArgs {
	return emr.ClusterMasterInstanceGroupEbsConfigArgs{
		Type: pulumi.String(v.Type), Size: pulumi.Int(v.SizeGiB), VolumesPerInstance: pulumi.Int(v.PerInstance),
		Iops: nonZero(v.IOPS), Throughput: nonZero(v.Throughput),
	}
}

// convert maps volumes to one of the SDK's types.
func convert[T any](volumes []schema.Volume, config func(schema.Volume) T) []T {
	out := make([]T, len(volumes))
	for i, v := range volumes {
		out[i] = config(v)
	}
	return out
}

// nonEmpty omits an empty string: EMR takes a bid price of "" for spot.
func nonEmpty(s string) pulumi.StringPtrInput {
	if s == "" {
		return nil
	}
	return pulumi.String(s)
}

// nonZero omits 0, which stands for the volume type's default.
func nonZero(n int) pulumi.IntPtrInput {
	if n == 0 {
		return nil
	}
	return pulumi.Int(n)
}
