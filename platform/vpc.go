package platform

import "strings"

// VPC is what is known of a VPC that the program does not create. The program and
// `observatory doctor` look it up, and package schema judges it.
type VPC struct {
	ID                       string
	CIDRs                    []string // IPv4
	DNSSupport, DNSHostnames bool     // its attributes enableDnsSupport and enableDnsHostnames
	DNSServers               []string // of its DHCP option set, as EC2 lists them
	Subnets                  map[string]VPCSubnet
	// Endpoints are the services that have an endpoint in it, in short form: s3. nil =
	// they were not looked up.
	Endpoints []string
}

// VPCSubnet is a subnet with the routes of its own route table, or of the VPC's main one.
type VPCSubnet struct {
	VPC, CIDR, Zone string
	RouteTable      string
	Routes          []VPCRoute
}

// VPCRoute leads to the addresses To (a range or a prefix list) by a gateway, an interface
// or the like, whose id is By; "local" inside the VPC.
type VPCRoute struct {
	To, By    string
	Blackhole bool // what it leads to is gone; false also if that is not known
}

// AnyAddress is the range of a default route.
const AnyAddress = "0.0.0.0/0"

// AmazonDNS is the name of AWS's DNS servers in a DHCP option set, and AmazonDNSAddress
// one of their addresses (VPC User Guide, "Amazon DNS server").
const (
	AmazonDNS        = "AmazonProvidedDNS"
	AmazonDNSAddress = "169.254.169.253"
)

// Default returns the subnet's default route.
func (s VPCSubnet) Default() (VPCRoute, bool) {
	for _, r := range s.Routes {
		if r.To == AnyAddress {
			return r, true
		}
	}
	return VPCRoute{}, false
}

// Leaves reports whether a route leads out of the VPC, except to services that have an
// endpoint in it.
func (r VPCRoute) Leaves() bool {
	toEndpoint := strings.HasPrefix(r.By, "vpce-") && strings.HasPrefix(r.To, "pl-")
	return r.By != "local" && !toEndpoint
}

// IsPublic reports whether a route leads to an internet gateway.
func (r VPCRoute) IsPublic() bool { return strings.HasPrefix(r.By, "igw-") }
