package schema

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// How operators and the program reach the control node: values of
// controlNode.access. docs/guides/access.md compares them.
const (
	AccessPublic = "public" // at an Elastic IP
	AccessVPC    = "vpc"    // at the private address
	AccessTunnel = "tunnel" // at local ports that Session Manager forwards
)

// OwnAddressCommand prints the address under which a machine appears on the
// internet.
const OwnAddressCommand = "curl https://checkip.amazonaws.com"

func accessRules() map[string]Rule {
	end := predicate(isTunnelEnd, "https://127.0.0.1:<port> or https://localhost:<port>").optional()
	return map[string]Rule{
		"access":    oneOf(AccessPublic, AccessVPC, AccessTunnel),
		"tunnelEnd": end.with("", fmt.Sprintf("name a free port of your machine: https://127.0.0.1:%d", platform.KubernetesAPI)),
	}
}

// checkAccess checks what the ways to reach the control node need, and refuses
// what belongs to another way.
func (c Config) checkAccess(l *violation.List) {
	access := c.ControlNode.Access
	if access == AccessPublic {
		c.checkPublicAccess(l)
	} else {
		l.Require(c.Network.PublicSubnetID == "", "network.publicSubnetId", c.Network.PublicSubnetID,
			"must be empty unless controlNode.access is public: nothing would run in it", "remove it, or set controlNode.access to public")
	}
	if access == AccessTunnel {
		c.checkTunnel(l)
	} else {
		l.Require(c.ControlNode.APIURL == "", "controlNode.apiUrl", c.ControlNode.APIURL,
			"must be empty unless controlNode.access is tunnel", "remove it, or set controlNode.access to tunnel")
	}
}

func (c Config) checkPublicAccess(l *violation.List) {
	l.Require(len(c.OperatorCIDRs) > 0, "operatorCidrs", c.OperatorCIDRs,
		"must name who may connect with controlNode.access public: otherwise nobody can, `pulumi up` included", ownAddressRemedy)
	for i, cidr := range c.OperatorCIDRs {
		l.Require(!isOperatorNetwork(cidr) || isPublicIPv4(cidr), fmt.Sprintf("operatorCidrs[%d]", i), cidr,
			"must be a public IPv4 network with controlNode.access public: an Elastic IP sees no other addresses", ownAddressRemedy)
	}
	l.Require(c.Grafana.URL == "", "grafana.url", c.Grafana.URL,
		"must be empty with controlNode.access public: the program uses the public address", "remove it, or set controlNode.access to tunnel")
	id := c.Network.PublicSubnetID
	if c.Network.VPCID == "" {
		l.Require(id == "", "network.publicSubnetId", id, "must be empty without network.vpcId: the stack creates its own subnets",
			"set network.vpcId too")
		return
	}
	l.Require(id != "", "network.publicSubnetId", id,
		"must name a subnet with a route to an internet gateway for controlNode.access public with network.vpcId", "")
	l.Require(!slices.Contains(c.Network.SubnetIDs, id), "network.publicSubnetId", id,
		"must not be one of network.subnetIds, which are private", "name a subnet with a route to an internet gateway")
}

const ownAddressRemedy = "add your own address, which `" + OwnAddressCommand + "` prints, with /32 after it"

func (c Config) checkTunnel(l *violation.List) {
	const rule = "must name the local end of the tunnel with controlNode.access tunnel"
	own, grafana := c.ControlNode.APIURL, c.Grafana.URL
	l.Require(own != "", "controlNode.apiUrl", own, rule, rules["tunnelEnd"].Remedy)
	l.Require(isTunnelEnd(grafana), "grafana.url", grafana, rule+", https://127.0.0.1:<port> or https://localhost:<port>",
		fmt.Sprintf("name a free port of your machine: https://127.0.0.1:%d", platform.Grafana))
	taken := map[int]string{int(platform.Status): "the status page"}
	if c.Profiler.Enabled {
		taken[int(platform.Tools)] = "the tools"
	}
	for _, end := range []struct{ path, url string }{{"controlNode.apiUrl", own}, {"grafana.url", grafana}} {
		port := TunnelPort(end.url)
		holder, isTaken := taken[port]
		l.Require(port == 0 || !isTaken, end.path, end.url, fmt.Sprintf("must have a port of its own; %d is that of %s", port, holder),
			"choose another port")
		taken[port] = end.path
	}
}

// TunnelPort is the port of a tunnel's local end; 0 if url is none.
func TunnelPort(url string) int {
	if !isTunnelEnd(url) {
		return 0
	}
	u, _ := Origin(url)
	port, _ := strconv.Atoi(u.Port()) // isTunnelEnd has checked it
	return port
}

// isTunnelEnd accepts the names of this machine that the certificates of Grafana and
// of K3s contain (K3s adds them itself: k3s-io/k3s pkg/cli/server/server.go).
func isTunnelEnd(s string) bool {
	u, ok := Origin(s)
	return ok && u.Scheme == "https" && slices.Contains([]string{platform.Loopback, "localhost"}, u.Hostname()) && isPort(u)
}

func isPort(u *url.URL) bool {
	n, err := strconv.Atoi(u.Port())
	return err == nil && inRange(n, 1, 65535)
}

// notPublic are the networks that the internet does not route to (IANA IPv4
// Special-Purpose Address Registry), but for those of documentation, which stand
// for public ones in examples.
var notPublic = prefixes("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
	"192.0.0.0/24", "192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/3")

// documentation are the networks of examples (RFC 5737, RFC 3849).
var documentation = prefixes("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32")

func prefixes(texts ...string) []netip.Prefix {
	var out []netip.Prefix
	for _, t := range texts {
		out = append(out, netip.MustParsePrefix(t))
	}
	return out
}

func isPublicIPv4(cidr string) bool {
	p, err := netip.ParsePrefix(cidr)
	return err == nil && p.Addr().Is4() && !slices.ContainsFunc(notPublic, p.Overlaps)
}

// CheckOperatorsExist adds what is wrong with operatorCidrs only where somebody has
// to connect, which nobody does in a rehearsal: networks of examples, and none at all
// with access vpc. It warns where the program probably cannot reach a private address.
func (c Config) CheckOperatorsExist(l *violation.List) {
	for i, cidr := range c.OperatorCIDRs {
		p, _ := netip.ParsePrefix(cidr) // other rules refuse invalid networks
		l.Require(!isOperatorNetwork(cidr) || !slices.ContainsFunc(documentation, p.Overlaps), fmt.Sprintf("operatorCidrs[%d]", i), cidr,
			"must not overlap a network of documentation (RFC 5737, RFC 3849): nobody connects from it", ownAddressRemedy)
		l.Warn(c.ControlNode.Access != AccessVPC || !isPublicIPv4(cidr), fmt.Sprintf("operatorCidrs[%d]", i), cidr,
			"is a public network: with controlNode.access vpc, the control node has only a private address, which this network "+
				"reaches only through a VPN or a peering that routes it",
			"name the private network of the machine that runs the program, or set controlNode.access to public")
	}
	l.Require(c.ControlNode.Access != AccessVPC || len(c.OperatorCIDRs) > 0, "operatorCidrs", c.OperatorCIDRs,
		"must name the network of the machine that runs the program with controlNode.access vpc: otherwise `pulumi up` cannot connect",
		"add that machine's network, or set controlNode.access to public or tunnel")
	l.Warn(c.ControlNode.Access != AccessVPC || c.Network.VPCID != "", "controlNode.access", c.ControlNode.Access,
		"reaches a VPC that this stack creates only once that is connected to the network of operatorCidrs: the first `pulumi up` cannot",
		"set controlNode.access to public or tunnel, or network.vpcId to a VPC that the program reaches")
}
