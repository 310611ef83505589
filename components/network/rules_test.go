package network_test

import (
	"fmt"
	"slices"
	"sort"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/components/network"
	"github.com/emr-observatory/emr-observatory/internal/recorder"
)

// line formats a rule as "group < peer tcp 1-2" (inbound) or "group > …".
func ruleLine(r recorder.Resource) string {
	arrow := "<"
	if r.Type == egressType {
		arrow = ">"
	}
	var peers []string
	for _, k := range []resource.PropertyKey{"referencedSecurityGroupId", "cidrIpv4", "cidrIpv6", "prefixListId"} {
		if v, ok := r.Inputs[k]; ok && v.IsString() {
			peers = append(peers, v.StringValue())
		}
	}
	return fmt.Sprintf("%s %s %v %s %v-%v", r.Inputs["securityGroupId"].StringValue(), arrow, peers,
		r.Inputs["ipProtocol"].StringValue(), r.Inputs["fromPort"].NumberValue(), r.Inputs["toPort"].NumberValue())
}

func ruleLines(rec *recorder.Recording) (in, out []string) {
	for _, r := range rec.OfType(ingressType) {
		in = append(in, ruleLine(r))
	}
	for _, r := range rec.OfType(egressType) {
		out = append(out, ruleLine(r))
	}
	sort.Strings(in)
	sort.Strings(out)
	return in, out
}

func TestInboundIsExactlyThis(t *testing.T) {
	in, _ := ruleLines(run(t, validArgs()))
	require.Equal(t, []string{
		"network-control-id < [2001:db8::/32] tcp 3000-3000",
		"network-control-id < [2001:db8::/32] tcp 6443-6443",
		"network-control-id < [2001:db8::/32] tcp 8070-8070",
		"network-control-id < [2001:db8::/32] tcp 8080-8080",
		"network-control-id < [203.0.113.0/24] tcp 3000-3000",
		"network-control-id < [203.0.113.0/24] tcp 6443-6443",
		"network-control-id < [203.0.113.0/24] tcp 8070-8070",
		"network-control-id < [203.0.113.0/24] tcp 8080-8080",
		"network-control-id < [network-observed-id] tcp 4040-4040",
		"network-control-id < [network-observed-id] tcp 4317-4317",
		"network-control-id < [network-observed-id] tcp 4318-4318",
	}, in)
}

// Airflow's groups reach the collector alone. What they may send to is their owner's.
func TestAirflowMaySendSpans(t *testing.T) {
	args := validArgs()
	in, out := ruleLines(run(t, args))
	args.Senders = []string{"sg-0123abcd"}
	admitted, sent := ruleLines(run(t, args))
	require.Equal(t, []string{
		"network-control-id < [sg-0123abcd] tcp 4317-4317", "network-control-id < [sg-0123abcd] tcp 4318-4318",
	}, slices.DeleteFunc(admitted, func(line string) bool { return slices.Contains(in, line) }))
	require.Equal(t, out, sent)
}

func TestOutboundNamesWhatIsOutsideThePlatform(t *testing.T) {
	args := validArgs()
	_, before := ruleLines(run(t, args))
	args.Outbound = []network.Outbound{{Name: "traces", CIDR: "10.9.8.7/32", Port: 4317}}
	_, out := ruleLines(run(t, args))
	require.Equal(t, []string{"network-control-id > [10.9.8.7/32] tcp 4317-4317"},
		slices.DeleteFunc(out, func(line string) bool { return slices.Contains(before, line) }))
}

func TestOutboundIsExactlyThis(t *testing.T) {
	_, out := ruleLines(run(t, validArgs()))
	require.Equal(t, []string{
		"network-control-id > [0.0.0.0/0] tcp 443-443",
		"network-control-id > [pl-of-network-s3] tcp 80-80",
		"network-observed-id > [network-control-id] tcp 4040-4040",
		"network-observed-id > [network-control-id] tcp 4317-4317",
		"network-observed-id > [network-control-id] tcp 4318-4318",
	}, out)
}

// A security group lets queries out to AmazonProvidedDNS only, unless a rule says more.
func TestOwnDNSServersAreReachedOnPort53(t *testing.T) {
	args := existingVPCArgs()
	_, before := ruleLines(run(t, args))
	args.DNSServers = []string{"10.1.0.5", "192.168.7.9"}
	_, out := ruleLines(run(t, args))
	require.Equal(t, []string{
		"network-control-id > [10.1.0.5/32] tcp 53-53", "network-control-id > [10.1.0.5/32] udp 53-53",
		"network-control-id > [192.168.7.9/32] tcp 53-53", "network-control-id > [192.168.7.9/32] udp 53-53",
	}, slices.DeleteFunc(out, func(line string) bool { return slices.Contains(before, line) }))
	for _, line := range before {
		require.NotContains(t, line, " 53-53")
	}
}

// Traffic between two groups needs an egress rule of one and an ingress rule of
// the other.
func TestEveryFlowBetweenGroupsHasBothRules(t *testing.T) {
	rec := run(t, validArgs())
	type flow struct {
		from, to, kind string
	}
	seen := map[string]map[flow]bool{ingressType: {}, egressType: {}}
	for token := range seen {
		for _, r := range rec.OfType(token) {
			peer, ok := r.Inputs["referencedSecurityGroupId"]
			if !ok || !peer.IsString() {
				continue
			}
			f := flow{r.Inputs["securityGroupId"].StringValue(), peer.StringValue(),
				fmt.Sprint(r.Inputs["ipProtocol"], r.Inputs["fromPort"], r.Inputs["toPort"])}
			if token == ingressType {
				f.from, f.to = f.to, f.from
			}
			seen[token][f] = true
		}
	}
	require.Len(t, seen[ingressType], 3)
	require.Equal(t, seen[ingressType], seen[egressType])
}

func TestRulesAreDescribedAndNotOpenToTheInternet(t *testing.T) {
	args := existingVPCArgs()
	args.DNSServers = []string{"10.1.0.5"}
	rec := run(t, args)
	for _, r := range append(rec.OfType(ingressType), rec.OfType(egressType)...) {
		require.Regexp(t, `^[a-zA-Z0-9 ._\-:/()#,@\[\]+=&;{}!$*]{5,255}$`, r.Inputs["description"].StringValue(), r.Name)
	}
	for _, r := range rec.OfType(ingressType) {
		require.NotContains(t, ruleLine(r), "0.0.0.0/0")
		require.NotContains(t, ruleLine(r), "[::/0]")
	}
	for _, g := range rec.OfType(groupType) {
		require.NotEmpty(t, g.Inputs["description"].StringValue())
		require.True(t, g.Inputs["revokeRulesOnDelete"].BoolValue(), g.Name)
		require.NotContains(t, g.Inputs, resource.PropertyKey("ingress"), "rules are resources of their own")
		require.NotContains(t, g.Inputs, resource.PropertyKey("egress"))
	}
}

func TestWithoutOperatorsOnlyGroupsAreAdmitted(t *testing.T) {
	a := validArgs()
	a.OperatorCIDRs = nil
	rec := run(t, a)
	require.Len(t, rec.OfType(ingressType), 3)
	for _, r := range rec.OfType(ingressType) {
		require.Contains(t, r.Inputs, resource.PropertyKey("referencedSecurityGroupId"), r.Name)
	}
}

func TestRuleNamesContainNoURNSeparators(t *testing.T) {
	for _, r := range run(t, validArgs()).OfType(ingressType) {
		require.NotContains(t, r.Name, "/")
		require.NotContains(t, r.Name, ":")
	}
}

func TestReorderingOperatorsChangesNoName(t *testing.T) {
	a, b := validArgs(), validArgs()
	b.OperatorCIDRs = []string{a.OperatorCIDRs[1], a.OperatorCIDRs[0]}
	require.Equal(t, run(t, a).List(), run(t, b).List())
}
