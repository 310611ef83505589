package rules

import "strings"

const groupDoc = "EC2 API, AuthorizeSecurityGroupIngress"

func groupRules() []Rule {
	out := []Rule{
		{Type: "aws:ec2/securityGroup:SecurityGroup", Path: "name", Rule: "must be 1 to 255 characters of a-z, A-Z, 0-9, spaces and ._-:/()#,@[]+=&;{}!$*, not beginning with sg-", Source: "EC2 API, CreateSecurityGroup", Holds: text(groupName), Pass: "emr-master", Fail: "sg-master"},
		{Type: "aws:ec2/securityGroup:SecurityGroup", Path: "description", Rule: "must be 1 to 255 characters of a-z, A-Z, 0-9, spaces and ._-:/()#,@[]+=&;{}!$*", Source: "EC2 API, CreateSecurityGroup", Holds: matches(`^[a-zA-Z0-9 ._\-:/()#,@\[\]+=&;{}!$*]{1,255}$`), Pass: "EMR master", Fail: "EMR master’s"},
	}
	for _, t := range []string{"aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule"} {
		out = append(out,
			Rule{Type: t, Path: "ipProtocol", Rule: "must be tcp, udp, icmp, icmpv6, -1 or a protocol number", Source: groupDoc, Holds: matches(`^(tcp|udp|icmp|icmpv6|-1|\d{1,3})$`), Pass: "tcp", Fail: "TCP"},
			Rule{Type: t, Path: "description", Rule: "must be at most 255 characters of a-z, A-Z, 0-9, spaces and ._-:/()#,@[]+=&;{}!$*", Source: groupDoc, Holds: matches(`^[a-zA-Z0-9 ._\-:/()#,@\[\]+=&;{}!$*]{0,255}$`), Pass: "OTLP", Fail: "<all>"},
			Rule{Type: t, Path: "cidrIpv4", Rule: "must be an IPv4 network without host bits", Remedy: "write e.g. 203.0.113.0/24", Source: groupDoc, Holds: text(func(s string) bool { return cidr(s) && !strings.Contains(s, ":") }), Pass: "203.0.113.0/24", Fail: "203.0.113.7/24"},
			Rule{Type: t, Path: "cidrIpv6", Rule: "must be an IPv6 network without host bits", Source: groupDoc, Holds: text(func(s string) bool { return cidr(s) && strings.Contains(s, ":") }), Pass: "2001:db8::/32", Fail: "10.0.0.0/8"},
			Rule{Type: t, Path: "", Rule: "exactly one of cidrIpv4, cidrIpv6, prefixListId and referencedSecurityGroupId must be set", Source: groupDoc, Holds: whole(func(o object) bool {
				return exactlyOne(o, "cidrIpv4", "cidrIpv6", "prefixListId", "referencedSecurityGroupId")
			}), Pass: object{"cidrIpv4": "10.0.0.0/8"}, Fail: object{"cidrIpv4": "10.0.0.0/8", "prefixListId": "pl-1"}},
			Rule{Type: t, Path: "", Rule: "tcp and udp need fromPort ≤ toPort within 0 to 65535; protocol -1 takes no ports", Source: groupDoc, Holds: whole(ports("ipProtocol")), Pass: object{"ipProtocol": "tcp", "fromPort": 4317.0, "toPort": 4318.0}, Fail: object{"ipProtocol": "tcp", "fromPort": 4318.0, "toPort": 4317.0}},
		)
	}
	rule := "aws:ec2/securityGroupRule:SecurityGroupRule"
	return append(out,
		Rule{Type: rule, Path: "type", Rule: "must be ingress or egress", Source: groupDoc, Holds: oneOf("ingress", "egress"), Pass: "ingress", Fail: "in"},
		Rule{Type: rule, Path: "cidrBlocks[*]", Rule: "must be a network without host bits", Source: groupDoc, Holds: text(cidr), Pass: "10.0.0.0/8", Fail: "10.0.0.1/8"},
		Rule{Type: rule, Path: "", Rule: "fromPort must not exceed toPort", Source: groupDoc, Holds: whole(func(o object) bool {
			from, a := num(o, "fromPort")
			to, b := num(o, "toPort")
			return !a || !b || from <= to
		}), Pass: object{"fromPort": 1.0, "toPort": 2.0}, Fail: object{"fromPort": 2.0, "toPort": 1.0}},
		Rule{Type: "aws:ec2/securityGroup:SecurityGroup", Path: "ingress[*].cidrBlocks[*]", Rule: "must be a network without host bits", Source: groupDoc, Holds: text(cidr), Pass: "10.0.0.0/8", Fail: "any"},
	)
}

func groupName(s string) bool {
	return matches(`^[a-zA-Z0-9 ._\-:/()#,@\[\]+=&;{}!$*]{1,255}$`)(s) && !strings.HasPrefix(s, "sg-")
}

func ports(protocolKey string) func(o object) bool {
	return func(o object) bool {
		protocol, ok := str(o, protocolKey)
		if !ok {
			return true
		}
		from, hasFrom := num(o, "fromPort")
		to, hasTo := num(o, "toPort")
		switch protocol {
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
}
