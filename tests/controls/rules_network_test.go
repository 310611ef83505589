package controls

import (
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/emr-observatory/emr-observatory/platform"
)

const (
	typeVPC              = "aws:ec2/vpc:Vpc"
	typeSubnet           = "aws:ec2/subnet:Subnet"
	typeRoute            = "aws:ec2/route:Route"
	typeRouteAssociation = "aws:ec2/routeTableAssociation:RouteTableAssociation"
	typeNAT              = "aws:ec2/natGateway:NatGateway"
	typeEndpoint         = "aws:ec2/vpcEndpoint:VpcEndpoint"
	typeFlowLog          = "aws:ec2/flowLog:FlowLog"
	typeGroup            = "aws:ec2/securityGroup:SecurityGroup"
	typeDefaultGroup     = "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup"
	typeIngress          = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
	typeEgress           = "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule"
)

func groupRules() []Rule {
	in, out := []string{typeIngress}, []string{typeEgress}
	return []Rule{
		{IDs: []string{"CKV_AWS_23", "AWS-0099", "AWS-0124"}, Requires: "Security groups and their rules have a description",
			Types: []string{typeGroup, typeIngress, typeEgress}, Check: hasDescription},
		{IDs: []string{"AWS-0107", "CKV_AWS_24", "CKV_AWS_25", "CKV_AWS_260", "CKV_AWS_277", "EC2.13", "EC2.14", "EC2.18", "EC2.19"},
			Requires: "No port is open to every address", Types: in, Check: noPublicIngress},
		{IDs: []string{"observatory/ports"}, Requires: "Only declared ports are open, each to its declared peers",
			Types: in, Check: opensDeclaredPort},
		{IDs: []string{"CKV_AWS_382"}, Requires: "No rule allows all protocols or a range of ports to every address",
			Types: out, Check: noUnrestrictedEgress},
		{IDs: []string{"AWS-0104"}, Requires: "No rule allows egress to every address", Types: out, Check: noPublicEgress},
		{IDs: []string{"CKV2_AWS_5"}, Requires: "A security group is in use", Types: []string{typeGroup}, Check: groupInUse},
	}
}

func networkRules() []Rule {
	return []Rule{
		{IDs: []string{"CKV2_AWS_12", "AWS-0173", "EC2.2"}, Requires: "The VPC's default security group admits nothing",
			Types: []string{typeVPC}, Check: emptyDefaultGroup},
		{IDs: []string{"CKV2_AWS_11", "AWS-0178", "EC2.6"}, Requires: "The VPC has flow logs", Types: []string{typeVPC}, Check: hasFlowLog},
		{IDs: []string{"CKV_AWS_130", "AWS-0164", "EC2.15"}, Requires: "A subnet assigns no public addresses",
			Types: []string{typeSubnet}, Check: equals("mapPublicIpOnLaunch", false)},
	}
}

func hasDescription(r Resource, _ Resources) Judgement {
	if d := r.Text("description"); d == "" || d == "Managed by Pulumi" {
		return unmet("description is %q", d)
	}
	return met()
}

// anyAddress reports whether a rule is for every address.
func anyAddress(r Resource) bool {
	return r.Text("cidrIpv4") == "0.0.0.0/0" || r.Text("cidrIpv6") == "::/0"
}

func noPublicIngress(r Resource, _ Resources) Judgement {
	if anyAddress(r) {
		return unmet("port %v is open to every address", r.At("fromPort"))
	}
	return met()
}

func noPublicEgress(r Resource, _ Resources) Judgement {
	if anyAddress(r) {
		return unmet("%s to port %v of any address", r.Text("ipProtocol"), r.At("fromPort"))
	}
	return met()
}

func noUnrestrictedEgress(r Resource, _ Resources) Judgement {
	if anyAddress(r) && (r.Text("ipProtocol") == "-1" || r.At("fromPort") != r.At("toPort")) {
		return unmet("ports %v to %v of any address", r.At("fromPort"), r.At("toPort"))
	}
	return met()
}

// Parts of the platform with a security group of their own, and operators.
const (
	controlNode   = "the control node"
	nodes         = "EMR nodes"
	observed      = "observed nodes" // EMR nodes of any cluster
	serviceAccess = "EMR's access"
	endpoints     = "interface endpoints"
	operators     = "operators"
)

// partOf returns the part of the platform that uses a security group, or "".
func partOf(group any, all Resources) string {
	for _, i := range all.OfType(typeInterface) {
		if slices.Contains(i.List("securityGroups"), group) {
			return controlNode
		}
	}
	for _, c := range all.OfType(typeCluster) {
		if part, ok := nodeGroups(c)[group]; ok && group != nil {
			return part
		}
	}
	for _, e := range all.OfType(typeEndpoint) {
		if slices.Contains(e.List("securityGroupIds"), group) {
			return endpoints
		}
	}
	return ""
}

// declaredPorts returns the ports of a part that are open to a peer. EMR's nodes may
// use any port among themselves; see opensDeclaredPort.
func declaredPorts(part, peer string) []platform.Port {
	switch {
	case part == controlNode && peer == observed:
		return []platform.Port{platform.OTLPGRPC, platform.OTLPHTTP, platform.Pyroscope}
	case part == controlNode && peer == operators:
		return []platform.Port{platform.Grafana, platform.KubernetesAPI, platform.Status, platform.Tools}
	case part == nodes && peer == serviceAccess:
		return []platform.Port{platform.EMRServiceSlave}
	case part == serviceAccess && peer == nodes:
		return []platform.Port{platform.EMRServiceAccess}
	case part == endpoints:
		return []platform.Port{platform.HTTPS}
	}
	return nil
}

func opensDeclaredPort(r Resource, all Resources) Judgement {
	part, peer := partOf(r.At("securityGroupId"), all), operators
	if group := r.At("referencedSecurityGroupId"); group != nil {
		peer = partOf(group, all)
	}
	if part == nodes && peer == nodes && sameCluster(r.At("securityGroupId"), r.At("referencedSecurityGroupId"), all) {
		return met()
	}
	from, _ := r.At("fromPort").(float64)
	if r.Text("ipProtocol") == "tcp" && r.At("toPort") == from && slices.Contains(declaredPorts(part, peer), platform.Port(from)) {
		return met()
	}
	return unmet("%s %v to %v is not declared from %q to %q", r.Text("ipProtocol"), r.At("fromPort"), r.At("toPort"), peer, part)
}

// sameCluster reports whether two groups belong to the same cluster: YARN and HDFS ask
// nobody for a password.
func sameCluster(a, b any, all Resources) bool {
	return slices.ContainsFunc(all.OfType(typeCluster), func(c Resource) bool {
		return nodeGroups(c)[a] == nodes && nodeGroups(c)[b] == nodes
	})
}

func groupInUse(r Resource, all Resources) Judgement {
	if partOf(r.ID, all) == "" {
		return unmet("no resource uses it")
	}
	return met()
}

func emptyDefaultGroup(r Resource, all Resources) Judgement {
	groups := all.With(typeDefaultGroup, "vpcId", r.ID)
	if len(groups) == 0 {
		return unmet("its default group has AWS's default rules")
	}
	for _, g := range groups {
		if len(g.List("ingress"))+len(g.List("egress")) > 0 {
			return unmet("%s has rules", g.Name)
		}
	}
	return met(groups...)
}

func hasFlowLog(r Resource, all Resources) Judgement {
	logs := all.With(typeFlowLog, "vpcId", r.ID)
	for _, l := range logs {
		if l.Text("trafficType") != "ALL" || l.Text("logDestination") == "" {
			return unmet("%s writes %q to %q", l.Name, l.Text("trafficType"), l.Text("logDestination"))
		}
	}
	if len(logs) == 0 {
		return unmet("has no flow log")
	}
	return met(logs...)
}

// hostPorts returns the declared ports of the control node that pods may listen on:
// all but the Kubernetes API's.
func hostPorts() []platform.Port {
	all := slices.Concat(declaredPorts(controlNode, observed), declaredPorts(controlNode, operators))
	return slices.DeleteFunc(all, func(p platform.Port) bool { return p == platform.KubernetesAPI })
}

func onlyHostPorts(r Resource, _ Resources) Judgement {
	if r.Type == typeService {
		return onlyNodePorts(r)
	}
	for _, c := range containers(r) {
		for _, p := range c.Ports {
			if p.HostPort != 0 && !slices.Contains(hostPorts(), platform.Port(p.HostPort)) {
				return unmet("container %s uses port %d of the node", c.Name, p.HostPort)
			}
		}
	}
	return met()
}

// onlyNodePorts requires a Service to have declared node ports only.
func onlyNodePorts(service Resource) Judgement {
	for _, p := range decode[[]corev1.ServicePort](service.At("spec.ports")) {
		if p.NodePort != 0 && !slices.Contains(hostPorts(), platform.Port(p.NodePort)) {
			return unmet("node port %d is not declared", p.NodePort)
		}
	}
	if t := service.At("spec.type"); t != nil && t != "ClusterIP" && t != "NodePort" {
		return unmet("type is %v", t)
	}
	return met()
}

// contains reports whether a network in CIDR notation contains an address. An invalid
// network contains none.
func contains(network, address string) bool {
	p, err := netip.ParsePrefix(network)
	a, err2 := netip.ParseAddr(address)
	return err == nil && err2 == nil && p.Contains(a)
}
