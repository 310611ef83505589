package emr

import (
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/emr"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/internal/output"
	"github.com/emr-observatory/emr-observatory/observe"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
)

// clusterArgs returns the inputs of the cluster resource. Empty lists stay nil: the
// provider treats an empty list as a change.
func (b *builder) clusterArgs(p parts) *emr.ClusterArgs {
	a := b.args
	args := &emr.ClusterArgs{
		Name:                  pulumi.String(a.Name),
		ReleaseLabel:          pulumi.String(a.ReleaseLabel),
		Applications:          pulumi.ToStringArray(a.Applications),
		ServiceRole:           p.service.arn,
		Ec2Attributes:         b.instanceArgs(p),
		BootstrapActions:      b.bootstrapActions(),
		ConfigurationsJson:    b.args.withBucket(p.configurations),
		CustomAmiId:           nonEmpty(a.CustomAMIID),
		EbsRootVolumeSize:     nonZero(a.RootVolumeGiB),
		SecurityConfiguration: p.security.Name,
		LogUri:                b.logURI(),
		LogEncryptionKmsKeyId: a.KMSKeyARN.ToStringOutput(),
		// These are always given: what is left out, the provider either takes from the
		// running cluster or sets to another value than EMR.
		KeepJobFlowAliveWhenNoSteps: pulumi.Bool(a.KeepAlive),
		UnhealthyNodeReplacement:    pulumi.Bool(a.UnhealthyNodeReplacement),
		TerminationProtection:       pulumi.Bool(a.TerminationProtection),
		ScaleDownBehavior:           pulumi.String(a.ScaleDownBehavior),
		StepConcurrencyLevel:        pulumi.Int(a.StepConcurrency),
		Tags:                        b.clusterTags(),
	}
	if b.scaling != nil {
		args.AutoscalingRole = b.scaling.arn
	}
	if a.Kerberos != nil {
		args.KerberosAttributes = b.kerberosAttributes(*a.Kerberos)
	}
	if len(a.Steps) > 0 {
		args.Steps = steps(a.Steps)
	}
	if a.Placement != "" {
		args.PlacementGroupConfigs = emr.ClusterPlacementGroupConfigArray{emr.ClusterPlacementGroupConfigArgs{
			InstanceRole: pulumi.String("MASTER"), PlacementStrategy: pulumi.String(a.Placement),
		}}
	}
	if a.IdleTimeoutMinutes > 0 {
		const seconds = 60
		args.AutoTerminationPolicy = emr.ClusterAutoTerminationPolicyArgs{IdleTimeout: pulumi.Int(a.IdleTimeoutMinutes * seconds)}
	}
	b.setInstances(args)
	return args
}

// setInstances sets fleets or groups.
func (b *builder) setInstances(args *emr.ClusterArgs) {
	a := b.args
	if a.Fleets != nil {
		args.MasterInstanceFleet = masterFleet(a.Fleets.Master)
		if a.Fleets.Core != nil {
			args.CoreInstanceFleet = coreFleet(*a.Fleets.Core)
		}
		return
	}
	args.MasterInstanceGroup = masterGroup(a.Master)
	if a.HasCore() {
		args.CoreInstanceGroup = coreGroup(a.Core)
	}
}

// clusterOptions returns how the cluster's resource changes. The provider ignores an
// edit of a bootstrap action's path or name, so every edit of one replaces the
// cluster. It reads back every step that anybody has submitted, so that steps count
// only when the cluster is created. And it keeps the core nodes of a cluster whose
// program has none any more, so that another shape replaces the cluster.
func (b *builder) clusterOptions(dependencies []pulumi.Resource) ([]pulumi.ResourceOption, error) {
	trigger, err := b.replacementTrigger()
	if err != nil {
		return nil, err
	}
	out := []pulumi.ResourceOption{
		pulumi.DependsOn(dependencies),
		pulumi.ReplaceOnChanges([]string{"bootstrapActions"}),
		pulumi.IgnoreChanges(append([]string{"steps"}, b.scaledByEMR()...)),
		pulumi.ReplacementTrigger(trigger),
	}
	if b.args.Kerberos != nil { // also what a refresh reads
		out = append(out, pulumi.AdditionalSecretOutputs([]string{"kerberosAttributes"}))
	}
	return out, nil
}

// scaledByEMR returns the properties of the cluster's resource that EMR changes itself.
// A fleet's targets would replace the cluster (terraform-provider-aws#36492).
func (b *builder) scaledByEMR() []string {
	a := b.args
	switch {
	case !a.HasCore():
		return nil
	case a.Fleets != nil && a.ManagedScaling != nil:
		return []string{"coreInstanceFleet.targetOnDemandCapacity", "coreInstanceFleet.targetSpotCapacity"}
	case a.Fleets == nil && (a.ManagedScaling != nil || a.Core.AutoScaling != nil):
		return []string{"coreInstanceGroup.instanceCount"}
	default:
		return nil
	}
}

// instanceArgs returns what the instances of every group have in common.
func (b *builder) instanceArgs(p parts) emr.ClusterEc2AttributesArgs {
	a := b.args
	args := emr.ClusterEc2AttributesArgs{
		InstanceProfile:                p.node.profileARN,
		EmrManagedMasterSecurityGroup:  p.groups[groupMaster].Ready,
		EmrManagedSlaveSecurityGroup:   p.groups[groupCore].Ready,
		ServiceAccessSecurityGroup:     p.groups[groupServiceAccess].Ready,
		AdditionalMasterSecurityGroups: b.additionalGroups(a.MasterSecurityGroups),
		AdditionalSlaveSecurityGroups:  b.additionalGroups(a.CoreSecurityGroups),
	}
	if a.Fleets != nil { // EMR chooses one of them
		args.SubnetIds = a.SubnetIDs.ToStringArrayOutput()
	} else {
		args.SubnetId = a.SubnetIDs.ToStringArrayOutput().Index(pulumi.Int(0))
	}
	return args
}

// additionalGroups returns the group that opens the way to the control node, and the
// user's own. The provider compares the text with EMR's list, joined without blanks.
func (b *builder) additionalGroups(own []string) pulumi.StringOutput {
	groups := b.args.ObservedSecurityGroupID.ToStringOutput()
	for _, id := range own {
		groups = pulumi.Sprintf("%s,%s", groups, id)
	}
	return groups
}

// bootstrapActions returns the platform's action and then the user's: theirs find what
// the platform has installed.
func (b *builder) bootstrapActions() emr.ClusterBootstrapActionArray {
	out := emr.ClusterBootstrapActionArray{emr.ClusterBootstrapActionArgs{
		Name: pulumi.String(bootstrapName), Path: b.args.BootstrapPath, Args: b.bootstrapArgs(),
	}}
	for _, action := range b.args.BootstrapActions {
		args := emr.ClusterBootstrapActionArgs{Name: pulumi.String(action.Name), Path: pulumi.String(action.Path)}
		if len(action.Args) > 0 {
			args.Args = pulumi.ToStringArray(action.Args)
		}
		out = append(out, args)
	}
	return out
}

func (b *builder) bootstrapArgs() pulumi.StringArrayOutput {
	return output.Strings(b.args.BootstrapArgs, func(shared []string) []string { return observe.BootstrapArgs(b.args.Cluster, shared) })
}

func steps(list []schema.Step) emr.ClusterStepArray {
	var out emr.ClusterStepArray
	for _, s := range list {
		jar := emr.ClusterStepHadoopJarStepArgs{Jar: pulumi.String(s.Jar), MainClass: nonEmpty(s.MainClass)}
		if len(s.Args) > 0 {
			jar.Args = pulumi.ToStringArray(s.Args)
		}
		if len(s.Properties) > 0 {
			jar.Properties = pulumi.ToStringMap(s.Properties)
		}
		out = append(out, emr.ClusterStepArgs{Name: pulumi.String(s.Name), ActionOnFailure: pulumi.String(s.ActionOnFailure), HadoopJarStep: jar})
	}
	return out
}

// clusterTags returns the tags of the cluster, which EMR copies to its instances.
func (b *builder) clusterTags() pulumi.StringMap {
	out := b.tags()
	for k, v := range b.args.Tags {
		out[k] = pulumi.String(v)
	}
	return out
}

// tags returns the tags of all that belongs to the cluster. They include no Name, since
// EMR copies a cluster's tags to its instances.
func (b *builder) tags() pulumi.StringMap {
	return pulumi.StringMap{platform.EMRManagedPolicyTag: pulumi.String("true"), platform.TagCluster: pulumi.String(b.args.Key)}
}
