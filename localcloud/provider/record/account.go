package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"net/netip"
	"strings"
	"sync"

	"github.com/emr-observatory/emr-observatory/localcloud/provider/catalog"
)

// Account is one AWS account (and one cluster, one Grafana) as the engine has
// shown it in this run. It is safe for use by many requests at once.
type Account struct {
	ID string // 12 digits

	mu          sync.Mutex
	region      string
	defaultTags map[string]string
	grafana     string // URL of the Grafana that was configured last
	subnets     map[string]subnet
	defaults    map[string]string                // VPC id -> its default security group
	parts       map[string]string                // id of a VPC's default route table or network ACL -> VPC id
	interfaces  map[string]netip.Addr            // network interface id -> address
	addresses   map[string]map[netip.Addr]string // subnet id -> address -> who has it
	names       map[string]string                // kind and name -> URN
}

type subnet struct {
	vpc, zone string
	network   netip.Prefix
}

// NewAccount gives an account of which nothing is known yet. Empty arguments
// mean us-east-1 and 000000000000.
func NewAccount(region, id string) *Account {
	if region == "" {
		region = "us-east-1"
	}
	if id == "" {
		id = "000000000000"
	}
	return &Account{
		ID: id, region: region,
		subnets: map[string]subnet{}, defaults: map[string]string{}, parts: map[string]string{}, interfaces: map[string]netip.Addr{},
		addresses: map[string]map[netip.Addr]string{}, names: map[string]string{},
	}
}

// Region is the region of the provider that was configured last.
func (a *Account) Region() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.region
}

// DefaultTags are those of the provider that was configured last.
func (a *Account) DefaultTags() map[string]string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.defaultTags
}

// Configure takes over a provider's region ("" keeps the present one) and
// default tags.
func (a *Account) Configure(region string, defaultTags map[string]string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if region != "" {
		a.region = region
	}
	a.defaultTags = defaultTags
}

// ConfigureGrafana takes over the URL of a Grafana.
func (a *Account) ConfigureGrafana(url string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.grafana = strings.TrimSuffix(url, "/")
}

func (a *Account) grafanaURL() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.grafana
}

// Learn takes note of a resource that exists: its subnet, its addresses, its
// name.
func (a *Account) Learn(r Resource) {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := catalog.Plain(r.Outputs)
	if key := nameKey(r.Type, out); key != "" {
		a.names[key] = r.URN
	}
	text := func(key string) string { s, _ := out[key].(string); return s }
	switch r.Type {
	case "aws:ec2/subnet:Subnet":
		if p, err := netip.ParsePrefix(text("cidrBlock")); err == nil {
			a.subnets[r.ID] = subnet{vpc: text("vpcId"), zone: text("availabilityZone"), network: p}
		}
	case "aws:ec2/vpc:Vpc":
		a.defaults[r.ID] = text("defaultSecurityGroupId")
		a.parts[text("defaultRouteTableId")] = r.ID
		a.parts[text("defaultNetworkAclId")] = r.ID
	case "aws:ec2/networkInterface:NetworkInterface":
		if ip, err := netip.ParseAddr(text("privateIp")); err == nil {
			a.interfaces[r.ID] = ip
			a.take(text("subnetId"), ip, r.URN)
		}
	case "aws:ec2/instance:Instance":
		if ip, err := netip.ParseAddr(text("privateIp")); err == nil {
			a.take(text("subnetId"), ip, r.URN)
		}
	}
}

// Forget is Learn undone.
func (a *Account) Forget(r Resource) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if key := nameKey(r.Type, catalog.Plain(r.Outputs)); key != "" && a.names[key] == r.URN {
		delete(a.names, key)
	}
	delete(a.subnets, r.ID)
	delete(a.interfaces, r.ID)
	for _, taken := range a.addresses {
		for ip, owner := range taken {
			if owner == r.URN {
				delete(taken, ip)
			}
		}
	}
}

// Claim reserves the name that a resource is to be created with, and refuses
// one that exists already, as the service would. The returned function gives
// it back after a failed creation.
func (a *Account) Claim(r Resource) (release func(), err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := nameKey(r.Type, catalog.Plain(r.Inputs))
	if key == "" {
		return func() {}, nil
	}
	if owner, taken := a.names[key]; taken {
		kind, name, _ := strings.Cut(key, " ")
		return nil, fmt.Errorf("%s %q exists already: it is %s", kind, name, owner)
	}
	a.names[key] = r.URN
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.names, key)
	}, nil
}

// Address allots a free private address of a subnet: the same owner gets the
// same one within a run. AWS keeps the first four and the last address of
// every subnet (VPC User Guide, Subnet sizing).
func (a *Account) Address(subnetID, owner string) (netip.Addr, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s, ok := a.subnets[subnetID]
	if !ok {
		return netip.Addr{}, fmt.Errorf("subnet %q is not known: %w", subnetID, errUnknownSubnet)
	}
	for ip, by := range a.addresses[subnetID] {
		if by == owner {
			return ip, nil
		}
	}
	const reserved = 5
	free := uint32(1)<<(32-s.network.Bits()) - reserved
	h := fnv.New32a()
	_, _ = h.Write([]byte(owner))
	for i := range free {
		ip := nth(s.network, reserved-1+(h.Sum32()+i)%free)
		if _, taken := a.addresses[subnetID][ip]; !taken {
			a.take(subnetID, ip, owner)
			return ip, nil
		}
	}
	return netip.Addr{}, fmt.Errorf("subnet %s (%s) has no free address", subnetID, s.network)
}

// Fixed takes an address that the program chose, if it lies in the subnet and
// is free.
func (a *Account) Fixed(subnetID, owner, address string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return fmt.Errorf("address %q: %w", address, err)
	}
	s, ok := a.subnets[subnetID]
	if !ok {
		return fmt.Errorf("subnet %q is not known: %w", subnetID, errUnknownSubnet)
	}
	last := nth(s.network, uint32(1)<<(32-s.network.Bits())-1)
	if !s.network.Contains(ip) || ip.Less(nth(s.network, 4)) || ip == last {
		return fmt.Errorf("address %s is not usable in subnet %s (%s; the first four and the last are AWS's)", ip, subnetID, s.network)
	}
	if by, taken := a.addresses[subnetID][ip]; taken && by != owner {
		return fmt.Errorf("address %s is taken in subnet %s by %s", ip, subnetID, by)
	}
	a.take(subnetID, ip, owner)
	return nil
}

// take needs the lock held.
func (a *Account) take(subnetID string, ip netip.Addr, owner string) {
	if a.addresses[subnetID] == nil {
		a.addresses[subnetID] = map[netip.Addr]string{}
	}
	a.addresses[subnetID][ip] = owner
}

func nth(p netip.Prefix, n uint32) netip.Addr {
	base := p.Masked().Addr().As4()
	var out [4]byte
	binary.BigEndian.PutUint32(out[:], binary.BigEndian.Uint32(base[:])+n)
	return netip.AddrFrom4(out)
}

// subnet gives what is known of a subnet.
func (a *Account) subnet(id string) (subnet, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s, ok := a.subnets[id]
	return s, ok
}

func (a *Account) defaultGroup(vpc string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.defaults[vpc]
}

// vpcOf gives the VPC that a default route table or network ACL came with.
func (a *Account) vpcOf(id string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.parts[id]
}

func (a *Account) interfaceAddress(id string) (netip.Addr, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	ip, ok := a.interfaces[id]
	return ip, ok
}

// PrivateDNS is the name that EC2 gives an address (VPC User Guide, DNS
// hostnames): ip-10-0-0-10.ec2.internal in us-east-1.
func PrivateDNS(region string, ip netip.Addr) string {
	name := "ip-" + strings.ReplaceAll(ip.String(), ".", "-")
	if region == "us-east-1" {
		return name + ".ec2.internal"
	}
	return name + "." + region + ".compute.internal"
}

var errUnknownSubnet = errors.New("the engine has not shown it in this run")
