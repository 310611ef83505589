package doctor

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Network is a VPC that exists already, with the subnets in which the stack is to run.
type Network struct {
	VPC     string
	Subnets []string
	// Judge returns what is wrong with it: a check for each, and none if nothing is.
	Judge func(platform.VPC) []Check
}

// network examines the existing VPC.
func (a account) network(ctx context.Context) []Check {
	c := Check{Name: "network", Rule: "the VPC of network.vpcId must be one in which the stack can start"}
	v, err := a.lookUpVPC(ctx)
	if err != nil {
		return []Check{unread(c, err, "ec2:DescribeVpcs", "ec2:DescribeVpcAttribute", "ec2:DescribeDhcpOptions", "ec2:DescribeSubnets",
			"ec2:DescribeRouteTables", "ec2:DescribeVpcEndpoints")}
	}
	checks := a.Network.Judge(v)
	if len(checks) == 0 {
		c.Found, c.OK = v.ID+" "+strings.Join(v.CIDRs, ", "), true
		checks = []Check{c}
	}
	return checks
}

func (a account) lookUpVPC(ctx context.Context) (platform.VPC, error) {
	v := platform.VPC{ID: a.Network.VPC, Subnets: map[string]platform.VPCSubnet{}, Endpoints: []string{}}
	found, err := a.ec2.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{VpcIds: []string{v.ID}})
	if err != nil {
		return v, err // the caller names the VPC
	}
	if len(found.Vpcs) == 0 {
		return v, fmt.Errorf("EC2 has no VPC %s in %s", v.ID, a.Region)
	}
	for _, association := range found.Vpcs[0].CidrBlockAssociationSet {
		v.CIDRs = append(v.CIDRs, aws.ToString(association.CidrBlock))
	}
	if err := a.readDNS(ctx, aws.ToString(found.Vpcs[0].DhcpOptionsId), &v); err != nil {
		return v, err
	}
	if err := a.readSubnets(ctx, &v); err != nil {
		return v, err
	}
	endpoints := ec2.NewDescribeVpcEndpointsPaginator(a.ec2, &ec2.DescribeVpcEndpointsInput{Filters: ofVPC(v.ID)})
	for endpoints.HasMorePages() {
		page, err := endpoints.NextPage(ctx)
		if err != nil {
			return v, err // as above
		}
		for _, e := range page.VpcEndpoints { // com.amazonaws.us-east-1.s3
			if _, short, ok := strings.Cut(aws.ToString(e.ServiceName), "."+a.Region+"."); ok {
				v.Endpoints = append(v.Endpoints, short)
			}
		}
	}
	return v, nil
}

func ofVPC(id string) []ec2types.Filter {
	return []ec2types.Filter{{Name: aws.String("vpc-id"), Values: []string{id}}}
}

// readDNS reads the VPC's attributes and the servers of its DHCP option set, which has the
// id default if there is none.
func (a account) readDNS(ctx context.Context, set string, v *platform.VPC) error {
	attribute := func(name ec2types.VpcAttributeName) (*ec2.DescribeVpcAttributeOutput, error) {
		return a.ec2.DescribeVpcAttribute(ctx, &ec2.DescribeVpcAttributeInput{VpcId: &v.ID, Attribute: name})
	}
	support, err := attribute(ec2types.VpcAttributeNameEnableDnsSupport)
	if err != nil {
		return err // the caller names the VPC
	}
	names, err := attribute(ec2types.VpcAttributeNameEnableDnsHostnames)
	if err != nil {
		return err // as above
	}
	v.DNSSupport = support.EnableDnsSupport != nil && aws.ToBool(support.EnableDnsSupport.Value)
	v.DNSHostnames = names.EnableDnsHostnames != nil && aws.ToBool(names.EnableDnsHostnames.Value)
	if set == "" || set == "default" {
		return nil
	}
	options, err := a.ec2.DescribeDhcpOptions(ctx, &ec2.DescribeDhcpOptionsInput{DhcpOptionsIds: []string{set}})
	if err != nil {
		return err // as above
	}
	for _, o := range options.DhcpOptions {
		for _, c := range o.DhcpConfigurations {
			if aws.ToString(c.Key) != "domain-name-servers" {
				continue
			}
			for _, value := range c.Values {
				v.DNSServers = append(v.DNSServers, aws.ToString(value.Value))
			}
		}
	}
	return nil
}

func (a account) readSubnets(ctx context.Context, v *platform.VPC) error {
	subnets, err := a.ec2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{SubnetIds: a.Network.Subnets})
	if err != nil {
		return err // the caller names the VPC
	}
	tables, err := a.ec2.DescribeRouteTables(ctx, &ec2.DescribeRouteTablesInput{Filters: ofVPC(v.ID)})
	if err != nil {
		return err // as above
	}
	for _, s := range subnets.Subnets {
		id := aws.ToString(s.SubnetId)
		read := platform.VPCSubnet{VPC: aws.ToString(s.VpcId), CIDR: aws.ToString(s.CidrBlock), Zone: aws.ToString(s.AvailabilityZone)}
		if table, ok := tableOf(id, tables.RouteTables); ok {
			read.RouteTable = aws.ToString(table.RouteTableId)
			for _, r := range table.Routes {
				read.Routes = append(read.Routes, readRoute(r))
			}
		}
		v.Subnets[id] = read
	}
	return nil
}

// tableOf returns the route table of a subnet: its own, or else the VPC's main one (VPC
// User Guide, "Subnet route tables").
func tableOf(subnet string, tables []ec2types.RouteTable) (main ec2types.RouteTable, ok bool) {
	for _, table := range tables {
		for _, association := range table.Associations {
			if aws.ToString(association.SubnetId) == subnet {
				return table, true
			}
			if aws.ToBool(association.Main) {
				main, ok = table, true
			}
		}
	}
	return main, ok
}

func readRoute(r ec2types.Route) platform.VPCRoute {
	to := fmt.Sprint(aws.ToString(r.DestinationCidrBlock), aws.ToString(r.DestinationPrefixListId), aws.ToString(r.DestinationIpv6CidrBlock))
	by := cmp.Or(aws.ToString(r.GatewayId), aws.ToString(r.NatGatewayId), aws.ToString(r.TransitGatewayId), aws.ToString(r.NetworkInterfaceId),
		aws.ToString(r.InstanceId), aws.ToString(r.VpcPeeringConnectionId), aws.ToString(r.CoreNetworkArn), aws.ToString(r.LocalGatewayId),
		aws.ToString(r.CarrierGatewayId), aws.ToString(r.EgressOnlyInternetGatewayId))
	return platform.VPCRoute{To: to, By: by, Blackhole: r.State == ec2types.RouteStateBlackhole}
}
