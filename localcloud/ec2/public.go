package ec2

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/localcloud/internet"
)

// Interface is a network interface.
type Interface struct {
	Address  string // private
	SubnetID string
	GroupIDs []string
}

// IngressRule is what a rule admits to the interfaces of a security group.
type IngressRule struct {
	GroupID     string
	Protocol    string // tcp; -1 is every protocol and port
	First, Last int
	Source      string // IPv4 network; "" if the rule names a group or another kind of network
}

// Route is a route of a route table.
type Route struct{ TableID, Destination, GatewayID string }

// TableAssociation gives a subnet its route table.
type TableAssociation struct{ SubnetID, TableID string }

// AddressAssociation gives an interface an Elastic IP.
type AddressAssociation struct{ AllocationID, InterfaceID string }

// public is the part of the state that decides who reaches an instance from the
// internet, by the ids of the resources.
type public struct {
	Interfaces   map[string]Interface
	Ingress      map[string]IngressRule
	Routes       map[string]Route
	Tables       map[string]TableAssociation
	Addresses    map[string]string // Elastic IP by allocation
	Associations map[string]AddressAssociation
}

func newPublic() public {
	return public{
		Interfaces: map[string]Interface{}, Ingress: map[string]IngressRule{}, Routes: map[string]Route{},
		Tables: map[string]TableAssociation{}, Addresses: map[string]string{}, Associations: map[string]AddressAssociation{},
	}
}

// PutInterface stores a network interface.
func (s *Service) PutInterface(id string, i Interface) error {
	return s.updatePublic(func(p *public) { p.Interfaces[id] = i })
}

// PutIngressRule stores an ingress rule of a security group.
func (s *Service) PutIngressRule(id string, r IngressRule) error {
	return s.updatePublic(func(p *public) { p.Ingress[id] = r })
}

// PutRoute stores a route.
func (s *Service) PutRoute(id string, r Route) error {
	return s.updatePublic(func(p *public) { p.Routes[id] = r })
}

// PutTableAssociation stores the association of a route table with a subnet.
func (s *Service) PutTableAssociation(id string, a TableAssociation) error {
	return s.updatePublic(func(p *public) { p.Tables[id] = a })
}

// PutAddress stores an Elastic IP.
func (s *Service) PutAddress(allocationID, address string) error {
	s.mu.Lock()
	for id, taken := range s.state.Addresses {
		if taken == address && id != allocationID {
			s.mu.Unlock()
			return fmt.Errorf("allocate Elastic IP: %s belongs to %s: the local cloud derives addresses from the resources' names; "+
				"rename one of them", address, id)
		}
	}
	s.mu.Unlock()
	return s.updatePublic(func(p *public) { p.Addresses[allocationID] = address })
}

// PutAddressAssociation stores the association of an Elastic IP with an interface.
func (s *Service) PutAddressAssociation(id string, a AddressAssociation) error {
	return s.updatePublic(func(p *public) { p.Associations[id] = a })
}

// Forget deletes whatever a Put function has stored under an id.
func (s *Service) Forget(id string) error {
	return s.updatePublic(func(p *public) {
		delete(p.Interfaces, id)
		delete(p.Ingress, id)
		delete(p.Routes, id)
		delete(p.Tables, id)
		delete(p.Addresses, id)
		delete(p.Associations, id)
	})
}

// updatePublic changes the state and has the gateway follow it.
func (s *Service) updatePublic(change func(*public)) error {
	if err := s.update(func(st *state) { change(&st.public) }); err != nil {
		return err
	}
	return s.mapAddresses()
}

// mapAddresses has the gateway map the addresses of the state. Of two calls at a
// time, the second sees what the first has seen, and more.
func (s *Service) mapAddresses() error {
	s.mapping.Lock()
	defer s.mapping.Unlock()
	s.mu.Lock()
	addresses, err := s.state.publicAddresses()
	s.mu.Unlock()
	if err != nil {
		return fmt.Errorf("map Elastic IPs: %w", err)
	}
	if s.Map == nil {
		return nil
	}
	return s.Map(addresses)
}

// publicAddresses returns the Elastic IPs that lead to an interface: in its subnet
// there is a route to an internet gateway.
func (p public) publicAddresses() ([]internet.Address, error) {
	var out []internet.Address
	var errs []error
	for id, a := range p.Associations {
		i, associated := p.Interfaces[a.InterfaceID]
		allocated, exists := p.Addresses[a.AllocationID]
		if !associated || !exists || !p.reachesInternet(i.SubnetID) {
			continue
		}
		address, err := p.address(allocated, i)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", id, err))
		}
		out = append(out, address)
	}
	slices.SortFunc(out, func(a, b internet.Address) int { return a.Public.Compare(b.Public) })
	return out, errors.Join(errs...)
}

// address returns an Elastic IP with what the groups of its interface admit.
func (p public) address(allocated string, i Interface) (internet.Address, error) {
	publicIP, publicErr := netip.ParseAddr(allocated)
	private, privateErr := netip.ParseAddr(i.Address)
	out := internet.Address{Public: publicIP, Private: private}
	errs := []error{publicErr, privateErr}
	for id, r := range p.Ingress {
		if r.Source == "" || !slices.Contains(i.GroupIDs, r.GroupID) {
			continue
		}
		admission, carried, err := r.admission()
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", id, err))
		} else if carried {
			out.Admitted = append(out.Admitted, admission)
		}
	}
	slices.SortFunc(out.Admitted, func(a, b internet.Admission) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Last, b.Last), strings.Compare(a.Source.String(), b.Source.String()))
	})
	return out, errors.Join(errs...)
}

// lastPort is the highest TCP port.
const lastPort = 65535

// admission returns what a rule admits. The gateway carries TCP only.
func (r IngressRule) admission() (a internet.Admission, carried bool, err error) {
	source, err := netip.ParsePrefix(r.Source)
	if err != nil {
		return a, false, err
	}
	switch r.Protocol {
	case "-1":
		return internet.Admission{First: 0, Last: lastPort, Source: source}, true, nil
	case "tcp", "6":
		if r.First < 0 || r.Last > lastPort || r.First > r.Last {
			return a, false, fmt.Errorf("ports %d to %d: not a range of TCP ports", r.First, r.Last)
		}
		return internet.Admission{First: uint16(r.First), Last: uint16(r.Last), Source: source}, true, nil
	default:
		return a, false, nil
	}
}

// reachesInternet reports whether a subnet's route table has a default route to an
// internet gateway. A subnet without an association has the VPC's main table, which
// never has one here.
func (p public) reachesInternet(subnetID string) bool {
	for _, t := range p.Tables {
		if t.SubnetID != subnetID {
			continue
		}
		for _, r := range p.Routes {
			if r.TableID == t.TableID && r.Destination == "0.0.0.0/0" && strings.HasPrefix(r.GatewayID, "igw-") {
				return true
			}
		}
	}
	return false
}

// PublicAddress returns the address at which the internet reaches the instance that
// Control returns.
func (s *Service) PublicAddress() (netip.Addr, error) {
	m, _, err := s.Control()
	if err != nil {
		return netip.Addr{}, err
	}
	s.mu.Lock()
	addresses, err := s.state.publicAddresses()
	s.mu.Unlock()
	if err != nil {
		return netip.Addr{}, err
	}
	for _, a := range addresses {
		if a.Private.String() == m.Address() {
			return a.Public, nil
		}
	}
	return netip.Addr{}, fmt.Errorf("instance %s: the internet does not reach it: it has no Elastic IP, or its subnet no route to an "+
		"internet gateway; the local cloud needs controlNode.access public", m.Name)
}
