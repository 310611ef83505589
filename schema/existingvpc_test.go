package schema_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

const existing, private, other, public = "vpc-0123abcd", "subnet-0123abc0", "subnet-0123abc1", "subnet-0123abc2"

// existingVPC is one in which every stack starts.
func existingVPC() platform.VPC {
	subnet := func(cidr, gateway string) platform.VPCSubnet {
		return platform.VPCSubnet{VPC: existing, CIDR: cidr, RouteTable: "rtb-1", Routes: []platform.VPCRoute{
			{To: "10.0.0.0/16", By: "local"}, {To: "pl-63a5400a", By: "vpce-1"}, {To: platform.AnyAddress, By: gateway},
		}}
	}
	return platform.VPC{
		ID: existing, CIDRs: []string{"10.0.0.0/16"}, DNSSupport: true, DNSHostnames: true, DNSServers: []string{platform.AmazonDNS},
		Subnets: map[string]platform.VPCSubnet{
			private: subnet("10.0.0.0/24", "nat-1"), other: subnet("10.0.1.0/24", "tgw-1"), public: subnet("10.0.2.0/24", "igw-1"),
		},
	}
}

// edited changes the default route of a subnet; nil removes it.
func edited(v *platform.VPC, id string, out ...platform.VPCRoute) {
	s := v.Subnets[id]
	s.Routes = append(slices.Clone(s.Routes[:2]), out...)
	v.Subnets[id] = s
}

func TestExistingVPC(t *testing.T) {
	route := func(to, by string) platform.VPCRoute { return platform.VPCRoute{To: to, By: by} }
	clusters := schema.NetworkUse{Clusters: true}
	copies := schema.NetworkUse{Clusters: true, Copies: true, Tunnel: true}
	for name, c := range map[string]struct {
		change  func(*platform.VPC, *schema.Network)
		use     schema.NetworkUse
		refused []string // paths, each with a part of its text
		warned  []string
	}{
		"as it must be": {use: clusters},
		"no DNS hostnames": {change: func(v *platform.VPC, _ *schema.Network) { v.DNSHostnames = false }, use: clusters,
			refused: []string{"network.vpcId", "--enable-dns-hostnames"}},
		"no DNS hostnames, no cluster": {change: func(v *platform.VPC, _ *schema.Network) { v.DNSHostnames = false }},
		"no DNS": {change: func(v *platform.VPC, _ *schema.Network) { v.DNSSupport = false },
			refused: []string{"network.vpcId", "--enable-dns-support"}},
		"a range of K3s": {change: func(v *platform.VPC, _ *schema.Network) { v.CIDRs = append(v.CIDRs, "10.43.0.0/20") },
			warned: []string{"network.vpcId", "has the range 10.43.0.0/20, which overlaps 10.43.0.0/16"}},
		"a subnet in a range of K3s": {change: func(v *platform.VPC, _ *schema.Network) {
			s := v.Subnets[other]
			s.CIDR = "10.42.1.0/24"
			v.Subnets[other] = s
		}, refused: []string{"network.subnetIds[1]", "must not overlap 10.42.0.0/16"}},
		"own DNS servers": {change: func(v *platform.VPC, _ *schema.Network) { v.DNSServers = []string{"10.7.0.1", "10.7.0.2"} },
			refused: []string{"network.dnsServers", `set it to ["10.7.0.1","10.7.0.2"]`}},
		"own DNS servers, named": {change: func(v *platform.VPC, n *schema.Network) {
			v.DNSServers, n.DNSServers = []string{"10.7.0.1"}, []string{"10.7.0.1"}
		}},
		"own DNS servers, one named": {change: func(v *platform.VPC, n *schema.Network) {
			v.DNSServers, n.DNSServers = []string{"10.7.0.1", "10.7.0.2"}, []string{"10.7.0.1"}
		}, warned: []string{"network.dnsServers", "otherwise: 10.7.0.2", `["10.7.0.1","10.7.0.2"]`}},
		"Amazon's DNS servers by address": {change: func(v *platform.VPC, _ *schema.Network) {
			v.DNSServers = []string{"10.0.0.2", "169.254.169.253"}
		}},
		"a private subnet that is public": {change: func(v *platform.VPC, _ *schema.Network) { edited(v, other, route("0.0.0.0/0", "igw-1")) },
			refused: []string{"network.subnetIds[1]", "must be private", "igw-1"}},
		"a NAT gateway that is gone": {change: func(v *platform.VPC, _ *schema.Network) {
			edited(v, other, platform.VPCRoute{To: "0.0.0.0/0", By: "nat-1", Blackhole: true})
		}, refused: []string{"network.subnetIds[1]", "nat-1 is gone"}},
		"a peering": {change: func(v *platform.VPC, _ *schema.Network) { edited(v, private, route("0.0.0.0/0", "pcx-1")) },
			warned: []string{"network.subnetIds[0]", "VPC peering pcx-1"}},
		"no way out for the control node": {change: func(v *platform.VPC, _ *schema.Network) { edited(v, private) },
			refused: []string{"network.subnetIds[0]", "K3s, container images and Grafana's plugin", "controlNode.k3sUrl"}},
		"some way out for the control node": {change: func(v *platform.VPC, _ *schema.Network) {
			edited(v, private, route("52.0.0.0/8", "tgw-1"))
		}, warned: []string{"network.subnetIds[0]", "s3, ssm, elasticmapreduce, monitoring"}},
		"a closed network": {change: func(v *platform.VPC, _ *schema.Network) { edited(v, private) }, use: copies,
			warned: []string{"network.subnetIds[0]", "s3, ssm, ssmmessages, kms, elasticmapreduce, monitoring", "doctor --aws"}},
		"a closed network without endpoints": {change: func(v *platform.VPC, _ *schema.Network) {
			edited(v, private)
			v.Endpoints = []string{"s3", "kms", "monitoring"}
		}, use: copies, refused: []string{"network.subnetIds[0]", "of them: ssm, ssmmessages"},
			warned: []string{"network.subnetIds[0]", "is reported: elasticmapreduce"}},
		"a closed network with endpoints": {change: func(v *platform.VPC, _ *schema.Network) {
			edited(v, private)
			v.Endpoints = []string{"s3", "ssm", "ssmmessages", "kms", "elasticmapreduce", "monitoring"}
		}, use: copies},
		"a closed network without STS": {change: func(v *platform.VPC, _ *schema.Network) {
			edited(v, private)
			v.Endpoints = []string{"s3", "ssm", "ssmmessages", "kms", "elasticmapreduce", "monitoring"}
		}, use: schema.NetworkUse{Clusters: true, Copies: true, Tools: true, Lost: true},
			warned: []string{"network.subnetIds[0]", "is reported: sts, sqs"}},
		"nodes without a way out": {change: func(v *platform.VPC, _ *schema.Network) { edited(v, other) }, use: clusters,
			warned: []string{"network.subnetIds[1]", "lead to s3, kms"}},
		"a public control node": {change: func(v *platform.VPC, n *schema.Network) {
			n.PublicSubnetID = public
			edited(v, private)
		}, warned: []string{"network.subnetIds[0]", "lead to s3;"}},
		"a public control node behind NAT": {change: func(v *platform.VPC, n *schema.Network) {
			n.PublicSubnetID = public
			edited(v, public, route("0.0.0.0/0", "nat-1"))
		}, refused: []string{"network.publicSubnetId", "must have a route of 0.0.0.0/0 to an internet gateway"}},
		"a subnet of another VPC": {change: func(v *platform.VPC, _ *schema.Network) {
			v.Subnets[other] = platform.VPCSubnet{VPC: "vpc-0123abce"}
		}, refused: []string{"network.subnetIds[1]", "it is in vpc-0123abce"}},
	} {
		t.Run(name, func(t *testing.T) {
			v, n := existingVPC(), schema.Network{VPCID: existing, SubnetIDs: []string{private, other}}
			if c.change != nil {
				c.change(&v, &n)
			}
			var l violation.List
			n.CheckExistingVPC(&l, "network", v, c.use)
			requireOne(t, violation.All(l.Err()), c.refused)
			requireOne(t, l.Warnings(), c.warned)
		})
	}
}

// requireOne requires one violation of a path whose text has some parts; none if want is
// empty.
func requireOne(t *testing.T, found []violation.Violation, want []string) {
	t.Helper()
	if len(want) == 0 {
		require.Empty(t, found)
		return
	}
	require.Len(t, found, 1)
	require.Equal(t, want[0], found[0].Path)
	for _, part := range want[1:] {
		require.Contains(t, found[0].Error(), part)
	}
}
