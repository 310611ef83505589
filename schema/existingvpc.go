package schema

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// NetworkUse is what a stack does in an existing VPC, as far as that has to fit.
type NetworkUse struct {
	Clusters bool // has EMR clusters
	Tunnel   bool // is reached through Session Manager
	Tools    bool // answers agents, with a role that the control node assumes
	Lost     bool // reads the queue of schedules' runs that did not start
	Copies   bool // fetches K3s, images and Grafana's plugin from copies that the configuration names
}

// NetworkUse returns what the stack does in network.vpcId.
func (c Config) NetworkUse() NetworkUse {
	return NetworkUse{
		Clusters: len(c.Clusters) > 0, Tunnel: c.ControlNode.Access == AccessTunnel, Tools: c.Profiler.Enabled,
		Lost:   len(c.Schedules) > 0,
		Copies: c.ControlNode.K3sURL != "" && c.ControlNode.RegistryMirror != "" && c.ControlNode.GrafanaPluginURL != "",
	}
}

// CheckExistingVPC adds to l what is wrong with the VPC of vpcId, below path. What cannot
// work is refused; what works only with something that nobody can look up is warned of.
func (n Network) CheckExistingVPC(l *violation.List, path string, v platform.VPC, use NetworkUse) {
	const both = "EMR refuses a VPC without both" // Management Guide, "Amazon VPC options"
	change := "run `aws ec2 modify-vpc-attribute --vpc-id " + v.ID + " "
	l.Require(v.DNSSupport || !use.Clusters && len(n.DNSServers) > 0, path+".vpcId", v.ID, "must have DNS resolution and DNS hostnames: "+both+
		"; enableDnsSupport is false", change+"--enable-dns-support`")
	l.Require(v.DNSHostnames || !use.Clusters, path+".vpcId", v.ID, "must have DNS resolution and DNS hostnames: "+both+
		"; enableDnsHostnames is false", change+"--enable-dns-hostnames`")
	for _, cidr := range v.CIDRs {
		inner := kubernetesOverlap(cidr)
		l.Warn(inner == "", path+".vpcId", v.ID, "has the range "+cidr+", which overlaps "+inner+usedByKubernetes+
			": the node reaches no address of both", "keep DNS servers, endpoints and nodes out of it")
	}
	n.checkDNSServers(l, path+".dnsServers", v)
	for i, id := range n.SubnetIDs {
		at := fmt.Sprintf("%s.subnetIds[%d]", path, i)
		if checkExistingSubnet(l, at, id, v) {
			control := i == 0 && n.PublicSubnetID == ""
			checkPrivateRoutes(l, at, id, v, use, control)
		}
	}
	if id := n.PublicSubnetID; id != "" && checkExistingSubnet(l, path+".publicSubnetId", id, v) {
		s := v.Subnets[id]
		out, _ := s.Default()
		l.Require(out.IsPublic() && !out.Blackhole, path+".publicSubnetId", id, "must have a route of "+platform.AnyAddress+
			" to an internet gateway; its route table "+s.RouteTable+" has none",
			"name a public subnet of the VPC, or set controlNode.access to vpc or tunnel")
	}
}

// checkExistingSubnet reports whether the subnet is in the VPC.
func checkExistingSubnet(l *violation.List, at, id string, v platform.VPC) bool {
	s := v.Subnets[id]
	inside := s.VPC == v.ID
	l.Require(inside, at, id, "must be a subnet of network.vpcId, "+v.ID+"; it is in "+s.VPC, "name a subnet of that VPC")
	inner := kubernetesOverlap(s.CIDR)
	l.Require(inner == "", at, id, "must not overlap "+inner+usedByKubernetes+"; its range is "+s.CIDR, "name a subnet with another range")
	return inside
}

// checkPrivateRoutes requires that nodes of EMR and, if control is true, the control node
// can start in a subnet. Neither has a public address there: EMR tells private subnets
// from public ones by the route to an internet gateway, and takes a group for service
// access in private ones only.
func checkPrivateRoutes(l *violation.List, at, id string, v platform.VPC, use NetworkUse, control bool) {
	s := v.Subnets[id]
	out, routed := s.Default()
	l.Require(!out.IsPublic(), at, id, "must be private: its route table "+s.RouteTable+" leads to the internet gateway "+out.By+
		", through which only machines with a public address reach anything", "name a subnet whose default route is a NAT gateway or the like")
	l.Require(!out.Blackhole, at, id, "must have a default route that leads somewhere: in its route table "+s.RouteTable+", "+out.By+
		" is gone", "replace the route")
	l.Warn(!strings.HasPrefix(out.By, "pcx-"), at, id, "has the VPC peering "+out.By+" as its default route, which leads to addresses "+
		"of that VPC only", "use a NAT gateway, or a transit gateway to one")
	if routed {
		return
	}
	fetches := control && !use.Copies
	if fetches && !slices.ContainsFunc(s.Routes, platform.VPCRoute.Leaves) {
		l.Require(false, at, id, "must have a route out of the VPC, by a NAT gateway or the like: K3s, container images and Grafana's plugin "+
			"come from the internet; its route table "+s.RouteTable+" has none",
			"add a default route, or name copies in controlNode.k3sUrl, registryMirror and grafanaPluginUrl")
		return
	}
	checkEndpoints(l, at, id, v.Endpoints, use, control)
}

// checkEndpoints is for subnets without a default route.
func checkEndpoints(l *violation.List, at, id string, have []string, use NetworkUse, control bool) {
	needed, wanted := neededServices(use, control)
	if have == nil {
		l.Warn(false, at, id, "has no default route: machines in it start only if other routes or endpoints of the VPC lead to "+
			strings.Join(append(needed, wanted...), ", "), "run `observatory doctor --aws`, which looks up the endpoints")
		return
	}
	lacks := func(services []string) []string {
		return slices.DeleteFunc(services, func(s string) bool { return slices.Contains(have, s) })
	}
	needed, wanted = lacks(needed), lacks(wanted)
	l.Require(len(needed) == 0, at, id, "must reach these services, as it has no default route, and the VPC no endpoint of them: "+
		strings.Join(needed, ", "), "let the VPC's owner create the endpoints")
	l.Warn(len(wanted) == 0, at, id, "has no default route, and the VPC no endpoint of these services, without which parts of the status "+
		"page and of the dashboards stay empty, the tools answer nothing, or no lost run of a schedule is reported: "+strings.Join(wanted, ", "),
		"let the VPC's owner create the endpoints")
}

// neededServices returns the services without which machines in a subnet do not start, and
// those that they use later. EMR's own nodes need S3 alone (EMR Management Guide, "Amazon
// VPC options", private subnets), and KMS for the keys of their disks.
func neededServices(use NetworkUse, control bool) (needed, wanted []string) {
	needed = []string{"s3"}
	if use.Clusters {
		wanted = []string{"kms"}
	}
	if !control {
		return needed, wanted
	}
	needed = append(needed, "ssm") // where the boot script finds K3s' authorities
	if use.Tunnel {
		needed = append(needed, "ssmmessages") // Systems Manager User Guide, "Improve the security by using VPC endpoints"
	}
	wanted = append(wanted, "elasticmapreduce", "monitoring")
	if use.Tools {
		wanted = append(wanted, "sts")
	}
	if use.Lost {
		wanted = append(wanted, "sqs")
	}
	return needed, wanted
}

// checkDNSServers compares the keys with the DHCP option set of the VPC. Security groups
// filter queries to servers that are not Amazon's.
func (n Network) checkDNSServers(l *violation.List, at string, v platform.VPC) {
	var filtered []string
	for _, server := range v.DNSServers {
		if !isAmazonDNS(server, v.CIDRs) && !slices.Contains(n.DNSServers, server) {
			filtered = append(filtered, server)
		}
	}
	rule := "must have the DNS servers of the VPC's DHCP option set, to which security groups let no query out otherwise: " +
		strings.Join(filtered, ", ")
	remedy := "set it to " + violation.JSON(slices.Concat(n.DNSServers, filtered))
	if len(filtered) > 0 && len(filtered) == len(v.DNSServers) {
		l.Require(false, at, n.DNSServers, rule, remedy)
		return
	}
	l.Warn(len(filtered) == 0, at, n.DNSServers, strings.Replace(rule, "must", "should", 1), remedy)
}

// isAmazonDNS accepts the server's name and its addresses, of which one is the VPC's
// first plus two.
func isAmazonDNS(server string, cidrs []string) bool {
	return server == platform.AmazonDNS || server == platform.AmazonDNSAddress || slices.ContainsFunc(cidrs, func(cidr string) bool {
		p, err := netip.ParsePrefix(cidr)
		return err == nil && p.Masked().Addr().Next().Next().String() == server
	})
}
