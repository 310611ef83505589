package network_test

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/components/network"
	"github.com/emr-observatory/emr-observatory/internal/recorder"
)

// What schema judges is what AWS's functions answer, in a preview too; the rules are
// tested there.
func TestExistingVPCThatDoesNotFitIsRefused(t *testing.T) {
	vpc := func(set string, value any) recorder.Option {
		answer := map[string]any{"enableDnsSupport": true, "enableDnsHostnames": true, "dhcpOptionsId": "dopt-1"}
		answer[set] = value
		return recorder.WithInvoke("aws:ec2/getVpc:getVpc", answer)
	}
	subnet := func(set, value string) recorder.Option {
		return recorder.WithFunction("aws:ec2/getSubnet:getSubnet", func(args resource.PropertyMap) resource.PropertyMap {
			answer := existingSubnet(args)
			answer[resource.PropertyKey(set)] = resource.NewStringProperty(value)
			return answer
		})
	}
	routes := func(gateway string) recorder.Option {
		return recorder.WithInvoke("aws:ec2/getRouteTable:getRouteTable", routesTo(gateway))
	}
	const public = `network.publicSubnetId: "subnet-0123456789abcdefa" must `
	const private = `network.subnetIds[1]: "subnet-0123456789abcdef1" must `
	for name, c := range map[string]struct {
		args   *network.Args
		answer recorder.Option
		want   string // "": it is accepted
	}{
		"no DNS":           {existingVPCArgs(), vpc("enableDnsSupport", false), "enableDnsSupport is false"},
		"no DNS hostnames": {existingVPCArgs(), vpc("enableDnsHostnames", false), "enableDnsHostnames is false"},
		"own DNS servers": {existingVPCArgs(), recorder.WithInvoke("aws:ec2/getVpcDhcpOptions:getVpcDhcpOptions",
			map[string]any{"domainNameServers": []any{"10.9.9.9"}}), `network.dnsServers: null must have the DNS servers`},
		"no option set": {existingVPCArgs(), vpc("dhcpOptionsId", "default"), ""},
		"hidden option set": {existingVPCArgs(), recorder.WithFunction("aws:ec2/getVpcDhcpOptions:getVpcDhcpOptions",
			func(resource.PropertyMap) resource.PropertyMap { return nil }), ""},
		"private to internet": {existingVPCArgs(), routes("igw-0123456789abcdef0"),
			private + "be private: its route table rtb-0123456789abcdef0 leads"},
		"private of others": {existingVPCArgs(), subnet("vpcId", "vpc-0123456789abcdef9"), private + "be a subnet of network.vpcId"},
		"inner range":       {existingVPCArgs(), subnet("cidrBlock", "10.42.7.0/24"), private + "not overlap 10.42.0.0/16"},
		"no route": {existingVPCArgs(), recorder.WithInvoke("aws:ec2/getRouteTable:getRouteTable", map[string]any{"routes": []any{}}),
			`network.subnetIds[0]: "subnet-0123456789abcdef0" must have a route out of the VPC`},
		"public to a NAT gateway": {publicInExistingVPC(), routes("nat-0123456789abcdef0"),
			public + "have a route of 0.0.0.0/0 to an internet gateway; its route table rtb-0123456789abcdef0 has none"},
		"public to a virtual private gateway": {publicInExistingVPC(), routes("vgw-0123456789abcdef0"), public + "have a route"},
		"public of another VPC": {publicInExistingVPC(), subnet("vpcId", "vpc-0123456789abcdef9"),
			public + "be a subnet of network.vpcId, vpc-0123456789abcdef0; it is in vpc-0123456789abcdef9"},
		"as it must be": {publicInExistingVPC(), vpc("enableDnsSupport", true), ""},
	} {
		for mode, options := range map[string][]recorder.Option{"up": nil, "preview": {recorder.WithPreview()}} {
			t.Run(name+" "+mode, func(t *testing.T) {
				_, err := recorder.Run(program(c.args), append(append(answers(nil), c.answer), options...)...)
				if c.want == "" {
					require.NoError(t, err)
					return
				}
				require.ErrorContains(t, err, c.want)
			})
		}
	}
}

// A subnet without a route table of its own has the VPC's main one, which the provider
// does not find by the subnet.
func TestSubnetMayHaveTheMainRouteTable(t *testing.T) {
	var asked []resource.PropertyMap
	main := recorder.WithFunction("aws:ec2/getRouteTable:getRouteTable", func(args resource.PropertyMap) resource.PropertyMap {
		asked = append(asked, args)
		if args.HasValue("subnetId") {
			return nil
		}
		return resource.NewPropertyMapFromMap(routesTo("nat-0123456789abcdef0"))
	})
	_, err := recorder.Run(program(existingVPCArgs()), append(answers(nil), main)...)
	require.NoError(t, err)
	require.Len(t, asked, 4)
	require.Equal(t, "vpc-0123456789abcdef0", asked[1]["vpcId"].StringValue())
}
