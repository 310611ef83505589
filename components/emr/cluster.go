package emr

import (
	"fmt"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/emr"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/internal/child"
	"github.com/emr-observatory/emr-observatory/components/internal/output"
	"github.com/emr-observatory/emr-observatory/platform"
)

// TypeToken is the component's type.
const TypeToken = platform.Name + ":emr:Cluster"

// bootstrapName is the bootstrap action's name in EMR's console and logs.
const bootstrapName = platform.Name

// Cluster is the running cluster.
type Cluster struct {
	pulumi.ResourceState

	ClusterID          pulumi.StringOutput `pulumi:"clusterId"` // j-…, the value of the label platform.Cluster
	MasterDNS          pulumi.StringOutput `pulumi:"masterDns"` // private name: the subnet is private
	ServiceRoleARN     pulumi.StringOutput `pulumi:"serviceRoleArn"`
	NodeRoleARN        pulumi.StringOutput `pulumi:"nodeRoleArn"`
	NodeRoleName       pulumi.StringOutput `pulumi:"nodeRoleName"` // attach here what jobs need beyond lake/
	InstanceProfileARN pulumi.StringOutput `pulumi:"instanceProfileArn"`
}

// New builds the cluster and waits until it is up. It registers nothing when
// args are invalid.
func New(ctx *pulumi.Context, name string, args *Args, opts ...pulumi.ResourceOption) (*Cluster, error) {
	if err := args.Validate(); err != nil {
		return nil, err
	}
	configurations, err := args.ConfigurationsJSON()
	if err != nil {
		return nil, err
	}
	c := &Cluster{}
	err = ctx.RegisterComponentResourceV2(TypeToken, name, pulumi.Map{
		"releaseLabel": pulumi.String(args.ReleaseLabel), "applications": pulumi.ToStringArray(args.Applications),
		"masterCount": pulumi.Int(args.Master.Count), "coreCount": pulumi.Int(args.Core.Count),
		"subnetId": args.SubnetID, "bucket": args.Bucket, "bootstrapArgs": args.BootstrapArgs,
	}, c, opts...)
	if err != nil {
		return nil, fmt.Errorf("register cluster %s: %w", name, err)
	}
	if err := args.warnOfOtherRelease(ctx, c); err != nil {
		return nil, err
	}
	children, err := child.New(ctx, c, name, opts...)
	if err != nil {
		return nil, err
	}
	b := &builder{Builder: children, args: args}
	if err := b.requireSpotRole(); err != nil {
		return nil, err
	}
	node, err := b.createNodeRole()
	if err != nil {
		return nil, err
	}
	service, err := b.createServiceRole(node.arn)
	if err != nil {
		return nil, err
	}
	security, err := b.createSecurityConfiguration()
	if err != nil {
		return nil, err
	}
	dependencies, err := b.blockPublicAccess()
	if err != nil {
		return nil, err
	}
	// With a role that lacks its policies, the cluster fails only after minutes.
	dependencies = append(append(dependencies, node.policies...), service.policies...)
	if args.After != nil {
		dependencies = append(dependencies, args.After)
	}
	cluster, err := emr.NewCluster(ctx, b.Name("cluster"), b.clusterArgs(parts{node, service, security, configurations}),
		b.Options(pulumi.DependsOn(dependencies))...)
	if err != nil {
		return nil, fmt.Errorf("create cluster: %w", err)
	}
	if err := b.createTaskGroup(cluster); err != nil {
		return nil, err
	}
	c.ClusterID, c.MasterDNS = cluster.ID().ToStringOutput(), cluster.MasterPublicDns
	c.ServiceRoleARN, c.InstanceProfileARN = service.arn, node.profileARN
	c.NodeRoleARN, c.NodeRoleName = node.arn, node.name
	return c, ctx.RegisterResourceOutputs(c, pulumi.Map{
		"clusterId": c.ClusterID, "masterDns": c.MasterDNS, "serviceRoleArn": c.ServiceRoleARN,
		"nodeRoleArn": c.NodeRoleARN, "nodeRoleName": c.NodeRoleName, "instanceProfileArn": c.InstanceProfileARN,
	})
}

type builder struct {
	child.Builder
	args *Args
}

// emrTags returns the tags of the cluster and its roles. They include no Name,
// since EMR copies a cluster's tags to its instances.
func emrTags() pulumi.StringMap {
	return pulumi.StringMap{platform.EMRManagedPolicyTag: pulumi.String("true")}
}

// parts are the resources and the rendered settings that the cluster refers to.
type parts struct {
	node           *nodeRole
	service        *serviceRole
	security       *emr.SecurityConfiguration
	configurations string
}

// clusterArgs returns the inputs of the cluster resource. Empty lists stay nil: the
// provider treats an empty list as a change.
func (b *builder) clusterArgs(p parts) *emr.ClusterArgs {
	a := b.args
	args := &emr.ClusterArgs{
		ReleaseLabel: pulumi.String(a.ReleaseLabel),
		Applications: pulumi.ToStringArray(a.Applications),
		ServiceRole:  p.service.arn,
		Ec2Attributes: emr.ClusterEc2AttributesArgs{
			InstanceProfile:               p.node.profileARN,
			SubnetId:                      a.SubnetID.ToStringOutput(),
			EmrManagedMasterSecurityGroup: a.MasterSecurityGroupID.ToStringOutput(),
			EmrManagedSlaveSecurityGroup:  a.CoreSecurityGroupID.ToStringOutput(),
			ServiceAccessSecurityGroup:    a.ServiceAccessSecurityGroupID.ToStringOutput(),
		},
		MasterInstanceGroup: masterGroup(a.Master),
		CoreInstanceGroup:   coreGroup(a.Core),
		BootstrapActions: emr.ClusterBootstrapActionArray{emr.ClusterBootstrapActionArgs{
			Name: pulumi.String(bootstrapName), Path: a.BootstrapPath, Args: a.BootstrapArgs,
		}},
		ConfigurationsJson:    pulumi.String(p.configurations),
		SecurityConfiguration: p.security.Name,
		LogUri:                logURI(a.Bucket),
		LogEncryptionKmsKeyId: a.KMSKeyARN.ToStringOutput(),
		// By default EMR terminates a cluster that has no steps.
		KeepJobFlowAliveWhenNoSteps: pulumi.Bool(true),
		UnhealthyNodeReplacement:    pulumi.Bool(true),
		TerminationProtection:       pulumi.Bool(a.TerminationProtection),
		Tags:                        emrTags(),
	}
	if a.IdleTimeoutMinutes > 0 {
		const seconds = 60
		args.AutoTerminationPolicy = emr.ClusterAutoTerminationPolicyArgs{IdleTimeout: pulumi.Int(a.IdleTimeoutMinutes * seconds)}
	}
	return args
}

func logURI(bucket pulumi.StringInput) pulumi.StringOutput {
	return output.Map(bucket, func(name string) (string, error) { return platform.PrefixEMRLogs.URI(name), nil })
}
