package schema

import (
	"encoding/binary"
	"net/netip"
)

// Subnets are the ranges of the subnets of a VPC that the stack creates.
type Subnets struct {
	Private [ZoneCount]netip.Prefix
	Public  netip.Prefix
}

// SubnetsOf divides a VPC's range: the first and second quarter are the private
// subnets, the first quarter of the third quarter is the public one, the rest is
// unused. A /24 has 59 private addresses per zone and 11 public ones, besides those that
// EC2 reserves in each subnet.
func SubnetsOf(vpc netip.Prefix) Subnets {
	quarter := func(i int) netip.Prefix { return subrange(vpc, 2, i) }
	return Subnets{
		Private: [ZoneCount]netip.Prefix{quarter(0), quarter(1)},
		Public:  subrange(quarter(2), 2, 0),
	}
}

// subrange returns the i-th of the 2^bits equal parts of an IPv4 range.
func subrange(p netip.Prefix, bits, i int) netip.Prefix {
	base := binary.BigEndian.Uint32(p.Addr().AsSlice())
	length := p.Bits() + bits
	var a [4]byte
	binary.BigEndian.PutUint32(a[:], base+uint32(i)<<(32-length))
	return netip.PrefixFrom(netip.AddrFrom4(a), length)
}

// EC2 reserves the first four addresses of a subnet, and the last (VPC User Guide, "Subnet
// CIDR blocks").
const (
	reservedFirst = 4
	reserved      = reservedFirst + 1
)

// isReserved reports whether EC2 reserves an address of a subnet.
func isReserved(subnet netip.Prefix, ip netip.Addr) bool {
	at := binary.BigEndian.Uint32(ip.AsSlice()) - binary.BigEndian.Uint32(subnet.Addr().AsSlice())
	return at < reservedFirst || at == 1<<(ip.BitLen()-subnet.Bits())-1
}

// freeAddresses returns how many addresses a subnet has for machines.
func freeAddresses(subnet netip.Prefix) int {
	return 1<<(subnet.Addr().BitLen()-subnet.Bits()) - reserved
}
