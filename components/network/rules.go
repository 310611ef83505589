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

// anyPort stands for "all", as EC2 counts ports and ICMP types.
const (
	anyPort  = -1
	lastPort = 65535
	https    = int(platform.HTTPS)
	http     = 80
)

// rule lets traffic of one kind pass between a group and one peer: another
// group, an address range, or S3 in the region.
type rule struct {
	name     string // unique in the network
	group    string
	egress   bool
	protocol string // tcp, udp, icmp
	from, to int
	peer     string // a group
	cidr     string
	s3       bool
	why      string // description; EC2 allows letters, digits and ._-:/()#,@[]+=&;{}!$*
}

// rules is everything that may pass. Inbound comes from groups only, save for
// the operators. Ports: platform. EMR's own rules: Management Guide, "Working
// with Amazon EMR-managed security groups" (private subnets); EMR would add
// them itself, but then nobody would own them.
func rules(operators []string, endpoints bool) []rule {
	out := append(telemetryRules(), operatorRules(operators)...)
	out = append(out, clusterRules()...)
	out = append(out, serviceAccessRules()...)
	out = append(out, outwardRules()...)
	if endpoints {
		for _, from := range []string{groupControl, groupMaster, groupCore} {
			out = append(out, rule{name: "endpoints-from-" + from, group: groupEndpoints, protocol: "tcp", from: https, to: https, peer: from,
				why: "AWS APIs through interface endpoints"})
		}
	}
	return out
}

// telemetryRules: EMR nodes send signals to the control node. Each pair is
// written from both sides, for nothing leaves a group unlisted.
func telemetryRules() []rule {
	var out []rule
	for _, p := range []struct {
		name string
		port platform.Port
	}{{"otlp-grpc", platform.OTLPGRPC}, {"otlp-http", platform.OTLPHTTP}, {"pyroscope", platform.Pyroscope}} {
		for _, from := range []string{groupMaster, groupCore} {
			port := int(p.port)
			out = append(out,
				rule{name: "control-" + p.name + "-from-" + from, group: groupControl, protocol: "tcp", from: port, to: port, peer: from, why: "Telemetry from EMR nodes"},
				rule{name: from + "-" + p.name + "-to-control", group: from, egress: true, protocol: "tcp", from: port, to: port, peer: groupControl, why: "Telemetry to the control node"},
			)
		}
	}
	return out
}

// operatorRules are named after the network they admit, so that reordering
// the list changes nothing.
func operatorRules(operators []string) []rule {
	var out []rule
	for _, p := range []struct {
		name string
		port platform.Port
	}{{"grafana", platform.Grafana}, {"kubernetes", platform.KubernetesAPI}, {"status", platform.Status}} {
		for _, cidr := range operators {
			out = append(out, rule{name: "control-" + p.name + "-from-" + cidr, group: groupControl, protocol: "tcp",
				from: int(p.port), to: int(p.port), cidr: cidr, why: "Operators"})
		}
	}
	return out
}

// clusterRules: nodes of one cluster talk freely among themselves; YARN, HDFS
// and Spark use ephemeral ports.
func clusterRules() []rule {
	var out []rule
	for _, g := range []string{groupMaster, groupCore} {
		for _, peer := range []string{groupMaster, groupCore} {
			for _, p := range []struct {
				protocol string
				from, to int
			}{{"tcp", 0, lastPort}, {"udp", 0, lastPort}, {"icmp", anyPort, anyPort}} {
				out = append(out,
					rule{name: g + "-" + p.protocol + "-from-" + peer, group: g, protocol: p.protocol, from: p.from, to: p.to, peer: peer, why: "Inside the cluster"},
					rule{name: g + "-" + p.protocol + "-to-" + peer, group: g, egress: true, protocol: p.protocol, from: p.from, to: p.to, peer: peer, why: "Inside the cluster"},
				)
			}
		}
	}
	return out
}

func serviceAccessRules() []rule {
	nodes, back := int(platform.EMRServiceSlave), int(platform.EMRServiceAccess)
	out := []rule{
		{name: "service-access-from-master", group: groupServiceAccess, protocol: "tcp", from: back, to: back, peer: groupMaster, why: "EMR primary node to the EMR service"},
		{name: "master-to-service-access", group: groupMaster, egress: true, protocol: "tcp", from: back, to: back, peer: groupServiceAccess, why: "EMR primary node to the EMR service"},
	}
	for _, g := range []string{groupMaster, groupCore} {
		out = append(out,
			rule{name: g + "-from-service-access", group: g, protocol: "tcp", from: nodes, to: nodes, peer: groupServiceAccess, why: "EMR service to its nodes"},
			rule{name: "service-access-to-" + g, group: groupServiceAccess, egress: true, protocol: "tcp", from: nodes, to: nodes, peer: g, why: "EMR service to its nodes"},
		)
	}
	return out
}

// outwardRules: HTTPS to any address, a considered choice. AWS APIs, image
// registries and package mirrors have no stable addresses, so a narrower rule
// would be a list that is wrong tomorrow; whether the packets get anywhere is
// decided by routes (NAT or endpoints). Plain HTTP only to S3, which serves
// Amazon Linux's package repositories under it. Name resolution, time and
// instance metadata are not subject to security groups.
func outwardRules() []rule {
	var out []rule
	for _, g := range []string{groupControl, groupMaster, groupCore} {
		out = append(out,
			rule{name: g + "-https-out", group: g, egress: true, protocol: "tcp", from: https, to: https, cidr: "0.0.0.0/0", why: "AWS APIs, images and packages"},
			rule{name: g + "-http-to-s3", group: g, egress: true, protocol: "tcp", from: http, to: http, s3: true, why: "Package repositories in S3"},
		)
	}
	return out
}
