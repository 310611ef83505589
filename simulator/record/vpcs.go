package record

import (
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
)

// vpcs are what getVpc and getVpcDhcpOptions return.
type vpcs struct {
	found   map[string]result
	options map[string]any // name servers by option set
}

func newVPCs() vpcs { return vpcs{found: map[string]result{}, options: map[string]any{}} }

func lookupVPC(a *Account, in map[string]any) (result, error) {
	id, _ := in["id"].(string)
	a.mu.Lock()
	defer a.mu.Unlock()
	v, ok := a.vpcs.found[id]
	if !ok {
		return nil, fmt.Errorf("no matching EC2 VPC found for id %q", id)
	}
	out := result{
		"id": id, "cidrBlock": v["cidrBlock"], "state": "available", "default": false, "ownerId": a.ID, "instanceTenancy": "default",
		"dhcpOptionsId": v["dhcpOptionsId"], "enableDnsSupport": v["enableDnsSupport"], "enableDnsHostnames": v["enableDnsHostnames"],
		"mainRouteTableId": v["mainRouteTableId"],
	}
	out["cidrBlockAssociations"] = []any{result{"associationId": "vpc-cidr-assoc-0", "cidrBlock": v["cidrBlock"], "state": "associated"}}
	return out, nil
}

// lookupDHCPOptions knows those that were added; every other set is AWS's own.
func lookupDHCPOptions(a *Account, in map[string]any) (result, error) {
	id, _ := in["dhcpOptionsId"].(string)
	a.mu.Lock()
	defer a.mu.Unlock()
	servers, ok := a.vpcs.options[id]
	if !ok {
		servers = []any{"AmazonProvidedDNS"}
	}
	return result{"id": id, "dhcpOptionsId": id, "domainNameServers": servers, "ownerId": a.ID}, nil
}

// Network is a VPC that no stack creates, for rehearsals of stacks that run in it.
type Network struct {
	VPC, CIDR string
	Private   []Subnet // lead out by a NAT gateway
	Public    []Subnet // lead out by an internet gateway
}

// Subnet is a subnet of a Network.
type Subnet struct{ ID, CIDR, Zone string }

// Resources returns what makes up the network: a VPC with DNS, and subnets each with a
// route table of its own.
func (n Network) Resources() []Resource {
	of := func(token, id string, outputs result) Resource {
		return Resource{Type: token, ID: id, URN: id, Outputs: resource.NewPropertyMapFromMap(outputs)}
	}
	out := []Resource{of("aws:ec2/vpc:Vpc", n.VPC, result{
		"cidrBlock": n.CIDR, "enableDnsSupport": true, "enableDnsHostnames": true, "dhcpOptionsId": "dopt-0123456789abcdef0",
		"mainRouteTableId": "rtb-0123456789abcdef0",
	})}
	add := func(s Subnet, key, gateway string) {
		table := "rtb-of-" + s.ID
		out = append(out,
			of("aws:ec2/subnet:Subnet", s.ID, result{"vpcId": n.VPC, "cidrBlock": s.CIDR, "availabilityZone": s.Zone}),
			of("aws:ec2/routeTableAssociation:RouteTableAssociation", "rtbassoc-of-"+s.ID, result{"subnetId": s.ID, "routeTableId": table}),
			of("aws:ec2/route:Route", "r-"+table, result{"routeTableId": table, "destinationCidrBlock": "0.0.0.0/0", key: gateway}),
		)
	}
	for _, s := range n.Private {
		add(s, "natGatewayId", "nat-0123456789abcdef0")
	}
	const gateway = "igw-0123456789abcdef0"
	for _, s := range n.Public {
		add(s, "gatewayId", gateway)
	}
	if len(n.Public) > 0 {
		out = append(out, of("aws:ec2/internetGateway:InternetGateway", gateway, result{"vpcId": n.VPC}))
	}
	return out
}
