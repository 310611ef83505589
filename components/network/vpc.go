package network

import (
	"fmt"
	"net/netip"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/internal/securitygroup"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
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
	v, err := b.createSubnets(vpc, schema.SubnetsOf(cidr), zones)
	if err != nil {
		return vpcInfo{}, err
	}
	return v, b.createFlowLog(vpc)
}

// createSubnets creates the subnets with their routes and the S3 endpoint, which
// serves every subnet that machines run in.
func (b *builder) createSubnets(vpc *ec2.Vpc, parts schema.Subnets, zones pulumi.StringArrayOutput) (vpcInfo, error) {
	v := vpcInfo{vpcID: vpc.ID().ToStringOutput(), zones: map[int]pulumi.StringOutput{}}
	private, err := b.createPrivateSubnets(vpc, parts, zones, &v)
	if err != nil {
		return v, err
	}
	public, err := b.createPublicSubnet(vpc, parts.Public, zones)
	if err != nil {
		return v, err
	}
	out, err := b.createNATGateway(public, private)
	if err != nil {
		return v, err
	}
	tables := pulumi.StringArray{private.ID()}
	if b.args.PublicControl {
		tables = append(tables, public.routes.ID())
		v.publicSubnetID, v.publicReady = public.subnet.ID().ToStringOutput(), []pulumi.Resource{public.out, public.association}
	}
	s3, err := ec2.NewVpcEndpoint(b.Ctx, b.Name("s3"), &ec2.VpcEndpointArgs{
		VpcId: vpc.ID(), ServiceName: pulumi.String("com.amazonaws." + b.args.Region + ".s3"),
		VpcEndpointType: pulumi.String("Gateway"), RouteTableIds: tables, Tags: b.Tags("s3"),
	}, b.Options()...)
	if err != nil {
		return v, fmt.Errorf("create S3 endpoint: %w", err)
	}
	v.ready, v.publicReady, v.s3PrefixList = append(v.ready, out, s3), append(v.publicReady, s3), s3.PrefixListId
	return v, nil
}

// createPrivateSubnets returns the subnets' route table, and sets their ids, their
// zones and the table's associations in v.
func (b *builder) createPrivateSubnets(vpc *ec2.Vpc, parts schema.Subnets, zones pulumi.StringArrayOutput,
	v *vpcInfo) (*ec2.RouteTable, error) {
	routes, err := ec2.NewRouteTable(b.Ctx, b.Name("private"), &ec2.RouteTableArgs{VpcId: vpc.ID(), Tags: b.Tags("private")}, b.Options()...)
	if err != nil {
		return nil, fmt.Errorf("create private route table: %w", err)
	}
	var ids pulumi.StringArray
	for i, letter := range []string{"a", "b"} {
		role := "private-" + letter
		subnet, err := ec2.NewSubnet(b.Ctx, b.Name(role), &ec2.SubnetArgs{
			VpcId: vpc.ID(), CidrBlock: pulumi.String(parts.Private[i].String()), AvailabilityZone: zones.Index(pulumi.Int(i)),
			MapPublicIpOnLaunch: pulumi.Bool(false), Tags: b.emrTags(role),
		}, b.subnetOptions()...)
		if err != nil {
			return nil, fmt.Errorf("create subnet %s: %w", role, err)
		}
		association, err := ec2.NewRouteTableAssociation(b.Ctx, b.Name(role), &ec2.RouteTableAssociationArgs{
			RouteTableId: routes.ID(), SubnetId: subnet.ID(),
		}, b.Options()...)
		if err != nil {
			return nil, fmt.Errorf("associate subnet %s: %w", role, err)
		}
		v.zones[i] = subnet.AvailabilityZone
		ids, v.ready = append(ids, subnet.ID().ToStringOutput()), append(v.ready, association)
	}
	v.subnetIDs = ids.ToStringArrayOutput()
	return routes, nil
}

// publicSubnet has a route to an internet gateway.
type publicSubnet struct {
	gateway     *ec2.InternetGateway
	subnet      *ec2.Subnet
	routes      *ec2.RouteTable
	out         *ec2.Route
	association *ec2.RouteTableAssociation
}

// createPublicSubnet creates the subnet of the NAT gateway and of a control node
// with a public address. It gives no machine a public address by itself.
func (b *builder) createPublicSubnet(vpc *ec2.Vpc, cidr netip.Prefix, zones pulumi.StringArrayOutput) (*publicSubnet, error) {
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
	out, err := ec2.NewRoute(b.Ctx, b.Name("public-out"), &ec2.RouteArgs{RouteTableId: routes.ID(), DestinationCidrBlock: everywhere,
		GatewayId: gateway.ID()}, b.Options()...)
	if err != nil {
		return nil, fmt.Errorf("create public route: %w", err)
	}
	association, err := ec2.NewRouteTableAssociation(b.Ctx, b.Name("public-a"),
		&ec2.RouteTableAssociationArgs{RouteTableId: routes.ID(), SubnetId: subnet.ID()}, b.Options()...)
	if err != nil {
		return nil, fmt.Errorf("associate public subnet: %w", err)
	}
	return &publicSubnet{gateway, subnet, routes, out, association}, nil
}

const everywhere = pulumi.String(platform.AnyAddress)

// createNATGateway creates a NAT gateway in the public subnet and returns the
// private subnets' route to it.
func (b *builder) createNATGateway(public *publicSubnet, private *ec2.RouteTable) (*ec2.Route, error) {
	address, err := ec2.NewEip(b.Ctx, b.Name("nat"), &ec2.EipArgs{Domain: pulumi.String("vpc"), Tags: b.Tags("nat")},
		b.Options(pulumi.DependsOn([]pulumi.Resource{public.gateway}))...)
	if err != nil {
		return nil, fmt.Errorf("allocate NAT address: %w", err)
	}
	nat, err := ec2.NewNatGateway(b.Ctx, b.Name("nat"), &ec2.NatGatewayArgs{AllocationId: address.ID(), SubnetId: public.subnet.ID(),
		Tags: b.Tags("nat")},
		b.Options(pulumi.DependsOn([]pulumi.Resource{public.out}))...)
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
func (b *builder) createInterfaceEndpoints(v vpcInfo, g *securitygroup.Group) ([]pulumi.Resource, error) {
	var created []pulumi.Resource
	for _, service := range b.args.InterfaceEndpoints {
		role := "endpoint-" + service
		e, err := ec2.NewVpcEndpoint(b.Ctx, b.Name(role), &ec2.VpcEndpointArgs{
			VpcId: v.vpcID, ServiceName: pulumi.String("com.amazonaws." + b.args.Region + "." + service),
			VpcEndpointType: pulumi.String("Interface"), PrivateDnsEnabled: pulumi.Bool(true),
			SubnetIds: v.subnetIDs, SecurityGroupIds: pulumi.StringArray{g.Ready}, Tags: b.Tags(role),
		}, b.Options()...)
		if err != nil {
			return nil, fmt.Errorf("create endpoint of %s: %w", service, err)
		}
		created = append(created, e)
	}
	return created, nil
}
