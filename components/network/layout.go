package network

import (
	"encoding/binary"
	"net/netip"
)

// layout divides a VPC's range: the first and second quarter are the private
// subnets, the first eighth of the third quarter the public one, the rest is
// kept for later. From a /24 this leaves 62 private addresses per zone and 6
// public ones fewer AWS's five, enough for the NAT gateway.
type layout struct {
	private [2]netip.Prefix
	public  netip.Prefix
}

func layoutOf(vpc netip.Prefix) layout {
	quarter := func(i int) netip.Prefix { return part(vpc, 2, i) }
	return layout{
		private: [2]netip.Prefix{quarter(0), quarter(1)},
		public:  part(quarter(2), 2, 0),
	}
}

// part is the i-th of the 2^bits equal parts of an IPv4 range.
func part(p netip.Prefix, bits, i int) netip.Prefix {
	base := binary.BigEndian.Uint32(p.Addr().AsSlice())
	length := p.Bits() + bits
	var a [4]byte
	binary.BigEndian.PutUint32(a[:], base+uint32(i)<<(32-length)) //nolint:gosec // i < 2^bits
	return netip.PrefixFrom(netip.AddrFrom4(a), length)
}
