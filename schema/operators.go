package schema

import (
	"fmt"
	"net/netip"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Quotas of EC2 on rules in one direction and of one version of IP (VPC User Guide, "Amazon
// VPC quotas").
const (
	// usualRules is how many rules a group has unless the account's quota was raised.
	usualRules = 60
	// maxRulesTimesGroups is the most that rules in a group times groups of an interface
	// may be raised to.
	maxRulesTimesGroups = 1000
)

// checkOperators checks the networks of operators as rules of the control node's security
// group, and as peers of its address.
func (c Config) checkOperators(l *violation.List) {
	byVersion := map[bool]int{} // true: IPv6
	for _, cidr := range c.OperatorCIDRs {
		if p, err := netip.ParsePrefix(cidr); err == nil && isOperatorNetwork(cidr) {
			byVersion[p.Addr().Is6()]++
		}
	}
	c.checkOperatorRules(l, max(byVersion[true], byVersion[false]))
	if c.ControlNode.Access == AccessPublic {
		return // checkPublicAccess refuses networks of IPv6
	}
	const why = "the control node has no IPv6 address"
	nobody := c.ControlNode.Access == AccessVPC && byVersion[true] > 0 && byVersion[false] == 0
	l.Require(!nobody, "operatorCidrs", c.OperatorCIDRs,
		"must name a network of IPv4 with controlNode.access vpc: "+why+", and nobody could connect",
		"add the IPv4 network of the machine that runs the program")
	for i, cidr := range c.OperatorCIDRs {
		p, err := netip.ParsePrefix(cidr)
		l.Warn(nobody || err != nil || p.Addr().Is4(), pathOf("operatorCidrs", i), cidr, "should be a network of IPv4: "+why,
			"name the IPv4 network of the same people, or remove it")
	}
}

// checkOperatorRules checks the number of rules: one for each port and network, and one for
// each port of telemetry and group that sends, which count for both versions of IP.
func (c Config) checkOperatorRules(l *violation.List, networks int) {
	ports, others := len(platform.OperatorPorts(c.Profiler.Enabled)), len(platform.TelemetryPorts())
	senders := len(c.Tracing.Senders())
	if most := (usualRules - others) / len(platform.OTLPPorts()); senders > most {
		l.Require(false, "tracing.airflowSecurityGroups", senders, fmt.Sprintf(
			"must be at most %d groups: each is %d rules of one security group, and EC2 takes %d", most, len(platform.OTLPPorts()), usualRules),
			"give Airflow's workers a common group, and name that")
		return // the rest of the rules follows from it
	}
	others += senders * len(platform.OTLPPorts())
	groups := nodeGroups
	for _, cluster := range c.Clusters {
		groups = max(groups, nodeGroups+len(cluster.MasterSecurityGroups), nodeGroups+len(cluster.CoreSecurityGroups))
	}
	const remedy = "join neighbours into wider networks, or name the network of a VPN"
	rules := networks*ports + others
	most := maxRulesTimesGroups / groups
	l.Require(rules <= most, "operatorCidrs", networks, fmt.Sprintf(
		"must be at most %d networks of one version of IP: each is %d rules of one security group, and EC2 takes %d rules at most where an "+
			"interface has %d groups, as nodes have", (most-others)/ports, ports, most, groups), remedy)
	l.Warn(rules <= usualRules || rules > most, "operatorCidrs", networks, fmt.Sprintf(
		"should be at most %d networks of one version of IP: each is %d rules of one security group, and EC2 takes %d unless the account's "+
			"quota is raised", (usualRules-others)/ports, ports, usualRules),
		remedy+", or have VPC's quota \"Inbound or outbound rules per security group\" raised")
}
