package rules

import (
	"slices"
	"strings"
)

const (
	groupDoc = "EC2 API, AuthorizeSecurityGroupIngress"

	groupCharacters = "a-z, A-Z, 0-9, spaces and ._-:/()#,@[]+=&;{}!$*"
	groupClass      = `[a-zA-Z0-9 ._\-:/()#,@\[\]+=&;{}!$*]`
)

// securityGroupRules cover security groups and their rules.
func securityGroupRules() []Rule {
	const group = "aws:ec2/securityGroup:SecurityGroup"
	out := []Rule{
		{Type: group, Path: "name", Rule: "must be 1 to 255 characters of " + groupCharacters + ", not beginning with sg-",
			Source: "EC2 API, CreateSecurityGroup", Holds: both(matches(`^`+groupClass+`{1,255}$`), onString(isNotGroupID)),
			Pass: "emr-master", Fail: "sg-master"},
		{Type: group, Path: "description", Rule: "must be 1 to 255 characters of " + groupCharacters,
			Source: "EC2 API, CreateSecurityGroup", Holds: matches(`^` + groupClass + `{1,255}$`), Pass: "EMR master", Fail: "EMR master’s"},
	}
	return slices.Concat(out,
		trafficRules("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"),
		trafficRules("aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule"))
}

// trafficRules cover a resource type that allows traffic from or to one peer.
func trafficRules(typ string) []Rule {
	return []Rule{
		{Type: typ, Path: "ipProtocol", Rule: "must be tcp, udp, icmp, icmpv6, -1 or a protocol number", Source: groupDoc,
			Holds: matches(`^(tcp|udp|icmp|icmpv6|-1|\d{1,3})$`), Pass: "tcp", Fail: "TCP"},
		{Type: typ, Path: "description", Rule: "must be at most 255 characters of " + groupCharacters, Source: groupDoc,
			Holds: matches(`^` + groupClass + `{0,255}$`), Pass: "OTLP", Fail: "<all>"},
		{Type: typ, Path: "cidrIpv4", Rule: "must be an IPv4 network without host bits", Remedy: "write e.g. 203.0.113.0/24",
			Source: groupDoc, Holds: onString(func(s string) bool { return isNetwork(s) && !strings.Contains(s, ":") }),
			Pass: "203.0.113.0/24", Fail: "203.0.113.7/24"},
		{Type: typ, Path: "cidrIpv6", Rule: "must be an IPv6 network without host bits", Source: groupDoc,
			Holds: onString(func(s string) bool { return isNetwork(s) && strings.Contains(s, ":") }), Pass: "2001:db8::/32",
			Fail: "10.0.0.0/8"},
		{Type: typ, Rule: "exactly one of cidrIpv4, cidrIpv6, prefixListId and referencedSecurityGroupId must be set",
			Source: groupDoc, Holds: onObject(hasOnePeer), Pass: object{"cidrIpv4": "10.0.0.0/8"},
			Fail: object{"cidrIpv4": "10.0.0.0/8", "prefixListId": "pl-1"}},
		{Type: typ, Rule: "tcp and udp need fromPort ≤ toPort within 0 to 65535; protocol -1 takes no ports", Source: groupDoc,
			Holds: onObject(portsFitProtocol), Pass: object{"ipProtocol": "tcp", "fromPort": 4317.0, "toPort": 4318.0},
			Fail: object{"ipProtocol": "tcp", "fromPort": 4318.0, "toPort": 4317.0}},
	}
}

func isNotGroupID(s string) bool { return !strings.HasPrefix(s, "sg-") }

func hasOnePeer(o object) bool {
	return exactlyOne(o, "cidrIpv4", "cidrIpv6", "prefixListId", "referencedSecurityGroupId")
}

func portsFitProtocol(o object) bool {
	from, hasFrom := numberField(o, "fromPort")
	to, hasTo := numberField(o, "toPort")
	switch protocol, _ := stringField(o, "ipProtocol"); protocol {
	case "tcp", "udp":
		if !isSet(o, "fromPort") || !isSet(o, "toPort") {
			return false
		}
		return !hasFrom || !hasTo || from >= 0 && from <= to && to <= 65535
	case "-1":
		return !isSet(o, "fromPort") && !isSet(o, "toPort")
	default:
		return true
	}
}
