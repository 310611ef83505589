package network

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// lookUpVPC looks up the existing VPC, in a preview too. It refuses one in which the update
// would wait for a control node or a cluster that cannot start, and logs what may be wrong.
func (b *builder) lookUpVPC() (platform.VPC, error) {
	found, err := ec2.LookupVpc(b.Ctx, &ec2.LookupVpcArgs{Id: &b.args.VPCID}, pulumi.Parent(b.Parent))
	if err != nil {
		return platform.VPC{}, fmt.Errorf("look up network.vpcId %s: %w", b.args.VPCID, err)
	}
	v := platform.VPC{
		ID: b.args.VPCID, DNSSupport: found.EnableDnsSupport, DNSHostnames: found.EnableDnsHostnames, Subnets: map[string]platform.VPCSubnet{},
	}
	for _, a := range found.CidrBlockAssociations {
		v.CIDRs = append(v.CIDRs, a.CidrBlock)
	}
	if v.DNSServers, err = b.dnsServers(found.DhcpOptionsId); err != nil {
		return v, err
	}
	ids := slices.Clone(b.args.SubnetIDs)
	if b.args.PublicControl {
		ids = append(ids, b.args.PublicSubnetID)
	}
	for _, id := range ids {
		if v.Subnets[id], err = b.lookUpSubnet(id); err != nil {
			return v, err
		}
	}
	var l violation.List
	b.args.CheckExistingVPC(&l, "network", v, b.args.Use)
	for _, w := range l.Warnings() {
		if err := b.Ctx.Log.Warn(w.Error(), nil); err != nil {
			return v, fmt.Errorf("warn of network.vpcId: %w", err)
		}
	}
	return v, l.Err()
}

// dnsServers are those of a DHCP option set; a VPC without one has the id default (EC2
// API, AssociateDhcpOptions). The set of a VPC that another account shares may be hidden.
func (b *builder) dnsServers(set string) ([]string, error) {
	if set == "" || set == "default" {
		return nil, nil
	}
	found, err := ec2.LookupVpcDhcpOptions(b.Ctx, &ec2.LookupVpcDhcpOptionsArgs{DhcpOptionsId: &set}, pulumi.Parent(b.Parent))
	if err == nil {
		return found.DomainNameServers, nil
	}
	err = b.Ctx.Log.Warn(fmt.Sprintf("network.dnsServers: whether %s has DNS servers of its own is not known: look up its DHCP option "+
		"set %s: %v; allow ec2:DescribeDhcpOptions, or ask the VPC's owner", b.args.VPCID, set, err), nil)
	if err != nil {
		return nil, fmt.Errorf("warn of network.dnsServers: %w", err)
	}
	return nil, nil // not known
}

// lookUpSubnet looks up a subnet with its routes, if it is in the VPC.
func (b *builder) lookUpSubnet(id string) (platform.VPCSubnet, error) {
	found, err := ec2.LookupSubnet(b.Ctx, &ec2.LookupSubnetArgs{Id: &id}, pulumi.Parent(b.Parent))
	if err != nil {
		return platform.VPCSubnet{}, fmt.Errorf("look up subnet %s: %w", id, err)
	}
	s := platform.VPCSubnet{VPC: found.VpcId, CIDR: found.CidrBlock, Zone: found.AvailabilityZone}
	if s.VPC != b.args.VPCID {
		return s, nil
	}
	table, err := b.routeTable(id)
	if err != nil {
		return s, fmt.Errorf("look up the route table of subnet %s: %w", id, err)
	}
	s.RouteTable = table.RouteTableId
	for _, r := range table.Routes {
		s.Routes = append(s.Routes, platform.VPCRoute{
			To: cmp.Or(r.CidrBlock, r.DestinationPrefixListId, r.Ipv6CidrBlock),
			By: cmp.Or(r.GatewayId, r.NatGatewayId, r.TransitGatewayId, r.NetworkInterfaceId, r.InstanceId, r.VpcEndpointId,
				r.VpcPeeringConnectionId, r.CoreNetworkArn, r.LocalGatewayId, r.CarrierGatewayId, r.EgressOnlyGatewayId),
		})
	}
	return s, nil
}

// routeTable looks up the route table of a subnet: its own, or else the VPC's main one
// (VPC User Guide, "Subnet route tables"). The provider finds a subnet's own table only.
func (b *builder) routeTable(subnet string) (*ec2.LookupRouteTableResult, error) {
	own, ownErr := ec2.LookupRouteTable(b.Ctx, &ec2.LookupRouteTableArgs{SubnetId: &subnet}, pulumi.Parent(b.Parent))
	if ownErr == nil {
		return own, nil
	}
	common, err := ec2.LookupRouteTable(b.Ctx, &ec2.LookupRouteTableArgs{
		VpcId: &b.args.VPCID, Filters: []ec2.GetRouteTableFilter{{Name: "association.main", Values: []string{"true"}}},
	}, pulumi.Parent(b.Parent))
	if err != nil {
		return nil, errors.Join(ownErr, err)
	}
	return common, nil
}
