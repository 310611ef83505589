package localcloud

import (
	"context"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/emr-observatory/emr-observatory/localcloud/ec2"
	"github.com/emr-observatory/emr-observatory/simulator"
)

// reachParts returns the resources that decide who reaches an instance from the internet.
func (c *cloud) reachParts() map[string]part {
	out := map[string]part{}
	for token, put := range map[string]func(id string, o resource.PropertyMap) error{
		"aws:ec2/networkInterface:NetworkInterface": func(id string, o resource.PropertyMap) error {
			return c.ec2.PutInterface(id, ec2.Interface{
				Address: text(o, "privateIp"), SubnetID: text(o, "subnetId"), GroupIDs: texts(o, "securityGroups"),
			})
		},
		"aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": func(id string, o resource.PropertyMap) error {
			return c.ec2.PutIngressRule(id, ec2.IngressRule{
				GroupID: text(o, "securityGroupId"), Protocol: text(o, "ipProtocol"), First: number(o, "fromPort"), Last: number(o, "toPort"),
				Source: text(o, "cidrIpv4"),
			})
		},
		"aws:ec2/route:Route": func(id string, o resource.PropertyMap) error {
			return c.ec2.PutRoute(id, ec2.Route{
				TableID: text(o, "routeTableId"), Destination: text(o, "destinationCidrBlock"), GatewayID: text(o, "gatewayId"),
			})
		},
		"aws:ec2/routeTableAssociation:RouteTableAssociation": func(id string, o resource.PropertyMap) error {
			return c.ec2.PutTableAssociation(id, ec2.TableAssociation{SubnetID: text(o, "subnetId"), TableID: text(o, "routeTableId")})
		},
		"aws:ec2/eip:Eip": func(id string, o resource.PropertyMap) error { return c.ec2.PutAddress(id, text(o, "publicIp")) },
		"aws:ec2/eipAssociation:EipAssociation": func(id string, o resource.PropertyMap) error {
			return c.ec2.PutAddressAssociation(id, ec2.AddressAssociation{
				AllocationID: text(o, "allocationId"), InterfaceID: text(o, "networkInterfaceId"),
			})
		},
	} {
		out[token] = part{
			put:    func(_ context.Context, r simulator.Result) error { return put(r.ID, r.Outputs) },
			remove: func(_ context.Context, r simulator.Request) error { return c.ec2.Forget(r.ID) },
		}
	}
	return out
}
