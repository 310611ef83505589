package localcloud

import (
	"context"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/emr-observatory/emr-observatory/localcloud/ec2"
	"github.com/emr-observatory/emr-observatory/simulator"
)

// reachPart handles a resource that decides who reaches an instance from the
// internet.
type reachPart struct {
	simulator.Recording
	*cloud
	put func(e *ec2.Service, id string, outputs resource.PropertyMap) error
}

// reachParts returns, by type, what EC2 stores of such a resource.
func reachParts() map[string]func(e *ec2.Service, id string, outputs resource.PropertyMap) error {
	return map[string]func(*ec2.Service, string, resource.PropertyMap) error{
		"aws:ec2/networkInterface:NetworkInterface": func(e *ec2.Service, id string, o resource.PropertyMap) error {
			return e.PutInterface(id, ec2.Interface{
				Address: text(o, "privateIp"), SubnetID: text(o, "subnetId"), GroupIDs: texts(o, "securityGroups"),
			})
		},
		"aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": func(e *ec2.Service, id string, o resource.PropertyMap) error {
			return e.PutIngressRule(id, ec2.IngressRule{
				GroupID: text(o, "securityGroupId"), Protocol: text(o, "ipProtocol"), First: number(o, "fromPort"), Last: number(o, "toPort"),
				Source: text(o, "cidrIpv4"),
			})
		},
		"aws:ec2/route:Route": func(e *ec2.Service, id string, o resource.PropertyMap) error {
			return e.PutRoute(id, ec2.Route{
				TableID: text(o, "routeTableId"), Destination: text(o, "destinationCidrBlock"), GatewayID: text(o, "gatewayId"),
			})
		},
		"aws:ec2/routeTableAssociation:RouteTableAssociation": func(e *ec2.Service, id string, o resource.PropertyMap) error {
			return e.PutTableAssociation(id, ec2.TableAssociation{SubnetID: text(o, "subnetId"), TableID: text(o, "routeTableId")})
		},
		"aws:ec2/eip:Eip": func(e *ec2.Service, id string, o resource.PropertyMap) error {
			return e.PutAddress(id, text(o, "publicIp"))
		},
		"aws:ec2/eipAssociation:EipAssociation": func(e *ec2.Service, id string, o resource.PropertyMap) error {
			return e.PutAddressAssociation(id, ec2.AddressAssociation{
				AllocationID: text(o, "allocationId"), InterfaceID: text(o, "networkInterfaceId"),
			})
		},
	}
}

// Create implements simulator.Handler.
func (p reachPart) Create(_ context.Context, r simulator.Request) (simulator.Result, error) {
	return apply(r, func(recorded simulator.Result) error { return p.put(p.ec2, recorded.ID, recorded.Outputs) })
}

// Update implements simulator.Handler.
func (p reachPart) Update(ctx context.Context, r simulator.Request) (simulator.Result, error) {
	return p.Create(ctx, r)
}

// Delete implements simulator.Handler.
func (p reachPart) Delete(ctx context.Context, r simulator.Request) error {
	if err := p.Recording.Delete(ctx, r); err != nil {
		return err
	}
	return p.ec2.Forget(r.ID)
}
