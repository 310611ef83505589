package network

import (
	"fmt"
	"net/netip"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// own makes a VPC. Its parts are named by the position of their zone, "a" and
// "b", not by the zone: which zones an account sees differs.
func (b *builder) own() (place, error) {
	cidr, err := netip.ParsePrefix(b.args.CIDR)
	if err != nil {
		return place{}, fmt.Errorf("parse network %s: %w", b.args.CIDR, err)
	}
	vpc, err := ec2.NewVpc(b.ctx, b.name("vpc"), &ec2.VpcArgs{
		CidrBlock: pulumi.String(b.args.CIDR),
		// EMR refuses a VPC without both (Management Guide, "VPC options").
		EnableDnsHostnames: pulumi.Bool(true),
		EnableDnsSupport:   pulumi.Bool(true),
		Tags:               b.tags("vpc", true),
	}, b.child()...)
	if err != nil {
		return place{}, fmt.Errorf("create VPC: %w", err)
	}
	// Adopted without rules: whatever is started without a group reaches nothing.
	_, err = ec2.NewDefaultSecurityGroup(b.ctx, b.name("default-group"), &ec2.DefaultSecurityGroupArgs{
		VpcId: vpc.ID(), Tags: b.tags("default-group", false),
	}, b.child()...)
	if err != nil {
		return place{}, fmt.Errorf("empty default security group: %w", err)
	}
	parts := layoutOf(cidr)
	routes, subnets, ready, err := b.privateSubnets(vpc, parts)
	if err != nil {
		return place{}, err
	}
	if b.args.NAT {
		out, err := b.wayOut(vpc, routes, parts.public)
		if err != nil {
			return place{}, err
		}
		ready = append(ready, out)
	}
	s3, err := ec2.NewVpcEndpoint(b.ctx, b.name("s3"), &ec2.VpcEndpointArgs{
		VpcId: vpc.ID(), ServiceName: pulumi.String("com.amazonaws." + b.args.Region + ".s3"),
		VpcEndpointType: pulumi.String("Gateway"), RouteTableIds: pulumi.StringArray{routes.ID()}, Tags: b.tags("s3", false),
	}, b.child()...)
	if err != nil {
		return place{}, fmt.Errorf("create S3 endpoint: %w", err)
	}
	if err := b.flowLogs(vpc); err != nil {
		return place{}, err
	}
	return place{vpcID: vpc.ID().ToStringOutput(), subnetIDs: subnets, ready: append(ready, s3), s3PrefixList: s3.PrefixListId}, nil
}

// zone is the i-th zone: the named one, or the region's own i-th.
func (b *builder) zone(i int) pulumi.StringInput {
	if len(b.args.AvailabilityZones) > 0 {
		return pulumi.String(b.args.AvailabilityZones[i])
	}
	return aws.GetAvailabilityZonesOutput(b.ctx, aws.GetAvailabilityZonesOutputArgs{
		State: pulumi.String("available"),
		// Leaves out local and wavelength zones, which EMR does not serve.
		Filters: aws.GetAvailabilityZonesFilterArray{aws.GetAvailabilityZonesFilterArgs{
			Name: pulumi.String("opt-in-status"), Values: pulumi.StringArray{pulumi.String("opt-in-not-required")},
		}},
	}, pulumi.Parent(b.parent)).Names().Index(pulumi.Int(i))
}

// privateSubnets also gives what ties them to their route table.
func (b *builder) privateSubnets(vpc *ec2.Vpc, parts layout) (*ec2.RouteTable, pulumi.StringArrayOutput, []pulumi.Resource, error) {
	none := pulumi.StringArrayOutput{}
	routes, err := ec2.NewRouteTable(b.ctx, b.name("private"), &ec2.RouteTableArgs{VpcId: vpc.ID(), Tags: b.tags("private", false)}, b.child()...)
	if err != nil {
		return nil, none, nil, fmt.Errorf("create private route table: %w", err)
	}
	var ids pulumi.StringArray
	var tied []pulumi.Resource
	for i, letter := range []string{"a", "b"} {
		role := "private-" + letter
		subnet, err := ec2.NewSubnet(b.ctx, b.name(role), &ec2.SubnetArgs{
			VpcId: vpc.ID(), CidrBlock: pulumi.String(parts.private[i].String()), AvailabilityZone: b.zone(i),
			MapPublicIpOnLaunch: pulumi.Bool(false), Tags: b.tags(role, true),
		}, b.child()...)
		if err != nil {
			return nil, none, nil, fmt.Errorf("create subnet %s: %w", role, err)
		}
		association, err := ec2.NewRouteTableAssociation(b.ctx, b.name(role), &ec2.RouteTableAssociationArgs{
			RouteTableId: routes.ID(), SubnetId: subnet.ID(),
		}, b.child()...)
		if err != nil {
			return nil, none, nil, fmt.Errorf("associate subnet %s: %w", role, err)
		}
		ids, tied = append(ids, subnet.ID().ToStringOutput()), append(tied, association)
	}
	return routes, ids.ToStringArrayOutput(), tied, nil
}

// wayOut gives the private subnets a NAT gateway and returns their route to
// it. The public subnet holds nothing else.
func (b *builder) wayOut(vpc *ec2.Vpc, private *ec2.RouteTable, cidr netip.Prefix) (*ec2.Route, error) {
	gateway, err := ec2.NewInternetGateway(b.ctx, b.name("internet"), &ec2.InternetGatewayArgs{VpcId: vpc.ID(), Tags: b.tags("internet", false)}, b.child()...)
	if err != nil {
		return nil, fmt.Errorf("create internet gateway: %w", err)
	}
	subnet, err := ec2.NewSubnet(b.ctx, b.name("public-a"), &ec2.SubnetArgs{
		VpcId: vpc.ID(), CidrBlock: pulumi.String(cidr.String()), AvailabilityZone: b.zone(0),
		MapPublicIpOnLaunch: pulumi.Bool(false), Tags: b.tags("public-a", false),
	}, b.child()...)
	if err != nil {
		return nil, fmt.Errorf("create public subnet: %w", err)
	}
	routes, err := ec2.NewRouteTable(b.ctx, b.name("public"), &ec2.RouteTableArgs{VpcId: vpc.ID(), Tags: b.tags("public", false)}, b.child()...)
	if err != nil {
		return nil, fmt.Errorf("create public route table: %w", err)
	}
	everywhere := pulumi.String("0.0.0.0/0")
	out, err := ec2.NewRoute(b.ctx, b.name("public-out"), &ec2.RouteArgs{RouteTableId: routes.ID(), DestinationCidrBlock: everywhere, GatewayId: gateway.ID()}, b.child()...)
	if err != nil {
		return nil, fmt.Errorf("create public route: %w", err)
	}
	if _, err = ec2.NewRouteTableAssociation(b.ctx, b.name("public-a"), &ec2.RouteTableAssociationArgs{RouteTableId: routes.ID(), SubnetId: subnet.ID()}, b.child()...); err != nil {
		return nil, fmt.Errorf("associate public subnet: %w", err)
	}
	address, err := ec2.NewEip(b.ctx, b.name("nat"), &ec2.EipArgs{Domain: pulumi.String("vpc"), Tags: b.tags("nat", false)}, b.child(pulumi.DependsOn([]pulumi.Resource{gateway}))...)
	if err != nil {
		return nil, fmt.Errorf("allocate NAT address: %w", err)
	}
	nat, err := ec2.NewNatGateway(b.ctx, b.name("nat"), &ec2.NatGatewayArgs{AllocationId: address.ID(), SubnetId: subnet.ID(), Tags: b.tags("nat", false)},
		b.child(pulumi.DependsOn([]pulumi.Resource{out}))...)
	if err != nil {
		return nil, fmt.Errorf("create NAT gateway: %w", err)
	}
	route, err := ec2.NewRoute(b.ctx, b.name("private-out"), &ec2.RouteArgs{RouteTableId: private.ID(), DestinationCidrBlock: everywhere, NatGatewayId: nat.ID()}, b.child()...)
	if err != nil {
		return nil, fmt.Errorf("create private route: %w", err)
	}
	return route, nil
}

func (b *builder) flowLogs(vpc *ec2.Vpc) error {
	if b.args.FlowLogBucketARN == nil {
		return nil
	}
	_, err := ec2.NewFlowLog(b.ctx, b.name("flow-log"), &ec2.FlowLogArgs{
		VpcId: vpc.ID(), TrafficType: pulumi.String("ALL"), Tags: b.tags("flow-log", false),
		LogDestinationType: pulumi.String("s3"), LogDestination: pulumi.StringInput(b.args.FlowLogBucketARN).ToStringOutput(),
	}, b.child()...)
	if err != nil {
		return fmt.Errorf("create flow log: %w", err)
	}
	return nil
}

// interfaceEndpoints puts the named services into the private subnets.
func (b *builder) interfaceEndpoints(p place, g *group) ([]pulumi.Resource, error) {
	var made []pulumi.Resource
	for _, service := range b.args.InterfaceEndpoints {
		role := "endpoint-" + service
		e, err := ec2.NewVpcEndpoint(b.ctx, b.name(role), &ec2.VpcEndpointArgs{
			VpcId: p.vpcID, ServiceName: pulumi.String("com.amazonaws." + b.args.Region + "." + service),
			VpcEndpointType: pulumi.String("Interface"), PrivateDnsEnabled: pulumi.Bool(true),
			SubnetIds: p.subnetIDs, SecurityGroupIds: pulumi.StringArray{g.ready}, Tags: b.tags(role, false),
		}, b.child()...)
		if err != nil {
			return nil, fmt.Errorf("create endpoint of %s: %w", service, err)
		}
		made = append(made, e)
	}
	return made, nil
}
