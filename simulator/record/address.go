package record

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"net/netip"
	"strings"
)

// reservedFirst is how many addresses AWS reserves at the start of every
// subnet; it also reserves the last one (VPC User Guide, Subnet sizing).
const reservedFirst = 4

// AllocateAddress returns a free private address of a subnet. The same owner
// gets the same address throughout a run.
func (a *Account) AllocateAddress(subnetID, owner string) (netip.Addr, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s, ok := a.subnets[subnetID]
	if !ok {
		return netip.Addr{}, fmt.Errorf("subnet %q is unknown: %w", subnetID, errUnknownSubnet)
	}
	for ip, by := range a.addresses[subnetID] {
		if by == owner {
			return ip, nil
		}
	}
	usable := s.size() - reservedFirst - 1
	h := fnv.New32a()
	_, _ = h.Write([]byte(owner))
	for i := range usable {
		ip := nthAddress(s.network, reservedFirst+(h.Sum32()+i)%usable)
		if _, taken := a.addresses[subnetID][ip]; !taken {
			a.assign(subnetID, ip, owner)
			return ip, nil
		}
	}
	return netip.Addr{}, fmt.Errorf("subnet %s (%s) has no free address", subnetID, s.network)
}

// ReserveAddress assigns an address that the program chose. It must be in the
// subnet and free.
func (a *Account) ReserveAddress(subnetID, owner, address string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return fmt.Errorf("address %q: %w", address, err)
	}
	s, ok := a.subnets[subnetID]
	if !ok {
		return fmt.Errorf("subnet %q is unknown: %w", subnetID, errUnknownSubnet)
	}
	last := nthAddress(s.network, s.size()-1)
	if !s.network.Contains(ip) || ip.Less(nthAddress(s.network, reservedFirst)) || ip == last {
		return fmt.Errorf("address %s is not usable in subnet %s (%s; AWS reserves the first four and the last)", ip, subnetID, s.network)
	}
	if by, taken := a.addresses[subnetID][ip]; taken && by != owner {
		return fmt.Errorf("address %s is taken in subnet %s by %s", ip, subnetID, by)
	}
	a.assign(subnetID, ip, owner)
	return nil
}

// assign records the owner of an address. The caller holds the lock.
func (a *Account) assign(subnetID string, ip netip.Addr, owner string) {
	if a.addresses[subnetID] == nil {
		a.addresses[subnetID] = map[netip.Addr]string{}
	}
	a.addresses[subnetID][ip] = owner
}

func (s subnet) size() uint32 { return uint32(1) << (32 - s.network.Bits()) }

// nthAddress returns the address at offset n of a network.
func nthAddress(p netip.Prefix, n uint32) netip.Addr {
	base := p.Masked().Addr().As4()
	var out [4]byte
	binary.BigEndian.PutUint32(out[:], binary.BigEndian.Uint32(base[:])+n)
	return netip.AddrFrom4(out)
}

// PrivateDNS returns the name that EC2 gives an address (VPC User Guide, DNS
// hostnames): ip-10-0-0-10.ec2.internal in us-east-1.
func PrivateDNS(region string, ip netip.Addr) string {
	name := "ip-" + strings.ReplaceAll(ip.String(), ".", "-")
	if region == "us-east-1" {
		return name + ".ec2.internal"
	}
	return name + "." + region + ".compute.internal"
}
