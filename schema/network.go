package schema

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Network describes the VPC.
type Network struct {
	CIDR               string   `json:"cidr" rule:"vpcCidr"`
	AvailabilityZones  []string `json:"availabilityZones" rule:"zones"`
	VPCID              string   `json:"vpcId" rule:"vpcId"`
	SubnetIDs          []string `json:"subnetIds" rule:"subnetId"`
	PublicSubnetID     string   `json:"publicSubnetId" rule:"publicSubnet"`
	NAT                bool     `json:"nat" rule:"nat"`
	InterfaceEndpoints []string `json:"interfaceEndpoints" rule:"service"`
	DNSServers         []string `json:"dnsServers" rule:"dnsServer"`
}

// Help describes the keys, for documents.
func (Network) Help() map[string]string {
	return map[string]string{
		"cidr": "Address range of the VPC that the stack creates; not used with vpcId.",
		"availabilityZones": "Two zones of the region; the control node runs in the first, and so does a cluster that names no other. " +
			"Each must offer the instance types of what runs in it. " +
			"Empty: the first two that offer every instance type of the configuration, chosen when the subnets are created and kept from then on.",
		"vpcId": "Existing VPC; needs subnetIds.",
		"subnetIds": "Existing private subnets of vpcId; a cluster runs in the first unless it names another, and the control node too " +
			"unless its access is public.",
		"publicSubnetId": "Existing subnet of vpcId with a route to an internet gateway, best in the zone of the first of subnetIds; " +
			"the control node runs in it with controlNode.access public.",
		"nat": "NAT gateway for the private subnets: K3s, container images and Grafana's plugin come through it. Not used with " +
			"vpcId.",
		"interfaceEndpoints": "AWS services reached through interface endpoints, in short form: ssm, kms, elasticmapreduce. S3 " +
			"always has a gateway endpoint.",
		"dnsServers": "Addresses of the DNS servers in the DHCP option set of vpcId: security groups let names be resolved there. " +
			"AmazonProvidedDNS needs no key.",
	}
}

// SetDefaults sets the values of a VPC with a NAT gateway.
func (n *Network) SetDefaults() {
	*n = Network{CIDR: "10.0.0.0/16", AvailabilityZones: []string{}, SubnetIDs: []string{}, NAT: true, InterfaceEndpoints: []string{},
		DNSServers: []string{}}
}

// Prefix lengths of the VPC, which hold two private subnets and a public one,
// and the widest networks of operators: no organisation holds more than a /8.
const (
	widestVPC       = 16
	narrowestVPC    = 24
	widestOperator4 = 8
	widestOperator6 = 32
)

// ZoneCount is the number of zones, each with a private subnet.
const ZoneCount = 2

func networkRules() map[string]Rule {
	subnet := pattern(`^subnet-([0-9a-f]{8}|[0-9a-f]{17})$`, "a subnet id (subnet- and 8 or 17 hexadecimal digits)")
	return map[string]Rule{
		"vpcCidr": predicate(isPrivateNetwork, fmt.Sprintf("a private IPv4 network (RFC 1918) in CIDR form without host bits, /%d to /%d",
			widestVPC, narrowestVPC)),
		"zones": textOnly("must be two zones of the region, or none"),
		"nat": textOnly("must be true in a VPC that the stack creates: K3s, container images and Grafana's plugin come from the internet").
			with("", "set it to true, or name an existing network with a route to the internet in network.vpcId and network.subnetIds"),
		"vpcId":        pattern(`^vpc-([0-9a-f]{8}|[0-9a-f]{17})$`, "a VPC id (vpc- and 8 or 17 hexadecimal digits)").optional(),
		"subnetId":     subnet,
		"publicSubnet": subnet.optional(),
		"service": predicate(isShortServiceName, "an AWS service in short form (not s3, not com.amazonaws…)").
			with("", "write ssm for com.amazonaws.<region>.ssm"),
		"dnsServer": predicate(isDNSServer, "the IPv4 address of a server, not a loopback, link-local, multicast or broadcast address").
			with("", "run `aws ec2 describe-dhcp-options`, and name its domain-name-servers; "+
				"AmazonProvidedDNS needs no key: security groups do not filter it"),
	}
}

func operatorRule() Rule {
	return predicate(isOperatorNetwork, fmt.Sprintf("a network in CIDR form without host bits, /%d (IPv4) or /%d (IPv6) at the widest",
		widestOperator4, widestOperator6)).with("", "name the networks of your office or VPN, e.g. 203.0.113.0/24")
}

// Validate adds the network's violations to l. Zones belong to region.
func (n Network) Validate(l *violation.List, path, region string) {
	checkFields(l, path, n)
	n.checkZones(l, path+".availabilityZones", region)
	if n.VPCID != "" {
		n.checkExistingVPC(l, path)
	} else {
		n.checkOwnVPC(l, path)
	}
}

func (n Network) checkZones(l *violation.List, path, region string) {
	rule := rules["zones"].Text
	l.Require(len(n.AvailabilityZones) == 0 || len(n.AvailabilityZones) == ZoneCount, path, n.AvailabilityZones, rule, "")
	for i, z := range n.AvailabilityZones {
		letter, ofRegion := strings.CutPrefix(z, region)
		ok := ofRegion && len(letter) == 1 && letter >= "a" && letter <= "z" && !slices.Contains(n.AvailabilityZones[:i], z)
		l.Require(ok, fmt.Sprintf("%s[%d]", path, i), z, rule+eachOnce, fmt.Sprintf("zones of %[1]s are %[1]sa, %[1]sb, …", region))
	}
}

// checkExistingVPC checks the settings for a VPC that the stack does not create.
func (n Network) checkExistingVPC(l *violation.List, path string) {
	const owner = "must be empty with network.vpcId, whose owner decides"
	l.Require(len(n.SubnetIDs) > 0, path+".subnetIds", n.SubnetIDs, "must name private subnets of network.vpcId", "")
	l.Require(len(n.AvailabilityZones) == 0, path+".availabilityZones", n.AvailabilityZones, owner, "remove it: the subnets have their zones")
	l.Require(len(n.InterfaceEndpoints) == 0, path+".interfaceEndpoints", n.InterfaceEndpoints, owner,
		"remove it, or let the VPC's owner create the endpoints")
	l.Require(len(n.DNSServers) <= maxDNSServers, path+".dnsServers", n.DNSServers,
		fmt.Sprintf("must be at most %d: a DHCP option set has no more", maxDNSServers), "name those of the VPC's own set")
	for i, server := range n.DNSServers {
		inner := kubernetesOverlap(server + "/32")
		l.Require(inner == "", fmt.Sprintf("%s.dnsServers[%d]", path, i), server, "must not be in "+inner+usedByKubernetes,
			"give the VPC a DNS server with another address")
	}
}

// maxDNSServers of a DHCP option set (VPC User Guide, "DHCP option sets").
const maxDNSServers = 4

const usedByKubernetes = ", which Kubernetes uses inside the control node"

// kubernetesOverlap returns the network inside the control node that overlaps a range,
// "" if none does. The node reaches nothing outside that has an address of it.
func kubernetesOverlap(cidr string) string {
	for _, inner := range []string{platform.KubernetesPodCIDR, platform.KubernetesServiceCIDR} {
		if overlaps(cidr, inner) {
			return inner
		}
	}
	return ""
}

// checkOwnVPC checks the settings for a VPC that the stack creates.
func (n Network) checkOwnVPC(l *violation.List, path string) {
	l.Require(len(n.SubnetIDs) == 0, path+".subnetIds", n.SubnetIDs, "must be empty without network.vpcId: the stack creates its own subnets",
		"set network.vpcId too")
	inner := kubernetesOverlap(n.CIDR)
	l.Require(!isPrivateNetwork(n.CIDR) || inner == "", path+".cidr", n.CIDR, "must not overlap "+inner+usedByKubernetes,
		"choose another network, e.g. 10.0.0.0/16")
	l.Require(len(n.DNSServers) == 0, path+".dnsServers", n.DNSServers,
		"must be empty without network.vpcId: a VPC of the stack has AmazonProvidedDNS", "remove it")
	l.Require(n.NAT, path+".nat", n.NAT, rules["nat"].Text, rules["nat"].Remedy)
}

func isPrivateNetwork(s string) bool {
	p, err := netip.ParsePrefix(s)
	return err == nil && p.Addr().Is4() && p.Addr().IsPrivate() && p == p.Masked() && inRange(p.Bits(), widestVPC, narrowestVPC)
}

func isOperatorNetwork(s string) bool {
	p, err := netip.ParsePrefix(s)
	if err != nil || p != p.Masked() || p.Addr().Is4In6() {
		return false
	}
	return p.Addr().Is4() && p.Bits() >= widestOperator4 || p.Addr().Is6() && p.Bits() >= widestOperator6
}

func isDNSServer(s string) bool {
	ip, err := netip.ParseAddr(s)
	return err == nil && ip.Is4() && ip.IsGlobalUnicast()
}

var serviceName = pattern(`^[a-z][a-z0-9-]*(\.[a-z][a-z0-9-]*)*$`, "")

func isShortServiceName(s string) bool {
	return serviceName.Holds(s) && s != "s3" && !strings.HasPrefix(s, "com.")
}

func overlaps(a, b string) bool {
	p, errA := netip.ParsePrefix(a)
	q, errB := netip.ParsePrefix(b)
	return errA == nil && errB == nil && p.Overlaps(q)
}
