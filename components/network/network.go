package network

import (
	"fmt"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/internal/child"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
)

// TypeToken is the component's type.
const TypeToken = platform.Name + ":network:Network"

// Args describes the network. Validate checks it.
type Args struct {
	Region string // required, us-east-1
	schema.Network
	InstanceTypes []string // required: of all machines that will run in the subnets

	// TypesIn are the types of the nodes that EMR can start in no other subnet, by the
	// index of the private subnet.
	TypesIn     map[int][]string
	ControlType string // of the control node

	OperatorCIDRs []string // who may reach Grafana, the Kubernetes API, /status and the tools; empty = nobody
	Profiler      bool     // the control node runs it, and with it the tools

	// Senders are ids of security groups, of other owners, that send spans to the control node.
	Senders []string

	// Outbound is what the control node connects to besides HTTPS: addresses outside
	// the platform.
	Outbound []Outbound

	// PublicControl places the control node in a public subnet: an own one, or
	// PublicSubnetID of an existing VPC. false = in the first private subnet.
	PublicControl bool

	Use schema.NetworkUse // of an existing VPC

	// FlowLogBucketARN receives the flow logs of a VPC that the stack creates;
	// nil = no flow logs. The bucket's policy must admit
	// delivery.logs.amazonaws.com.
	FlowLogBucketARN pulumi.StringInput
}

// Outbound is a port of a network, or of one address.
type Outbound struct {
	Name string // unique; part of the rule's name
	CIDR string
	Port int
}

// Network is the VPC, its subnets and security groups. Subnet ids resolve once
// their routes and endpoints exist, group ids once their rules do: a machine
// started earlier could download nothing, and a node could send nothing.
type Network struct {
	pulumi.ResourceState

	VPCID                   pulumi.StringOutput      `pulumi:"vpcId"`
	SubnetIDs               pulumi.StringArrayOutput `pulumi:"subnetIds"`      // private, in the order of the zones
	Zone                    pulumi.StringOutput      `pulumi:"zone"`           // of the first subnet
	S3PrefixListID          pulumi.StringOutput      `pulumi:"s3PrefixListId"` // addresses of S3 in the region
	ControlSubnetID         pulumi.StringOutput      `pulumi:"controlSubnetId"`
	ControlZone             pulumi.StringOutput      `pulumi:"controlZone"` // of that subnet
	ControlSecurityGroupID  pulumi.StringOutput      `pulumi:"controlSecurityGroupId"`
	ObservedSecurityGroupID pulumi.StringOutput      `pulumi:"observedSecurityGroupId"` // for each node that sends telemetry
}

// New builds the network. It registers nothing when args are invalid.
func New(ctx *pulumi.Context, name string, args *Args, opts ...pulumi.ResourceOption) (*Network, error) {
	if err := args.Validate(); err != nil {
		return nil, err
	}
	n := &Network{}
	children, err := child.Register(ctx, n, TypeToken, name, pulumi.Map{
		"region": pulumi.String(args.Region), "cidr": pulumi.String(args.CIDR), "existingVpcId": pulumi.String(args.VPCID),
		"nat": pulumi.Bool(args.NAT && args.VPCID == ""), "operatorCidrs": pulumi.ToStringArray(args.OperatorCIDRs),
		"publicControl": pulumi.Bool(args.PublicControl),
	}, opts...)
	if err != nil {
		return nil, err
	}
	b := &builder{Builder: children, args: args}
	if err := b.checkNamedZones(); err != nil {
		return nil, err
	}
	offerings := b.findOfferings()
	v, err := b.findOrCreateVPC(offerings)
	if err != nil {
		return nil, err
	}
	groups, err := b.createSecurityGroups(v)
	if err != nil {
		return nil, err
	}
	endpoints, err := b.createInterfaceEndpoints(v, groups[groupEndpoints])
	if err != nil {
		return nil, err
	}
	n.VPCID = v.vpcID
	n.Zone, n.ControlZone = b.checkedZones(v, offerings)
	n.SubnetIDs = withDependencies(ctx, after(n.Zone, v.subnetIDs), append(v.ready, endpoints...)...)
	n.ControlSubnetID = n.SubnetIDs.Index(pulumi.Int(0))
	if args.PublicControl {
		n.ControlSubnetID = withDependencies(ctx, after(n.Zone, v.publicSubnetID), append(v.publicReady, endpoints...)...)
	}
	n.S3PrefixListID = v.s3PrefixList
	n.ControlSecurityGroupID = groups[groupControl].Ready
	n.ObservedSecurityGroupID = groups[groupObserved].Ready
	return n, b.RegisterOutputs()
}

type builder struct {
	child.Builder
	args *Args
}

// emrTags returns the Name tag and the one that EMR's managed policy requires.
func (b *builder) emrTags(role string) pulumi.StringMap {
	return pulumi.StringMap{child.TagName: pulumi.String(b.Name(role)), platform.EMRManagedPolicyTag: pulumi.String("true")}
}

// vpcInfo is the VPC that the machines run in.
type vpcInfo struct {
	vpcID        pulumi.StringOutput
	subnetIDs    pulumi.StringArrayOutput    // private
	zones        map[int]pulumi.StringOutput // of the first private subnet, and of those in Args.TypesIn, by index
	ready        []pulumi.Resource           // routes and endpoints that a machine in the subnets needs
	s3PrefixList pulumi.StringOutput         // addresses of S3 in the region

	// With Args.PublicControl:
	publicSubnetID pulumi.StringOutput
	publicZone     pulumi.StringOutput
	publicReady    []pulumi.Resource // routes and endpoints that a machine in it needs
}

func (b *builder) findOrCreateVPC(offerings pulumi.StringArrayMapOutput) (vpcInfo, error) {
	if b.args.VPCID != "" {
		return b.useExistingVPC()
	}
	return b.createVPC(b.zones(offerings))
}

// useExistingVPC checks the VPC and only tags the subnets. Tag resources are named after the subnet,
// not after its position, so that reordering the list removes no tag. Every stack
// in a subnet needs the same tag, so that none may remove it.
func (b *builder) useExistingVPC() (vpcInfo, error) {
	found, err := b.lookUpVPC()
	if err != nil {
		return vpcInfo{}, err
	}
	for _, id := range b.args.SubnetIDs {
		_, err := ec2.NewTag(b.Ctx, b.Name("emr-tag-"+id), &ec2.TagArgs{
			ResourceId: pulumi.String(id), Key: pulumi.String(platform.EMRManagedPolicyTag), Value: pulumi.String("true"),
		}, b.Options(pulumi.RetainOnDelete(true))...)
		if err != nil {
			return vpcInfo{}, fmt.Errorf("tag subnet %s: %w", id, err)
		}
	}
	list := ec2.GetPrefixListOutput(b.Ctx, ec2.GetPrefixListOutputArgs{
		Name: pulumi.String("com.amazonaws." + b.args.Region + ".s3"),
	}, pulumi.Parent(b.Parent))
	v := vpcInfo{
		vpcID:        pulumi.String(b.args.VPCID).ToStringOutput(),
		subnetIDs:    pulumi.ToStringArray(b.args.SubnetIDs).ToStringArrayOutput(),
		zones:        map[int]pulumi.StringOutput{},
		s3PrefixList: list.Id(),

		publicSubnetID: pulumi.String(b.args.PublicSubnetID).ToStringOutput(),
	}
	for i, id := range b.args.SubnetIDs {
		if b.used(i) {
			v.zones[i] = pulumi.String(found.Subnets[id].Zone).ToStringOutput()
		}
	}
	v.publicZone = pulumi.String(found.Subnets[b.args.PublicSubnetID].Zone).ToStringOutput()
	return v, nil
}

// withDependencies returns an output that resolves once these resources exist.
func withDependencies[O pulumi.Output](ctx *pulumi.Context, o O, on ...pulumi.Resource) O {
	out, sameType := pulumi.OutputWithDependencies(ctx.Context(), o, on...).(O)
	if !sameType {
		panic(fmt.Sprintf("OutputWithDependencies no longer keeps the output's type %T", o))
	}
	return out
}
