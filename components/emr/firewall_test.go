package emr_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/platform"
)

const (
	groupsType  = "aws:ec2/securityGroup:SecurityGroup"
	ingressType = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
	egressType  = "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule"
)

// isRule reports whether a listed resource is a rule of a security group.
func isRule(listed string) bool {
	return strings.HasPrefix(listed, ingressType) || strings.HasPrefix(listed, egressType)
}

// rules formats the rules of a type as "group peer protocol from-to".
func rules(rec *recorder.Recording, token string) []string {
	var out []string
	for _, r := range rec.OfType(token) {
		var peer string
		for _, k := range []resource.PropertyKey{"referencedSecurityGroupId", "cidrIpv4", "prefixListId"} {
			if v, ok := r.Inputs[k]; ok && v.IsString() {
				peer = v.StringValue()
			}
		}
		out = append(out, fmt.Sprintf("%s %s %s %v-%v", strings.TrimSuffix(r.Inputs["securityGroupId"].StringValue(), "-id"),
			strings.TrimSuffix(peer, "-id"), r.Inputs["ipProtocol"].StringValue(),
			r.Inputs["fromPort"].NumberValue(), r.Inputs["toPort"].NumberValue()))
	}
	slices.Sort(out)
	return out
}

// Every node resolves names at the VPC's own servers.
func TestNodesReachOwnDNSServers(t *testing.T) {
	args := validArgs()
	before := rules(run(t, args), egressType)
	args.DNSServers = []string{"10.1.0.5"}
	added := slices.DeleteFunc(rules(run(t, args), egressType), func(line string) bool { return slices.Contains(before, line) })
	require.Equal(t, []string{
		"emr-core 10.1.0.5/32 tcp 53-53", "emr-core 10.1.0.5/32 udp 53-53",
		"emr-master 10.1.0.5/32 tcp 53-53", "emr-master 10.1.0.5/32 udp 53-53",
	}, added)
}

// Nobody but the cluster's own nodes and EMR reaches them, and the way to the control
// node is the additional group's.
func TestClusterAdmitsOnlyItselfAndEMR(t *testing.T) {
	rec := run(t, validArgs())
	var inside []string
	for _, to := range []string{"emr-core", "emr-master"} {
		for _, from := range []string{"emr-core", "emr-master"} {
			inside = append(inside, to+" "+from+" icmp -1--1", to+" "+from+" tcp 0-65535", to+" "+from+" udp 0-65535")
		}
	}
	in := append(slices.Clone(inside), "emr-core emr-service-access tcp 8443-8443", "emr-master emr-service-access tcp 8443-8443",
		"emr-service-access emr-master tcp 9443-9443")
	out := append(slices.Clone(inside), // the same, seen from the other end
		"emr-core 0.0.0.0/0 tcp 443-443", "emr-core pl-1 tcp 80-80", "emr-master 0.0.0.0/0 tcp 443-443", "emr-master pl-1 tcp 80-80",
		"emr-master emr-service-access tcp 9443-9443", "emr-service-access emr-core tcp 8443-8443", "emr-service-access emr-master tcp 8443-8443")
	slices.Sort(in)
	slices.Sort(out)
	require.Equal(t, in, rules(rec, ingressType))
	require.Equal(t, out, rules(rec, egressType))
	for _, g := range rec.OfType(groupsType) {
		require.Equal(t, "vpc-1", g.Inputs["vpcId"].StringValue())
		tags := g.Inputs["tags"].ObjectValue()
		require.Equal(t, "true", tags[platform.EMRManagedPolicyTag].StringValue(), "EMR may use it")
		require.Equal(t, "main", tags[platform.TagCluster].StringValue())
		require.True(t, g.Inputs["revokeRulesOnDelete"].BoolValue())
	}
	cluster := one(t, rec, clusterType, "emr-cluster")
	for _, rule := range []string{"emr-core-tcp-from-master", "emr-service-access-from-master"} {
		require.Contains(t, cluster.Dependencies, rule, "the cluster waits for it")
	}
}
