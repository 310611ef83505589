package network

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// zoneOfPublicSubnet looks up the zone of an existing public subnet. It refuses a subnet in
// which an Elastic IP cannot be reached: the update would wait for the control node until
// the gate gives up.
func (b *builder) zoneOfPublicSubnet() (string, error) {
	const path = "network.publicSubnetId"
	id := b.args.PublicSubnetID
	subnet, err := ec2.LookupSubnet(b.Ctx, &ec2.LookupSubnetArgs{Id: &id}, pulumi.Parent(b.Parent))
	if err != nil {
		return "", fmt.Errorf("look up %s %s: %w", path, id, err)
	}
	var l violation.List
	l.Require(subnet.VpcId == b.args.VPCID, path, id, "must be a subnet of network.vpcId, "+b.args.VPCID+"; it is in "+subnet.VpcId,
		"name a subnet of that VPC")
	if err := l.Err(); err != nil {
		return "", err
	}
	table, err := b.routeTable(id)
	if err != nil {
		return "", fmt.Errorf("look up the route table of %s %s: %w", path, id, err)
	}
	l.Require(slices.ContainsFunc(table.Routes, leadsToInternet), path, id,
		"must have a route of "+string(everywhere)+" to an internet gateway; its route table "+table.RouteTableId+" has none",
		"name a public subnet of the VPC, or set controlNode.access to vpc or tunnel")
	return subnet.AvailabilityZone, l.Err()
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

func leadsToInternet(r ec2.GetRouteTableRoute) bool {
	return r.CidrBlock == string(everywhere) && strings.HasPrefix(r.GatewayId, "igw-")
}
