package record

import "fmt"

// publicAddresses is what EC2 compares before it gives an interface a public
// address, and before it detaches an internet gateway. VPCs that the stack did not
// create have the id "" and are not compared.
type publicAddresses struct {
	gateways   map[string]string // internet gateway -> VPC
	interfaces map[string]string // network interface -> VPC
	mapped     map[string]string // association of an address, or NAT gateway -> VPC
}

func newPublicAddresses() publicAddresses {
	return publicAddresses{gateways: map[string]string{}, interfaces: map[string]string{}, mapped: map[string]string{}}
}

func (p publicAddresses) remove(id string) {
	delete(p.gateways, id)
	delete(p.interfaces, id)
	delete(p.mapped, id)
}

// addressAssociation associates an Elastic IP. EC2 refuses it where no internet
// gateway is attached (EC2 API, Error codes, Gateway.NotAttached).
func addressAssociation(d *draft) error {
	if vpc := d.account.vpcWithoutGateway(d.text("networkInterfaceId")); vpc != "" {
		return fmt.Errorf("associate address %s: Gateway.NotAttached: Network %s is not attached to any internet gateway",
			d.text("allocationId"), vpc)
	}
	d.setID(newEC2ID("eipassoc-"))
	return nil
}

// vpcWithoutGateway returns the VPC of an interface if the stack created it and no
// internet gateway is attached to it.
func (a *Account) vpcWithoutGateway(networkInterface string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	vpc := a.public.interfaces[networkInterface]
	if _, created := a.defaultGroups[vpc]; !created {
		return ""
	}
	for _, attached := range a.public.gateways {
		if attached == vpc {
			return ""
		}
	}
	return vpc
}

// MappedAddress returns the VPC of an internet gateway if something in it still has
// a public address, as an EC2 API error names it; "" otherwise.
func (a *Account) MappedAddress(gateway string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	vpc := a.public.gateways[gateway]
	for _, in := range a.public.mapped {
		if in == vpc && vpc != "" {
			return vpc
		}
	}
	return ""
}
