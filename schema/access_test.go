package schema_test

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// reachable are configurations whose control node is reached in each way.
func reachable(access string) schema.Config {
	c := validConfig()
	c.ControlNode.Access = access
	switch access {
	case schema.AccessPublic:
		c.OperatorCIDRs = []string{"52.94.76.9/32"}
	case schema.AccessVPC:
		c.OperatorCIDRs = []string{"10.0.0.0/16"}
	case schema.AccessTunnel:
		c.ControlNode.APIURL, c.Grafana.URL = "https://127.0.0.1:6443", "https://localhost:3000"
	}
	return c
}

// check returns the paths of all violations, of those beyond a rehearsal too.
func check(c schema.Config) []string {
	var l violation.List
	c.Check(&l)
	c.CheckOperatorsExist(&l)
	var paths []string
	for _, v := range violation.All(l.Err()) {
		paths = append(paths, v.Path)
	}
	slices.Sort(paths)
	return paths
}

func TestEveryAccessIsValidWithWhatItNeeds(t *testing.T) {
	access, _ := schema.RuleNamed("access")
	require.Len(t, access.Values, 3)
	for _, a := range access.Values {
		require.Empty(t, check(reachable(a)), a)
	}
	c := reachable(schema.AccessPublic)
	c.Network.VPCID, c.Network.SubnetIDs, c.Network.PublicSubnetID = "vpc-0123abcd", []string{"subnet-0123abcd"}, "subnet-0123abce"
	require.Empty(t, check(c))
	c = reachable(schema.AccessVPC)
	c.Grafana.URL = "https://grafana.example.org"
	require.Empty(t, check(c), "a proxy to Grafana alone")
}

// Each way refuses what it lacks and what belongs to another, all at once.
func TestWrongCombinationsOfAccessAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		access string
		edit   func(*schema.Config)
		want   []string
	}{
		"another way":      {schema.AccessVPC, func(c *schema.Config) { c.ControlNode.Access = "vpn" }, []string{"controlNode.access"}},
		"public to nobody": {schema.AccessPublic, func(c *schema.Config) { c.OperatorCIDRs = nil }, []string{"operatorCidrs"}},
		"public to everybody": {schema.AccessPublic, func(c *schema.Config) { c.OperatorCIDRs = []string{"0.0.0.0/0"} },
			[]string{"operatorCidrs[0]"}},
		"public to private networks": {schema.AccessPublic, func(c *schema.Config) {
			c.OperatorCIDRs = []string{"10.0.0.0/8", "192.168.1.0/24", "172.31.0.0/16", "100.64.0.0/16", "127.0.0.0/8", "172.0.0.0/8",
				"8.8.8.8/32", "2a00::/32"}
		}, []string{"operatorCidrs[0]", "operatorCidrs[1]", "operatorCidrs[2]", "operatorCidrs[3]", "operatorCidrs[4]", "operatorCidrs[5]",
			"operatorCidrs[7]"}},
		"public to the networks of examples": {schema.AccessPublic, func(c *schema.Config) {
			c.OperatorCIDRs = []string{"203.0.113.0/24", "192.0.2.1/32", "198.51.100.0/25", "203.0.112.0/23", "203.0.114.0/24"}
		}, []string{"operatorCidrs[0]", "operatorCidrs[1]", "operatorCidrs[2]", "operatorCidrs[3]"}},
		"public in a VPC without a public subnet": {schema.AccessPublic, func(c *schema.Config) {
			c.Network.VPCID, c.Network.SubnetIDs = "vpc-0123abcd", []string{"subnet-0123abcd"}
		}, []string{"network.publicSubnetId"}},
		"public in a private subnet": {schema.AccessPublic, func(c *schema.Config) {
			c.Network.VPCID, c.Network.SubnetIDs, c.Network.PublicSubnetID = "vpc-0123abcd", []string{"subnet-0123abcd"}, "subnet-0123abcd"
		}, []string{"network.publicSubnetId"}},
		"public subnet of no VPC": {schema.AccessPublic, func(c *schema.Config) { c.Network.PublicSubnetID = "subnet-0123abcd" },
			[]string{"network.publicSubnetId"}},
		"public with the tunnel's keys": {schema.AccessPublic, func(c *schema.Config) {
			c.ControlNode.APIURL, c.Grafana.URL = "https://127.0.0.1:6443", "https://127.0.0.1:3000"
		}, []string{"controlNode.apiUrl", "grafana.url"}},
		"public at a private subnet's address": {schema.AccessPublic, func(c *schema.Config) { c.ControlNode.PrivateIP = "10.0.0.20" },
			[]string{"controlNode.privateIp"}},
		"vpc to nobody": {schema.AccessVPC, func(c *schema.Config) { c.OperatorCIDRs = nil }, []string{"operatorCidrs"}},
		"vpc with a public subnet": {schema.AccessVPC, func(c *schema.Config) {
			c.Network.VPCID, c.Network.SubnetIDs, c.Network.PublicSubnetID = "vpc-0123abcd", []string{"subnet-0123abcd"}, "subnet-0123abce"
		}, []string{"network.publicSubnetId"}},
		"vpc with the tunnel's key": {schema.AccessVPC, func(c *schema.Config) { c.ControlNode.APIURL = "https://127.0.0.1:6443" },
			[]string{"controlNode.apiUrl"}},
		"vpc at the public subnet's address": {schema.AccessVPC, func(c *schema.Config) { c.ControlNode.PrivateIP = "10.0.128.20" },
			[]string{"controlNode.privateIp"}},
		"tunnel without ends": {schema.AccessTunnel, func(c *schema.Config) { c.ControlNode.APIURL, c.Grafana.URL = "", "" },
			[]string{"controlNode.apiUrl", "grafana.url"}},
		"tunnel that ends elsewhere": {schema.AccessTunnel, func(c *schema.Config) {
			c.ControlNode.APIURL, c.Grafana.URL = "https://bastion:6443", "http://127.0.0.1:3000"
		}, []string{"controlNode.apiUrl", "grafana.url"}},
		"tunnel without a port": {schema.AccessTunnel, func(c *schema.Config) { c.ControlNode.APIURL = "https://127.0.0.1" },
			[]string{"controlNode.apiUrl"}},
		"tunnel with one end for two": {schema.AccessTunnel, func(c *schema.Config) { c.Grafana.URL = "https://127.0.0.1:6443" },
			[]string{"grafana.url"}},
		"tunnel at the status page's port": {schema.AccessTunnel, func(c *schema.Config) { c.ControlNode.APIURL = "https://127.0.0.1:8080" },
			[]string{"controlNode.apiUrl"}},
		"tunnel at the tools' port": {schema.AccessTunnel, func(c *schema.Config) { c.ControlNode.APIURL = "https://127.0.0.1:8070" },
			[]string{"controlNode.apiUrl"}},
		"everything": {schema.AccessPublic, func(c *schema.Config) {
			c.OperatorCIDRs, c.ControlNode.APIURL, c.Grafana.URL = []string{"10.0.0.0/8", "203.0.113.0/24"}, "https://127.0.0.1:1", "https://x"
			c.Network.VPCID, c.Network.SubnetIDs = "vpc-0123abcd", []string{"subnet-0123abcd"}
		}, []string{"controlNode.apiUrl", "grafana.url", "network.publicSubnetId", "operatorCidrs[0]", "operatorCidrs[1]"}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := reachable(c.access)
			c.edit(&cfg)
			require.Equal(t, c.want, check(cfg))
		})
	}
}

func TestRemedyOfPublicAccessSaysHowToFindYourAddress(t *testing.T) {
	for _, cidrs := range [][]string{nil, {"10.0.0.0/8"}, {"203.0.113.0/24"}} {
		c := reachable(schema.AccessPublic)
		c.OperatorCIDRs = cidrs
		var l violation.List
		c.Check(&l)
		c.CheckOperatorsExist(&l)
		require.ErrorContains(t, l.Err(), "`curl https://checkip.amazonaws.com`")
	}
}

// Nobody is inside a VPC before the stack creates it.
func TestNewVPCCannotBeReachedFromInside(t *testing.T) {
	c := reachable(schema.AccessVPC)
	require.True(t, warned(c, "controlNode.access"))
	c.Network.VPCID, c.Network.SubnetIDs = "vpc-0123abcd", []string{"subnet-0123abcd"}
	require.False(t, warned(c, "controlNode.access"))
	require.False(t, warned(reachable(schema.AccessPublic), "controlNode.access"))
	require.False(t, warned(reachable(schema.AccessTunnel), "controlNode.access"))
}

// A VPN may route public addresses to a private one; the internet does not.
func TestWarnsOfPublicNetworksWithVPCAccess(t *testing.T) {
	c := reachable(schema.AccessVPC)
	c.OperatorCIDRs = []string{"10.1.0.0/16", "8.8.8.8/32", "fd00::/32"}
	require.False(t, warned(c, "operatorCidrs[0]"))
	require.True(t, warned(c, "operatorCidrs[1]"))
	require.False(t, warned(c, "operatorCidrs[2]"))
	c.ControlNode.Access = schema.AccessPublic
	require.False(t, warned(c, "operatorCidrs[1]"))
}

func warned(c schema.Config, path string) bool {
	var l violation.List
	c.CheckOperatorsExist(&l)
	return slices.ContainsFunc(l.Warnings(), func(v violation.Violation) bool { return v.Path == path })
}

// A rehearsal accepts the stack files as they are.
func TestRehearsalsAcceptNetworksOfExamples(t *testing.T) {
	c := reachable(schema.AccessPublic)
	c.OperatorCIDRs = []string{"203.0.113.0/24"}
	require.NoError(t, c.Validate())
}

// The subnets of any range are inside it and do not overlap.
func TestSubnetsAreApart(t *testing.T) {
	for _, vpc := range []string{"10.0.0.0/16", "172.31.16.0/20", "192.168.4.0/24"} {
		p := netip.MustParsePrefix(vpc)
		s := schema.SubnetsOf(p)
		all := append(s.Private[:], s.Public)
		for i, one := range all {
			require.True(t, p.Contains(one.Addr()) && one.Bits() > p.Bits(), "%s in %s", one, p)
			for _, other := range all[:i] {
				require.False(t, one.Overlaps(other), "%s and %s", one, other)
			}
		}
	}
}
