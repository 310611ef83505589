package network

import (
	"fmt"
	"maps"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/platform"
)

// TypeToken is the component's type.
const TypeToken = platform.Name + ":network:Network"

// Args says what to build. Plain values are needed to plan; Validate checks
// them.
type Args struct {
	Region string // required, us-east-1

	CIDR              string   // required without ExistingVPCID: private IPv4, /16 to /24
	AvailabilityZones []string // two of the region; empty = its first two; not with ExistingVPCID
	ExistingVPCID     string   // vpc-…; empty = own VPC
	ExistingSubnetIDs []string // private subnets of ExistingVPCID, the first is the cluster's

	InterfaceEndpoints []string // short service names (ssm); not with ExistingVPCID
	NAT                bool     // way out for the private subnets; ignored with ExistingVPCID
	OperatorCIDRs      []string // who may reach Grafana, the Kubernetes API and /status; empty = nobody

	// FlowLogBucketARN is where rejected and accepted flows of the own VPC are
	// written; nil = no flow logs. The bucket's policy must admit
	// delivery.logs.amazonaws.com.
	FlowLogBucketARN pulumi.StringInput

	Tags map[string]string // added to every resource that can carry tags
}

// Network is what the other components build on. Ids of subnets resolve once
// the way out of them exists, those of groups once their rules do: a machine
// started sooner can fetch nothing, a cluster cannot talk to EMR.
type Network struct {
	pulumi.ResourceState

	VPCID                        pulumi.StringOutput      `pulumi:"vpcId"`
	SubnetIDs                    pulumi.StringArrayOutput `pulumi:"subnetIds"` // private, in the order of the zones
	ControlSecurityGroupID       pulumi.StringOutput      `pulumi:"controlSecurityGroupId"`
	MasterSecurityGroupID        pulumi.StringOutput      `pulumi:"masterSecurityGroupId"`
	CoreSecurityGroupID          pulumi.StringOutput      `pulumi:"coreSecurityGroupId"` // core and task
	ServiceAccessSecurityGroupID pulumi.StringOutput      `pulumi:"serviceAccessSecurityGroupId"`
}

// New builds the network. It registers nothing when args are invalid.
func New(ctx *pulumi.Context, name string, args *Args, opts ...pulumi.ResourceOption) (*Network, error) {
	if err := args.Validate(); err != nil {
		return nil, err
	}
	n := &Network{}
	err := ctx.RegisterComponentResourceV2(TypeToken, name, pulumi.Map{
		"region": pulumi.String(args.Region), "cidr": pulumi.String(args.CIDR), "existingVpcId": pulumi.String(args.ExistingVPCID),
		"nat": pulumi.Bool(args.NAT), "operatorCidrs": pulumi.ToStringArray(args.OperatorCIDRs),
	}, n, opts...)
	if err != nil {
		return nil, fmt.Errorf("register network %s: %w", name, err)
	}
	b := &builder{ctx: ctx, parent: n, base: name, args: args}
	p, err := b.place()
	if err != nil {
		return nil, err
	}
	groups, err := b.securityGroups(p)
	if err != nil {
		return nil, err
	}
	endpoints, err := b.interfaceEndpoints(p, groups[groupEndpoints])
	if err != nil {
		return nil, err
	}
	n.VPCID = p.vpcID
	n.SubnetIDs = pulumi.OutputWithDependencies(ctx.Context(), p.subnetIDs, append(p.ready, endpoints...)...).(pulumi.StringArrayOutput)
	n.ControlSecurityGroupID = groups[groupControl].ready
	n.MasterSecurityGroupID = groups[groupMaster].ready
	n.CoreSecurityGroupID = groups[groupCore].ready
	n.ServiceAccessSecurityGroupID = groups[groupServiceAccess].ready
	return n, ctx.RegisterResourceOutputs(n, pulumi.Map{
		"vpcId": n.VPCID, "subnetIds": n.SubnetIDs,
		"controlSecurityGroupId": n.ControlSecurityGroupID, "masterSecurityGroupId": n.MasterSecurityGroupID,
		"coreSecurityGroupId": n.CoreSecurityGroupID, "serviceAccessSecurityGroupId": n.ServiceAccessSecurityGroupID,
	})
}

type builder struct {
	ctx    *pulumi.Context
	parent *Network
	base   string
	args   *Args
}

func (b *builder) name(role string) string { return b.base + "-" + role }

func (b *builder) child(extra ...pulumi.ResourceOption) []pulumi.ResourceOption {
	return append([]pulumi.ResourceOption{pulumi.Parent(b.parent)}, extra...)
}

// tags are the caller's, the resource's name and, where EMR must find it, the
// tag of its managed policy.
func (b *builder) tags(role string, forEMR bool) pulumi.StringMap {
	t := map[string]string{}
	maps.Copy(t, b.args.Tags)
	t["Name"] = b.name(role)
	if forEMR {
		t[platform.EMRManagedPolicyTag] = "true"
	}
	return pulumi.ToStringMap(t)
}

// place is where the machines go.
type place struct {
	vpcID        pulumi.StringOutput
	subnetIDs    pulumi.StringArrayOutput
	ready        []pulumi.Resource   // what a machine in the subnets relies on
	s3PrefixList pulumi.StringOutput // addresses of S3 in the region
}

func (b *builder) place() (place, error) {
	if b.args.ExistingVPCID != "" {
		return b.existing()
	}
	return b.own()
}

// existing takes a VPC as it is. Tag resources are named after the subnet, not
// after its position: reordering the list must not take the tag away.
func (b *builder) existing() (place, error) {
	for _, id := range b.args.ExistingSubnetIDs {
		_, err := ec2.NewTag(b.ctx, b.name("emr-tag-"+id), &ec2.TagArgs{
			ResourceId: pulumi.String(id), Key: pulumi.String(platform.EMRManagedPolicyTag), Value: pulumi.String("true"),
		}, b.child()...)
		if err != nil {
			return place{}, fmt.Errorf("tag subnet %s: %w", id, err)
		}
	}
	list := ec2.GetPrefixListOutput(b.ctx, ec2.GetPrefixListOutputArgs{
		Name: pulumi.String("com.amazonaws." + b.args.Region + ".s3"),
	}, pulumi.Parent(b.parent))
	return place{
		vpcID:        pulumi.String(b.args.ExistingVPCID).ToStringOutput(),
		subnetIDs:    pulumi.ToStringArray(b.args.ExistingSubnetIDs).ToStringArrayOutput(),
		s3PrefixList: list.Id(),
	}, nil
}
