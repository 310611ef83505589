package network

import (
	"fmt"
	"net/netip"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// createVPC names subnets by the position of their zone, "a" and "b", not by the
// zone: zones differ between accounts.
func (b *builder) createVPC(zones pulumi.StringArrayOutput) (vpcInfo, error) {
	cidr, err := netip.ParsePrefix(b.args.CIDR)
	if err != nil {
		return vpcInfo{}, fmt.Errorf("parse network %s: %w", b.args.CIDR, err)
	}
	vpc, err := ec2.NewVpc(b.Ctx, b.Name("vpc"), &ec2.VpcArgs{
		CidrBlock: pulumi.String(b.args.CIDR),
		// EMR refuses a VPC without both (Management Guide, "VPC options").
		EnableDnsHostnames: pulumi.Bool(true),
		EnableDnsSupport:   pulumi.Bool(true),
		Tags:               b.emrTags("vpc"),
	}, b.Options()...)
	if err != nil {
		return vpcInfo{}, fmt.Errorf("create VPC: %w", err)
	}
	// Adopted without rules, so that an instance in no other group reaches nothing.
	_, err = ec2.NewDefaultSecurityGroup(b.Ctx, b.Name("default-group"), &ec2.DefaultSecurityGroupArgs{
		VpcId: vpc.ID(), Tags: b.Tags("default-group"),
	}, b.Options()...)
	if err != nil {
		return vpcInfo{}, fmt.Errorf("remove rules of default security group: %w", err)
	}
	parts := layoutOf(cidr)
	private, err := b.createPrivateSubnets(vpc, parts, zones)
	if err != nil {
		return vpcInfo{}, err
	}
	out, err := b.createNATGateway(vpc, private.routes, parts.public, zones)
	if err != nil {
		return vpcInfo{}, err
	}
	s3, err := ec2.NewVpcEndpoint(b.Ctx, b.Name("s3"), &ec2.VpcEndpointArgs{
		VpcId: vpc.ID(), ServiceName: pulumi.String("com.amazonaws." + b.args.Region + ".s3"),
		VpcEndpointType: pulumi.String("Gateway"), RouteTableIds: pulumi.StringArray{private.routes.ID()}, Tags: b.Tags("s3"),
	}, b.Options()...)
	if err != nil {
		return vpcInfo{}, fmt.Errorf("create S3 endpoint: %w", err)
	}
	if err := b.createFlowLog(vpc); err != nil {
		return vpcInfo{}, err
	}
	return vpcInfo{
		vpcID: vpc.ID().ToStringOutput(), subnetIDs: private.ids.ToStringArrayOutput(), zone: private.zone,
		ready: append(private.associations, out, s3), s3PrefixList: s3.PrefixListId,
	}, nil
}

// private are the private subnets.
type private struct {
	routes       *ec2.RouteTable
	ids          pulumi.StringArray
	zone         pulumi.StringOutput // of the first
	associations []pulumi.Resource   // of the subnets with the route table
}

func (b *builder) createPrivateSubnets(vpc *ec2.Vpc, parts layout, zones pulumi.StringArrayOutput) (private, error) {
	var out private
	var err error
	out.routes, err = ec2.NewRouteTable(b.Ctx, b.Name("private"), &ec2.RouteTableArgs{VpcId: vpc.ID(), Tags: b.Tags("private")},
		b.Options()...)
	if err != nil {
		return out, fmt.Errorf("create private route table: %w", err)
	}
	for i, letter := range []string{"a", "b"} {
		role := "private-" + letter
		subnet, err := ec2.NewSubnet(b.Ctx, b.Name(role), &ec2.SubnetArgs{
			VpcId: vpc.ID(), CidrBlock: pulumi.String(parts.private[i].String()), AvailabilityZone: zones.Index(pulumi.Int(i)),
			MapPublicIpOnLaunch: pulumi.Bool(false), Tags: b.emrTags(role),
		}, b.subnetOptions()...)
		if err != nil {
			return out, fmt.Errorf("create subnet %s: %w", role, err)
		}
		association, err := ec2.NewRouteTableAssociation(b.Ctx, b.Name(role), &ec2.RouteTableAssociationArgs{
			RouteTableId: out.routes.ID(), SubnetId: subnet.ID(),
		}, b.Options()...)
		if err != nil {
			return out, fmt.Errorf("associate subnet %s: %w", role, err)
		}
		if i == 0 {
			out.zone = subnet.AvailabilityZone
		}
		out.ids, out.associations = append(out.ids, subnet.ID().ToStringOutput()), append(out.associations, association)
	}
	return out, nil
}

// createNATGateway creates a NAT gateway in a public subnet of its own and returns
// the private subnets' route to it.
func (b *builder) createNATGateway(vpc *ec2.Vpc, private *ec2.RouteTable, cidr netip.Prefix,
	zones pulumi.StringArrayOutput) (*ec2.Route, error) {
	gateway, err := ec2.NewInternetGateway(b.Ctx, b.Name("internet"), &ec2.InternetGatewayArgs{VpcId: vpc.ID(), Tags: b.Tags("internet")},
		b.Options()...)
	if err != nil {
		return nil, fmt.Errorf("create internet gateway: %w", err)
	}
	subnet, err := ec2.NewSubnet(b.Ctx, b.Name("public-a"), &ec2.SubnetArgs{
		VpcId: vpc.ID(), CidrBlock: pulumi.String(cidr.String()), AvailabilityZone: zones.Index(pulumi.Int(0)),
		MapPublicIpOnLaunch: pulumi.Bool(false), Tags: b.Tags("public-a"),
	}, b.subnetOptions()...)
	if err != nil {
		return nil, fmt.Errorf("create public subnet: %w", err)
	}
	routes, err := ec2.NewRouteTable(b.Ctx, b.Name("public"), &ec2.RouteTableArgs{VpcId: vpc.ID(), Tags: b.Tags("public")}, b.Options()...)
	if err != nil {
		return nil, fmt.Errorf("create public route table: %w", err)
	}
	everywhere := pulumi.String("0.0.0.0/0")
	out, err := ec2.NewRoute(b.Ctx, b.Name("public-out"), &ec2.RouteArgs{RouteTableId: routes.ID(), DestinationCidrBlock: everywhere,
		GatewayId: gateway.ID()}, b.Options()...)
	if err != nil {
		return nil, fmt.Errorf("create public route: %w", err)
	}
	if _, err = ec2.NewRouteTableAssociation(b.Ctx, b.Name("public-a"),
		&ec2.RouteTableAssociationArgs{RouteTableId: routes.ID(), SubnetId: subnet.ID()}, b.Options()...); err != nil {
		return nil, fmt.Errorf("associate public subnet: %w", err)
	}
	address, err := ec2.NewEip(b.Ctx, b.Name("nat"), &ec2.EipArgs{Domain: pulumi.String("vpc"), Tags: b.Tags("nat")},
		b.Options(pulumi.DependsOn([]pulumi.Resource{gateway}))...)
	if err != nil {
		return nil, fmt.Errorf("allocate NAT address: %w", err)
	}
	nat, err := ec2.NewNatGateway(b.Ctx, b.Name("nat"), &ec2.NatGatewayArgs{AllocationId: address.ID(), SubnetId: subnet.ID(),
		Tags: b.Tags("nat")},
		b.Options(pulumi.DependsOn([]pulumi.Resource{out}))...)
	if err != nil {
		return nil, fmt.Errorf("create NAT gateway: %w", err)
	}
	route, err := ec2.NewRoute(b.Ctx, b.Name("private-out"), &ec2.RouteArgs{RouteTableId: private.ID(), DestinationCidrBlock: everywhere,
		NatGatewayId: nat.ID()}, b.Options()...)
	if err != nil {
		return nil, fmt.Errorf("create private route: %w", err)
	}
	return route, nil
}

func (b *builder) createFlowLog(vpc *ec2.Vpc) error {
	if b.args.FlowLogBucketARN == nil {
		return nil
	}
	_, err := ec2.NewFlowLog(b.Ctx, b.Name("flow-log"), &ec2.FlowLogArgs{
		VpcId: vpc.ID(), TrafficType: pulumi.String("ALL"), Tags: b.Tags("flow-log"),
		LogDestinationType: pulumi.String("s3"), LogDestination: b.args.FlowLogBucketARN.ToStringOutput(),
	}, b.Options()...)
	if err != nil {
		return fmt.Errorf("create flow log: %w", err)
	}
	return nil
}

// createInterfaceEndpoints creates endpoints of the configured services in the
// private subnets.
func (b *builder) createInterfaceEndpoints(v vpcInfo, g *group) ([]pulumi.Resource, error) {
	var created []pulumi.Resource
	for _, service := range b.args.InterfaceEndpoints {
		role := "endpoint-" + service
		e, err := ec2.NewVpcEndpoint(b.Ctx, b.Name(role), &ec2.VpcEndpointArgs{
			VpcId: v.vpcID, ServiceName: pulumi.String("com.amazonaws." + b.args.Region + "." + service),
			VpcEndpointType: pulumi.String("Interface"), PrivateDnsEnabled: pulumi.Bool(true),
			SubnetIds: v.subnetIDs, SecurityGroupIds: pulumi.StringArray{g.ready}, Tags: b.Tags(role),
		}, b.Options()...)
		if err != nil {
			return nil, fmt.Errorf("create endpoint of %s: %w", service, err)
		}
		created = append(created, e)
	}
	return created, nil
}
