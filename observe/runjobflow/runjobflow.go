// Package runjobflow renders a cluster of the configuration as the input of EMR's
// RunJobFlow, for those who start it without Pulumi. It is the same cluster that
// components/emr declares: a test compares the two. It calls nothing.
package runjobflow

import (
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/observe"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
)

// Environment is what a cluster needs besides its own configuration. Ids and ARNs are
// those of existing resources.
type Environment struct {
	Key                   string // of the cluster in the configuration
	Name                  string
	ServiceRole           string
	InstanceProfile       string
	AutoScalingRole       string // "" without rules of scaling
	SubnetIDs             []string
	MasterSecurityGroup   string
	CoreSecurityGroup     string
	ServiceSecurityGroup  string
	SecurityConfiguration string
	LogURI                string
	LogKMSKey             string
	Passwords             Passwords
	SamplingRatio         string
	Bucket                string // the data bucket
	Observe               observe.Settings
}

// Passwords are the values of the parameters that the section kerberos names.
type Passwords struct{ KDC, Trust, Join string }

// Input renders a cluster. Its task groups are in the same call: nothing waits for the
// cluster.
func Input(c schema.Cluster, e Environment) *emr.RunJobFlowInput {
	in := &emr.RunJobFlowInput{
		Name: aws.String(e.Name), ReleaseLabel: aws.String(c.ReleaseLabel), ServiceRole: aws.String(e.ServiceRole),
		JobFlowRole: aws.String(e.InstanceProfile), AutoScalingRole: optional(e.AutoScalingRole), LogUri: optional(e.LogURI),
		LogEncryptionKmsKeyId: optional(e.LogKMSKey), SecurityConfiguration: optional(e.SecurityConfiguration),
		CustomAmiId: optional(c.CustomAMIID), EbsRootVolumeSize: number(c.RootVolumeGiB),
		ScaleDownBehavior: types.ScaleDownBehavior(c.ScaleDownBehavior), StepConcurrencyLevel: aws.Int32(int32(c.StepConcurrency)),
		VisibleToAllUsers: aws.Bool(true), Configurations: configurations(observe.ConfigurationsOf(c, e.SamplingRatio), e.Bucket),
		Instances: instances(c, e), BootstrapActions: actions(c, e.Observe.Bootstrap), Steps: steps(c.Steps), Tags: tags(c, e.Key),
	}
	for _, name := range c.Applications {
		in.Applications = append(in.Applications, types.Application{Name: aws.String(name)})
	}
	in.KerberosAttributes = kerberos(c.Kerberos, e.Passwords)
	if c.IdleTimeoutMinutes > 0 {
		const seconds = 60
		in.AutoTerminationPolicy = &types.AutoTerminationPolicy{IdleTimeout: aws.Int64(int64(c.IdleTimeoutMinutes * seconds))}
	}
	if c.Placement != "" {
		in.PlacementGroupConfigs = []types.PlacementGroupConfig{{
			InstanceRole: types.InstanceRoleTypeMaster, PlacementStrategy: types.PlacementGroupStrategy(c.Placement),
		}}
	}
	if m := c.ManagedScaling; m != nil {
		in.ManagedScalingPolicy = &types.ManagedScalingPolicy{ComputeLimits: &types.ComputeLimits{
			UnitType: types.ComputeLimitsUnitType(m.Unit), MinimumCapacityUnits: aws.Int32(int32(m.Min)),
			MaximumCapacityUnits:     aws.Int32(int32(m.Max)),
			MaximumCoreCapacityUnits: part(m.MaxCore), MaximumOnDemandCapacityUnits: part(m.MaxOnDemand),
		}}
	}
	return in
}

func kerberos(k *schema.Kerberos, p Passwords) *types.KerberosAttributes {
	if k == nil {
		return nil
	}
	out := &types.KerberosAttributes{Realm: aws.String(k.Realm), KdcAdminPassword: aws.String(p.KDC)}
	if t := k.Trust; t != nil {
		out.CrossRealmTrustPrincipalPassword = aws.String(p.Trust)
		if t.JoinUser != "" {
			out.ADDomainJoinUser, out.ADDomainJoinPassword = aws.String(t.JoinUser), aws.String(p.Join)
		}
	}
	return out
}

func instances(c schema.Cluster, e Environment) *types.JobFlowInstancesConfig {
	in := &types.JobFlowInstancesConfig{
		KeepJobFlowAliveWhenNoSteps: aws.Bool(c.KeepAlive), TerminationProtected: aws.Bool(c.TerminationProtection),
		UnhealthyNodeReplacement:      aws.Bool(c.UnhealthyNodeReplacement),
		EmrManagedMasterSecurityGroup: optional(e.MasterSecurityGroup), EmrManagedSlaveSecurityGroup: optional(e.CoreSecurityGroup),
		ServiceAccessSecurityGroup:     optional(e.ServiceSecurityGroup),
		AdditionalMasterSecurityGroups: append([]string{e.Observe.SecurityGroupID}, c.MasterSecurityGroups...),
		AdditionalSlaveSecurityGroups:  append([]string{e.Observe.SecurityGroupID}, c.CoreSecurityGroups...),
	}
	if c.Fleets != nil {
		in.Ec2SubnetIds = e.SubnetIDs
		in.InstanceFleets = fleets(*c.Fleets)
		return in
	}
	in.Ec2SubnetId = aws.String(e.SubnetIDs[0])
	in.InstanceGroups = append(in.InstanceGroups, group(c, e.Bucket, platform.RoleMaster, types.InstanceRoleTypeMaster, c.Master))
	if c.HasCore() {
		in.InstanceGroups = append(in.InstanceGroups, group(c, e.Bucket, platform.RoleCore, types.InstanceRoleTypeCore, c.Core))
	}
	for _, key := range c.TaskKeys() {
		in.InstanceGroups = append(in.InstanceGroups, group(c, e.Bucket, platform.RoleTask+"-"+key, types.InstanceRoleTypeTask, c.Tasks[key]))
	}
	return in
}

func group(c schema.Cluster, bucket, name string, role types.InstanceRoleType, g schema.InstanceGroup) types.InstanceGroupConfig {
	out := types.InstanceGroupConfig{
		Name: aws.String(name), InstanceRole: role, InstanceType: aws.String(g.InstanceType), InstanceCount: aws.Int32(int32(g.Count)),
		Market: types.MarketTypeOnDemand, BidPrice: optional(g.BidPrice), AutoScalingPolicy: scalingPolicy(g.AutoScaling),
		Configurations: configurations(observe.GroupConfigurationsOf(c, g), bucket), EbsConfiguration: volumes(g.EBS),
	}
	if g.BidPrice != "" {
		out.Market = types.MarketTypeSpot
	}
	if g.EBSOptimized {
		if out.EbsConfiguration == nil {
			out.EbsConfiguration = &types.EbsConfiguration{}
		}
		out.EbsConfiguration.EbsOptimized = aws.Bool(true)
	}
	return out
}

func volumes(list []schema.Volume) *types.EbsConfiguration {
	if len(list) == 0 {
		return nil
	}
	out := &types.EbsConfiguration{}
	for _, v := range list {
		out.EbsBlockDeviceConfigs = append(out.EbsBlockDeviceConfigs, types.EbsBlockDeviceConfig{
			VolumesPerInstance: aws.Int32(int32(v.PerInstance)),
			VolumeSpecification: &types.VolumeSpecification{
				VolumeType: aws.String(v.Type), SizeInGB: aws.Int32(int32(v.SizeGiB)), Iops: number(v.IOPS), Throughput: number(v.Throughput),
			},
		})
	}
	return out
}

// configurations omits empty lists, as EMR's answers do.
// configurations renders a list, with the data bucket's name in the places of
// schema.DataBucket.
func configurations(list []observe.Classification, bucket string) []types.Configuration {
	var out []types.Configuration
	for _, c := range list {
		properties := map[string]string{}
		for name, value := range c.Properties {
			properties[name] = strings.ReplaceAll(value, schema.DataBucket, bucket)
		}
		out = append(out, types.Configuration{
			Classification: aws.String(c.Classification), Properties: properties, Configurations: configurations(c.Configurations, bucket),
		})
	}
	return out
}

func actions(c schema.Cluster, own observe.Bootstrap) []types.BootstrapActionConfig {
	action := func(name, path string, args []string) types.BootstrapActionConfig {
		return types.BootstrapActionConfig{Name: aws.String(name), ScriptBootstrapAction: &types.ScriptBootstrapActionConfig{
			Path: aws.String(path), Args: args,
		}}
	}
	out := []types.BootstrapActionConfig{action(platform.Name, own.Path, observe.BootstrapArgs(c, own.Args))}
	for _, b := range c.BootstrapActions {
		out = append(out, action(b.Name, b.Path, b.Args))
	}
	return out
}

func steps(list []schema.Step) []types.StepConfig {
	var out []types.StepConfig
	for _, s := range list {
		step := types.StepConfig{Name: aws.String(s.Name), ActionOnFailure: types.ActionOnFailure(s.ActionOnFailure),
			HadoopJarStep: &types.HadoopJarStepConfig{Jar: aws.String(s.Jar), Args: s.Args, MainClass: optional(s.MainClass)}}
		for _, k := range slices.Sorted(maps.Keys(s.Properties)) {
			step.HadoopJarStep.Properties = append(step.HadoopJarStep.Properties, types.KeyValue{Key: aws.String(k),
				Value: aws.String(s.Properties[k])})
		}
		out = append(out, step)
	}
	return out
}

func tags(c schema.Cluster, key string) []types.Tag {
	all := map[string]string{platform.EMRManagedPolicyTag: "true", platform.TagCluster: key}
	maps.Copy(all, c.Tags)
	var out []types.Tag
	for _, k := range slices.Sorted(maps.Keys(all)) {
		out = append(out, types.Tag{Key: aws.String(k), Value: aws.String(all[k])})
	}
	return out
}

// optional omits an empty text.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// number omits 0, which stands for EMR's own choice.
func number(n int) *int32 {
	if n == 0 {
		return nil
	}
	return aws.Int32(int32(n))
}

func part(n *int) *int32 {
	if n == nil {
		return nil
	}
	return aws.Int32(int32(*n))
}
