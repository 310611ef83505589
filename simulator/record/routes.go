package record

import (
	"fmt"
	"maps"
)

// routes are what existing route tables lead to. The engine never asks for those of the
// stack's own subnets.
type routes struct {
	tables map[string]string // subnet -> its own route table
	of     map[string][]any  // by route table, as the function returns them
}

func newRoutes() routes { return routes{tables: map[string]string{}, of: map[string][]any{}} }

// newRoute returns a route as getRouteTable does, which names the destinations otherwise
// than the resource.
func newRoute(of result) result {
	r := maps.Clone(of)
	for from, to := range map[string]string{"destinationCidrBlock": "cidrBlock", "destinationIpv6CidrBlock": "ipv6CidrBlock"} {
		if v, ok := r[from]; ok {
			r[to] = v
		}
		delete(r, from)
	}
	delete(r, "routeTableId")
	return r
}

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
	list := append([]any{}, a.routes.of[table]...)
	return result{
		"id": table, "routeTableId": table, "subnetId": subnet, "vpcId": a.subnets[subnet].vpc, "ownerId": a.ID, "routes": list,
	}, nil
}
