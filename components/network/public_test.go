package network_test

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/recorder"
)

// Nobody reaches an Elastic IP in a subnet that no internet gateway leads to.
func TestPublicSubnetLeadsToTheInternet(t *testing.T) {
	const at = `network.publicSubnetId: "subnet-0123456789abcdefa" must `
	inVPC := func(vpc string) recorder.Option {
		return recorder.WithInvoke("aws:ec2/getSubnet:getSubnet", map[string]any{"availabilityZone": "us-east-1c", "vpcId": vpc})
	}
	for name, c := range map[string]struct {
		answer recorder.Option
		want   string // "": it is accepted
	}{
		"to a NAT gateway": {recorder.WithInvoke("aws:ec2/getRouteTable:getRouteTable", routesTo("")),
			at + "have a route of 0.0.0.0/0 to an internet gateway; its route table rtb-0123456789abcdef0 has none"},
		"to a virtual private gateway": {recorder.WithInvoke("aws:ec2/getRouteTable:getRouteTable", routesTo("vgw-0123456789abcdef0")),
			at + "have a route"},
		"of another VPC": {inVPC("vpc-0123456789abcdef9"),
			at + "be a subnet of network.vpcId, vpc-0123456789abcdef0; it is in vpc-0123456789abcdef9"},
		"to the internet": {inVPC("vpc-0123456789abcdef0"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := recorder.Run(program(publicInExistingVPC()), append(answers(nil), c.answer)...)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
		})
	}
}

// A subnet without a route table of its own has the VPC's main one, which the provider
// does not find by the subnet.
func TestPublicSubnetMayHaveTheMainRouteTable(t *testing.T) {
	var asked []resource.PropertyMap
	main := recorder.WithFunction("aws:ec2/getRouteTable:getRouteTable", func(args resource.PropertyMap) resource.PropertyMap {
		asked = append(asked, args)
		if args.HasValue("subnetId") {
			return nil
		}
		return resource.NewPropertyMapFromMap(routesTo("igw-0123456789abcdef0"))
	})
	_, err := recorder.Run(program(publicInExistingVPC()), append(answers(nil), main)...)
	require.NoError(t, err)
	require.Len(t, asked, 2)
	require.Equal(t, "vpc-0123456789abcdef0", asked[1]["vpcId"].StringValue())
}
