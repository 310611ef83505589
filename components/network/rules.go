package network

import (
	"github.com/emr-observatory/emr-observatory/components/internal/securitygroup"
	"github.com/emr-observatory/emr-observatory/platform"
)

// The security groups, by the last part of their name.
const (
	groupControl   = "control"
	groupObserved  = "observed" // every node of every observed cluster, beside its EMR-managed group
	groupEndpoints = "endpoints"
)

// groupDescriptions says what each group is for. EC2 never changes a group's
// description: an edit here replaces the group.
func groupDescriptions(endpoints bool) map[string]string {
	d := map[string]string{
		groupControl:  "Control node of the observatory",
		groupObserved: "Nodes of EMR clusters that send telemetry to the control node",
	}
	if endpoints {
		d[groupEndpoints] = "Interface endpoints of AWS services"
	}
	return d
}

// rules returns all rules. Except for the operators', inbound traffic comes from
// groups only.
func rules(a *Args, endpoints bool) []securitygroup.Rule {
	out := append(telemetryRules(), operatorRules(a.OperatorCIDRs, a.Profiler)...)
	out = append(out, senderRules(a.Senders)...)
	out = append(out, securitygroup.Outbound(groupControl, a.DNSServers)...)
	for _, o := range a.Outbound {
		r := securitygroup.TCP(groupControl+"-"+o.Name+"-out", groupControl, o.Port, "Servers outside the platform")
		out = append(out, r.Toward().Of(o.CIDR))
	}
	if endpoints {
		const why = "AWS APIs through interface endpoints"
		for _, from := range []string{groupControl, groupObserved} {
			out = append(out, securitygroup.TCP("endpoints-from-"+from, groupEndpoints, int(platform.HTTPS), why).Between(from))
		}
	}
	return out
}

// telemetryRules let EMR nodes send signals to the control node. Each flow needs
// an ingress and an egress rule, since groups allow no traffic by default.
func telemetryRules() []securitygroup.Rule {
	var out []securitygroup.Rule
	for _, p := range platform.TelemetryPorts() {
		port := int(p.Port)
		out = append(out,
			securitygroup.TCP("control-"+p.Name+"-from-"+groupObserved, groupControl, port, "Telemetry from EMR nodes").Between(groupObserved),
			securitygroup.TCP(groupObserved+"-"+p.Name+"-to-control", groupObserved, port, "Telemetry to the control node").Toward().
				Between(groupControl),
		)
	}
	return out
}

// senderRules let other security groups send spans. What they may send to is up to their owner.
func senderRules(groups []string) []securitygroup.Rule {
	var out []securitygroup.Rule
	for _, group := range groups {
		for _, p := range platform.OTLPPorts() {
			out = append(out, securitygroup.TCP("control-"+p.Name+"-from-"+group, groupControl, int(p.Port), "Spans of Airflow").Between(group))
		}
	}
	return out
}

// operatorRules returns rules that are named after the network that they admit, so
// that reordering the list changes nothing.
func operatorRules(operators []string, profiler bool) []securitygroup.Rule {
	var out []securitygroup.Rule
	for _, p := range platform.OperatorPorts(profiler) {
		for _, cidr := range operators {
			out = append(out, securitygroup.TCP("control-"+p.Name+"-from-"+cidr, groupControl, int(p.Port), "Operators").Of(cidr))
		}
	}
	return out
}
