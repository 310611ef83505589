package network

import "github.com/emr-observatory/emr-observatory/platform"

// The security groups, by the last part of their name.
const (
	groupControl       = "control"
	groupMaster        = "master"
	groupCore          = "core" // core and task nodes
	groupServiceAccess = "service-access"
	groupEndpoints     = "endpoints"
)

// groupDescriptions says what each group is for. EC2 never changes a group's
// description: an edit here replaces the group.
func groupDescriptions(endpoints bool) map[string]string {
	d := map[string]string{
		groupControl:       "Control node of the observatory",
		groupMaster:        "EMR primary nodes (EMR-managed)",
		groupCore:          "EMR core and task nodes (EMR-managed)",
		groupServiceAccess: "EMR service access to nodes in private subnets",
	}
	if endpoints {
		d[groupEndpoints] = "Interface endpoints of AWS services"
	}
	return d
}

const (
	anyPort  = -1 // EC2's value for all ICMP types
	lastPort = 65535
	https    = int(platform.HTTPS)
	http     = 80
)

// rule allows one kind of traffic between a group and one peer: another group, an
// address range, or S3 in the region.
type rule struct {
	name        string // unique in the network
	group       string
	egress      bool
	protocol    string // tcp, udp, icmp
	from, to    int
	peer        string // a group
	cidr        string
	s3          bool
	description string // EC2 allows letters, digits and ._-:/()#,@[]+=&;{}!$*
}

// rules returns all rules. Except for the operators', inbound traffic comes from
// groups only. EMR's rules are from the Management Guide, "Working with Amazon
// EMR-managed security groups" (private subnets); EMR would add them itself, but
// then no destroy would remove them.
func rules(operators []string, outbound []Outbound, endpoints bool) []rule {
	out := append(telemetryRules(), operatorRules(operators)...)
	out = append(out, clusterRules()...)
	out = append(out, serviceAccessRules()...)
	out = append(out, outboundRules()...)
	for _, o := range outbound {
		out = append(out, rule{name: groupControl + "-" + o.Name + "-out", group: groupControl, egress: true, protocol: "tcp",
			from: o.Port, to: o.Port, cidr: o.CIDR, description: "Servers outside the platform"})
	}
	if endpoints {
		for _, from := range []string{groupControl, groupMaster, groupCore} {
			out = append(out, rule{name: "endpoints-from-" + from, group: groupEndpoints, protocol: "tcp", from: https, to: https, peer: from,
				description: "AWS APIs through interface endpoints"})
		}
	}
	return out
}

// telemetryRules let EMR nodes send signals to the control node. Each flow needs
// an ingress and an egress rule, since groups allow no traffic by default.
func telemetryRules() []rule {
	var out []rule
	for _, p := range []struct {
		name string
		port platform.Port
	}{{"otlp-grpc", platform.OTLPGRPC}, {"otlp-http", platform.OTLPHTTP}, {"pyroscope", platform.Pyroscope}} {
		for _, from := range []string{groupMaster, groupCore} {
			port := int(p.port)
			out = append(out,
				rule{name: "control-" + p.name + "-from-" + from, group: groupControl, protocol: "tcp", from: port, to: port, peer: from,
					description: "Telemetry from EMR nodes"},
				rule{name: from + "-" + p.name + "-to-control", group: from, egress: true, protocol: "tcp", from: port, to: port,
					peer: groupControl, description: "Telemetry to the control node"},
			)
		}
	}
	return out
}

// operatorRules returns rules that are named after the network that they admit, so
// that reordering the list changes nothing.
func operatorRules(operators []string) []rule {
	var out []rule
	for _, p := range []struct {
		name string
		port platform.Port
	}{{"grafana", platform.Grafana}, {"kubernetes", platform.KubernetesAPI}, {"status", platform.Status}} {
		for _, cidr := range operators {
			out = append(out, rule{name: "control-" + p.name + "-from-" + cidr, group: groupControl, protocol: "tcp",
				from: int(p.port), to: int(p.port), cidr: cidr, description: "Operators"})
		}
	}
	return out
}

// clusterRules allow all traffic between the nodes of a cluster: YARN, HDFS and
// Spark use ephemeral ports.
func clusterRules() []rule {
	var out []rule
	for _, g := range []string{groupMaster, groupCore} {
		for _, peer := range []string{groupMaster, groupCore} {
			for _, p := range []struct {
				protocol string
				from, to int
			}{{"tcp", 0, lastPort}, {"udp", 0, lastPort}, {"icmp", anyPort, anyPort}} {
				out = append(out,
					rule{name: g + "-" + p.protocol + "-from-" + peer, group: g, protocol: p.protocol, from: p.from, to: p.to, peer: peer,
						description: "Inside the cluster"},
					rule{name: g + "-" + p.protocol + "-to-" + peer, group: g, egress: true, protocol: p.protocol, from: p.from, to: p.to, peer: peer,
						description: "Inside the cluster"},
				)
			}
		}
	}
	return out
}

// serviceAccessRules let EMR's service reach its nodes, and the primary nodes the
// service.
func serviceAccessRules() []rule {
	nodes, back := int(platform.EMRServiceSlave), int(platform.EMRServiceAccess)
	out := []rule{
		{name: "service-access-from-master", group: groupServiceAccess, protocol: "tcp", from: back, to: back, peer: groupMaster,
			description: "EMR primary node to the EMR service"},
		{name: "master-to-service-access", group: groupMaster, egress: true, protocol: "tcp", from: back, to: back, peer: groupServiceAccess,
			description: "EMR primary node to the EMR service"},
	}
	for _, g := range []string{groupMaster, groupCore} {
		out = append(out,
			rule{name: g + "-from-service-access", group: g, protocol: "tcp", from: nodes, to: nodes, peer: groupServiceAccess,
				description: "EMR service to its nodes"},
			rule{name: "service-access-to-" + g, group: groupServiceAccess, egress: true, protocol: "tcp", from: nodes, to: nodes, peer: g,
				description: "EMR service to its nodes"},
		)
	}
	return out
}

// outboundRules allow HTTPS to any address, deliberately: AWS APIs, image
// registries and package mirrors have no stable addresses. Routes (NAT or
// endpoints) decide which of them are reachable. Plain HTTP is allowed only to
// S3, which serves Amazon Linux's package repositories over it. Name resolution,
// time and instance metadata are not subject to security groups.
func outboundRules() []rule {
	var out []rule
	for _, g := range []string{groupControl, groupMaster, groupCore} {
		out = append(out,
			rule{name: g + "-https-out", group: g, egress: true, protocol: "tcp", from: https, to: https, cidr: "0.0.0.0/0",
				description: "AWS APIs, images and packages"},
			rule{name: g + "-http-to-s3", group: g, egress: true, protocol: "tcp", from: http, to: http, s3: true,
				description: "Package repositories in S3"},
		)
	}
	return out
}
