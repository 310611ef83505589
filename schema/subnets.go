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
// unused. A /24 has 59 private addresses per zone and 11 public ones, besides the
// five that AWS reserves in each subnet.
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
