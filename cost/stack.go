package cost

import (
	"fmt"
	"net/netip"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/facts"
)

// notCounted says what a stack costs besides.
const notCounted = "not counted: data through the NAT gateway and out of AWS, requests and objects of S3, CloudWatch, secrets and " +
	"parameters"

// stackPart returns what a stack costs beside its clusters, all month long.
func (t tariff) stackPart(cfg schema.Config) Part {
	p := Part{Name: "stack", Assumptions: []string{notCounted}}
	node := cfg.ControlNode
	price, known := t.priceOf(cfg.Region, node.InstanceType)
	if !known {
		t.lacks("controlNode.instanceType", node.InstanceType+" in "+cfg.Region)
	}
	p.add("controlNode.instanceType", Instances, node.InstanceType+" on demand", Always(price.OnDemand))
	for _, v := range []struct {
		path string
		gib  int
	}{{"controlNode", platform.ControlRootGiB}, {"controlNode.dataVolumeGiB", node.DataVolumeGiB}} {
		month := t.volume(v.path, schema.Volume{Type: platform.ControlVolumeType, SizeGiB: v.gib, PerInstance: 1})
		p.add(v.path, Volumes, fmt.Sprintf("%d GiB of %s", v.gib, platform.ControlVolumeType), hourly(Always(month)))
	}
	if !t.known {
		t.lacks("region", "addresses, gateways and keys in "+cfg.Region)
	}
	if node.Access == schema.AccessPublic {
		p.add("controlNode.access", Network, "1 public address", Always(t.services.PublicIPv4Hour))
	}
	t.addNetwork(&p, cfg.Network)
	p.add("region", "key", "1 key of KMS", hourly(Always(t.services.KMSKeyMonth)))
	p.Unpriced = *t.missing
	p.finish(allMonth())
	return p
}

// Network is the kind of the lines of a VPC that the stack creates.
const Network = "network"

func (t tariff) addNetwork(p *Part, n schema.Network) {
	if n.VPCID != "" {
		return // its owner pays for what it has
	}
	if n.NAT {
		p.add("network.nat", Network, "1 NAT gateway with 1 public address", Always(t.services.NATGatewayHour+t.services.PublicIPv4Hour))
	}
	if cidr, err := netip.ParsePrefix(n.CIDR); err == nil && len(n.InterfaceEndpoints) > 0 {
		zones := len(schema.SubnetsOf(cidr).Private)
		count := zones * len(n.InterfaceEndpoints)
		p.add("network.interfaceEndpoints", Network, fmt.Sprintf("%d interface endpoints in %d zones", len(n.InterfaceEndpoints), zones),
			Always(t.services.InterfaceEndpointHour*facts.MicroUSD(count)))
	}
}
