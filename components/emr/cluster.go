package emr

import (
	"fmt"
	"maps"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/emr"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/platform"
)

// TypeToken is the component's type.
const TypeToken = platform.Name + ":emr:Cluster"

// bootstrapName is what EMR's console and logs call the bootstrap action.
const bootstrapName = platform.Name

// Cluster is the running cluster.
type Cluster struct {
	pulumi.ResourceState

	ClusterID          pulumi.StringOutput `pulumi:"clusterId"` // j-…, the label platform.Cluster
	MasterDNS          pulumi.StringOutput `pulumi:"masterDns"` // private name: the subnet is private
	ServiceRoleARN     pulumi.StringOutput `pulumi:"serviceRoleArn"`
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
	b := &builder{ctx: ctx, parent: c, base: name, args: args}
	node, err := b.nodeRole()
	if err != nil {
		return nil, err
	}
	service, err := b.serviceRole(node.arn)
	if err != nil {
		return nil, err
	}
	security, err := b.securityConfiguration()
	if err != nil {
		return nil, err
	}
	guard, err := b.blockPublicAccess()
	if err != nil {
		return nil, err
	}
	// A role without its policies fails the cluster only after minutes.
	ready := append(append([]pulumi.Resource{guard}, node.policies...), service.policies...)
	cluster, err := emr.NewCluster(ctx, b.name("cluster"), b.clusterArgs(parts{node, service, security, configurations}), b.child(pulumi.DependsOn(ready))...)
	if err != nil {
		return nil, fmt.Errorf("create cluster: %w", err)
	}
	if err := b.taskGroup(cluster); err != nil {
		return nil, err
	}
	c.ClusterID, c.MasterDNS = cluster.ID().ToStringOutput(), cluster.MasterPublicDns
	c.ServiceRoleARN, c.NodeRoleName, c.InstanceProfileARN = service.arn, node.name, node.profileARN
	return c, ctx.RegisterResourceOutputs(c, pulumi.Map{
		"clusterId": c.ClusterID, "masterDns": c.MasterDNS, "serviceRoleArn": c.ServiceRoleARN,
		"nodeRoleName": c.NodeRoleName, "instanceProfileArn": c.InstanceProfileARN,
	})
}

type builder struct {
	ctx    *pulumi.Context
	parent *Cluster
	base   string
	args   *Args
}

func (b *builder) name(role string) string { return b.base + "-" + role }

func (b *builder) child(extra ...pulumi.ResourceOption) []pulumi.ResourceOption {
	return append([]pulumi.ResourceOption{pulumi.Parent(b.parent)}, extra...)
}

func (b *builder) tags() pulumi.StringMap {
	t := map[string]string{}
	maps.Copy(t, b.args.Tags)
	t[platform.EMRManagedPolicyTag] = "true"
	return pulumi.ToStringMap(t)
}

// parts is what the cluster is made of beside its arguments.
type parts struct {
	node           *nodeRole
	service        *serviceRole
	security       *emr.SecurityConfiguration
	configurations string
}

// clusterArgs puts the cluster together. Lists that are empty stay nil: the
// provider takes an empty list for a change.
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
		// The API's default would end the cluster for want of steps.
		KeepJobFlowAliveWhenNoSteps: pulumi.Bool(true),
		UnhealthyNodeReplacement:    pulumi.Bool(true),
		TerminationProtection:       pulumi.Bool(a.TerminationProtection),
		Tags:                        b.tags(),
	}
	if a.IdleTimeout > 0 {
		args.AutoTerminationPolicy = emr.ClusterAutoTerminationPolicyArgs{IdleTimeout: pulumi.Int(int(a.IdleTimeout.Seconds()))}
	}
	return args
}

func logURI(bucket pulumi.StringInput) pulumi.StringOutput {
	return bucket.ToStringOutput().ApplyT(platform.PrefixEMRLogs.URI).(pulumi.StringOutput)
}
