package record

import (
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
)

// routes are what existing route tables lead to. The engine never asks for those of the
// stack's own subnets.
type routes struct {
	tables   map[string]string  // subnet -> its own route table
	gateways map[string][]route // by route table
}

type route struct{ cidr, gateway string }

func newRoutes() routes { return routes{tables: map[string]string{}, gateways: map[string][]route{}} }

// lookupRouteTable finds the route table that a subnet is associated with. Like the
// provider, it fails for a subnet that has the VPC's main one (terraform-provider-aws,
// ec2/vpc_route_table_data_source.go); the simulator knows no main ones.
func lookupRouteTable(a *Account, in map[string]any) (result, error) {
	subnet, _ := in["subnetId"].(string)
	a.mu.Lock()
	defer a.mu.Unlock()
	table, ok := a.routes.tables[subnet]
	if !ok {
		return nil, fmt.Errorf("no matching EC2 Route Table found for subnet %q", subnet)
	}
	list := []any{}
	for _, r := range a.routes.gateways[table] {
		list = append(list, result{"cidrBlock": r.cidr, "gatewayId": r.gateway})
	}
	return result{
		"id": table, "routeTableId": table, "subnetId": subnet, "vpcId": a.subnets[subnet].vpc, "ownerId": a.ID, "routes": list,
	}, nil
}

// PublicRoute returns what makes an existing subnet public: a route table of its own, with
// a route to an internet gateway.
func PublicRoute(subnet string) []Resource {
	const table = "rtb-0123456789abcdef0"
	of := func(token, id string, outputs result) Resource {
		return Resource{Type: token, ID: id, URN: id, Outputs: resource.NewPropertyMapFromMap(outputs)}
	}
	return []Resource{
		of("aws:ec2/routeTableAssociation:RouteTableAssociation", "rtbassoc-0123456789abcdef0",
			result{"subnetId": subnet, "routeTableId": table}),
		of("aws:ec2/route:Route", "r-"+table, result{
			"routeTableId": table, "destinationCidrBlock": "0.0.0.0/0", "gatewayId": "igw-0123456789abcdef0",
		}),
	}
}
