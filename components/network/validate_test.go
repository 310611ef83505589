package network_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/components/network"
	"github.com/emr-observatory/emr-observatory/internal/recorder"
)

func TestValidate(t *testing.T) {
	require.NoError(t, valid().Validate())
	require.NoError(t, existing().Validate())
	for _, c := range []struct {
		name string
		base func() *network.Args
		edit func(*network.Args)
		want string // path and value
	}{
		{"no region", valid, func(a *network.Args) { a.Region = "" }, `network.region: ""`},
		{"zone as region", valid, func(a *network.Args) { a.Region = "us-east-1a" }, `network.region: "us-east-1a"`},
		{"no range", valid, func(a *network.Args) { a.CIDR = "" }, `network.cidr: ""`},
		{"public range", valid, func(a *network.Args) { a.CIDR = "8.8.0.0/16" }, `network.cidr: "8.8.0.0/16"`},
		{"too wide", valid, func(a *network.Args) { a.CIDR = "10.0.0.0/15" }, `network.cidr`},
		{"too narrow", valid, func(a *network.Args) { a.CIDR = "10.0.0.0/25" }, `network.cidr`},
		{"host bits", valid, func(a *network.Args) { a.CIDR = "10.0.0.1/16" }, `network.cidr`},
		{"IPv6 range", valid, func(a *network.Args) { a.CIDR = "fd00::/16" }, `network.cidr`},
		{"pods' range", valid, func(a *network.Args) { a.CIDR = "10.42.0.0/16" }, `must not overlap 10.42.0.0/16`},
		{"services' range", valid, func(a *network.Args) { a.CIDR = "10.43.128.0/17" }, `must not overlap 10.43.0.0/16`},
		{"one zone", valid, func(a *network.Args) { a.AvailabilityZones = []string{"us-east-1a"} }, `network.availabilityZones: ["us-east-1a"]`},
		{"same zone", valid, func(a *network.Args) { a.AvailabilityZones = []string{"us-east-1a", "us-east-1a"} }, `network.availabilityZones[1]`},
		{"foreign zone", valid, func(a *network.Args) { a.AvailabilityZones = []string{"us-east-1a", "us-west-2a"} }, `network.availabilityZones[1]: "us-west-2a"`},
		{"the world", valid, func(a *network.Args) { a.OperatorCIDRs = []string{"0.0.0.0/0"} }, `network.operatorCidrs[0]: "0.0.0.0/0" must not open`},
		{"the world in IPv6", valid, func(a *network.Args) { a.OperatorCIDRs = []string{"::/0"} }, `network.operatorCidrs[0]: "::/0" must not open`},
		{"half the world", valid, func(a *network.Args) { a.OperatorCIDRs = []string{"0.0.0.0/1", "128.0.0.0/1"} }, `network.operatorCidrs[1]: "128.0.0.0/1" must not open`},
		{"address for network", valid, func(a *network.Args) { a.OperatorCIDRs = []string{"203.0.113.7"} }, `network.operatorCidrs[0]`},
		{"operator's host bits", valid, func(a *network.Args) { a.OperatorCIDRs = []string{"203.0.113.7/24"} }, `network.operatorCidrs[0]`},
		{"operator twice", valid, func(a *network.Args) { a.OperatorCIDRs = []string{"203.0.113.0/24", "203.0.113.0/24"} }, `network.operatorCidrs[1]`},
		{"full service name", valid, func(a *network.Args) { a.InterfaceEndpoints = []string{"com.amazonaws.us-east-1.ssm"} }, `network.interfaceEndpoints[0]`},
		{"S3 as interface", valid, func(a *network.Args) { a.InterfaceEndpoints = []string{"s3"} }, `network.interfaceEndpoints[0]: "s3"`},
		{"service twice", valid, func(a *network.Args) { a.InterfaceEndpoints = []string{"ssm", "ssm"} }, `network.interfaceEndpoints[1]`},
		{"no way to KMS", valid, func(a *network.Args) { a.NAT = false; a.InterfaceEndpoints = []string{"ssm"} }, `must hold kms without NAT`},
		{"subnets without VPC", valid, func(a *network.Args) { a.ExistingSubnetIDs = []string{"subnet-01234567"} }, `network.existingSubnetIds`},
		{"malformed VPC", existing, func(a *network.Args) { a.ExistingVPCID = "vpc-1" }, `network.existingVpcId: "vpc-1"`},
		{"VPC without subnets", existing, func(a *network.Args) { a.ExistingSubnetIDs = nil }, `network.existingSubnetIds`},
		{"malformed subnet", existing, func(a *network.Args) { a.ExistingSubnetIDs[1] = "subnet-x" }, `network.existingSubnetIds[1]: "subnet-x"`},
		{"subnet twice", existing, func(a *network.Args) { a.ExistingSubnetIDs[1] = a.ExistingSubnetIDs[0] }, `network.existingSubnetIds[1]`},
		{"zones of a foreign VPC", existing, func(a *network.Args) { a.AvailabilityZones = []string{"us-east-1a", "us-east-1b"} }, `network.availabilityZones`},
		{"endpoints in a foreign VPC", existing, func(a *network.Args) { a.InterfaceEndpoints = []string{"ssm"} }, `network.interfaceEndpoints`},
		{"flow logs of a foreign VPC", existing, func(a *network.Args) { a.FlowLogBucketARN = pulumi.String("arn:aws:s3:::x") }, `network.flowLogBucketArn`},
		{"the platform's tag", valid, func(a *network.Args) { a.Tags = map[string]string{"Name": "x"} }, `network.tags.Name`},
		{"AWS's tag", valid, func(a *network.Args) { a.Tags = map[string]string{"aws:x": "y"} }, `network.tags.aws:x`},
		{"long tag", valid, func(a *network.Args) { a.Tags = map[string]string{"x": strings.Repeat("y", 257)} }, `network.tags.x`},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := c.base()
			c.edit(a)
			err := a.Validate()
			require.ErrorContains(t, err, c.want)
			_, err = recorder.Run(program(a))
			require.ErrorContains(t, err, c.want, "New refuses what Validate refuses")
		})
	}
}

func TestValidateTellsAllFaultsAtOnceAndNothingIsRegistered(t *testing.T) {
	a := &network.Args{Region: "moon", CIDR: "10.0.0.0/8", OperatorCIDRs: []string{"0.0.0.0/0"}, InterfaceEndpoints: []string{"s3"}}
	err := a.Validate()
	for _, path := range []string{"network.region", "network.cidr", "network.operatorCidrs[0]", "network.interfaceEndpoints[0]", "must hold kms", "must hold ssm"} {
		require.ErrorContains(t, err, path)
	}
	rec, err := recorder.Run(program(a))
	require.Error(t, err)
	require.Equal(t, []string{"pulumi:providers:aws main"}, rec.List())
	require.Error(t, (*network.Args)(nil).Validate())
}

// Any valid range gives subnets that lie inside it and apart from each other.
func TestSubnetsFitInAnyRange(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		bits := 16 + random.IntN(9)
		base := netip.AddrFrom4([4]byte{172, byte(16 + random.IntN(16)), byte(random.IntN(256)), 0})
		cidr := netip.PrefixFrom(base, bits).Masked()
		a := valid()
		a.CIDR = cidr.String()
		var subnets []netip.Prefix
		for _, r := range run(t, a).OfType(subnetType) {
			p, err := netip.ParsePrefix(r.Inputs["cidrBlock"].StringValue())
			require.NoError(t, err)
			require.True(t, cidr.Contains(p.Addr()), "%s in %s", p, cidr)
			require.Equal(t, p, p.Masked())
			require.LessOrEqual(t, p.Bits(), 28, "AWS's smallest subnet")
			for _, other := range subnets {
				require.False(t, p.Overlaps(other), fmt.Sprintf("%s and %s of %s", p, other, cidr))
			}
			subnets = append(subnets, p)
		}
		require.Len(t, subnets, 3)
	}
}
