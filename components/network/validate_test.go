package network_test

import (
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/components/network"
	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/schema"
)

func TestValidate(t *testing.T) {
	require.NoError(t, validArgs().Validate())
	require.NoError(t, existingVPCArgs().Validate(), "NAT is not used with an existing VPC")
	for _, c := range []struct {
		name string
		base func() *network.Args
		edit func(*network.Args)
		want string // path and value
	}{
		{"no region", validArgs, func(a *network.Args) { a.Region = "" }, `network.region: ""`},
		{"zone as region", validArgs, func(a *network.Args) { a.Region = "us-east-1a" }, `network.region: "us-east-1a"`},
		{"no machines", validArgs, func(a *network.Args) { a.InstanceTypes = nil }, `network.instanceTypes: null`},
		{"no range", validArgs, func(a *network.Args) { a.CIDR = "" }, `network.cidr: ""`},
		{"public range", validArgs, func(a *network.Args) { a.CIDR = "8.8.0.0/16" }, `network.cidr: "8.8.0.0/16"`},
		{"too wide", validArgs, func(a *network.Args) { a.CIDR = "10.0.0.0/15" }, `network.cidr`},
		{"too narrow", validArgs, func(a *network.Args) { a.CIDR = "10.0.0.0/25" }, `network.cidr`},
		{"host bits", validArgs, func(a *network.Args) { a.CIDR = "10.0.0.1/16" }, `network.cidr`},
		{"IPv6 range", validArgs, func(a *network.Args) { a.CIDR = "fd00::/16" }, `network.cidr`},
		{"pods' range", validArgs, func(a *network.Args) { a.CIDR = "10.42.0.0/16" }, `must not overlap 10.42.0.0/16`},
		{"services' range", validArgs, func(a *network.Args) { a.CIDR = "10.43.128.0/17" }, `must not overlap 10.43.0.0/16`},
		{"one zone", validArgs, func(a *network.Args) { a.AvailabilityZones = []string{"us-east-1a"} },
			`network.availabilityZones: ["us-east-1a"]`},
		{"same zone", validArgs, func(a *network.Args) { a.AvailabilityZones = []string{"us-east-1a", "us-east-1a"} },
			`network.availabilityZones[1]`},
		{"foreign zone", validArgs, func(a *network.Args) { a.AvailabilityZones = []string{"us-east-1a", "us-west-2a"} },
			`network.availabilityZones[1]: "us-west-2a"`},
		{"the world", validArgs, func(a *network.Args) { a.OperatorCIDRs = []string{"0.0.0.0/0"} },
			`network.operatorCidrs[0]: "0.0.0.0/0" must be a network`},
		{"the world in IPv6", validArgs, func(a *network.Args) { a.OperatorCIDRs = []string{"::/0"} },
			`network.operatorCidrs[0]: "::/0" must be a network`},
		{"half the world", validArgs, func(a *network.Args) { a.OperatorCIDRs = []string{"0.0.0.0/1", "128.0.0.0/1"} },
			`network.operatorCidrs[1]: "128.0.0.0/1" must be a network`},
		{"address for network", validArgs, func(a *network.Args) { a.OperatorCIDRs = []string{"203.0.113.7"} }, `network.operatorCidrs[0]`},
		{"operator's host bits", validArgs, func(a *network.Args) { a.OperatorCIDRs = []string{"203.0.113.7/24"} }, `network.operatorCidrs[0]`},
		{"duplicate operator", validArgs, func(a *network.Args) { a.OperatorCIDRs = []string{"203.0.113.0/24", "203.0.113.0/24"} },
			`network.operatorCidrs[1]`},
		{"full service name", validArgs, func(a *network.Args) { a.InterfaceEndpoints = []string{"com.amazonaws.us-east-1.ssm"} },
			`network.interfaceEndpoints[0]`},
		{"S3 as interface", validArgs, func(a *network.Args) { a.InterfaceEndpoints = []string{"s3"} }, `network.interfaceEndpoints[0]: "s3"`},
		{"duplicate service", validArgs, func(a *network.Args) { a.InterfaceEndpoints = []string{"ssm", "ssm"} },
			`network.interfaceEndpoints[1]`},
		{"no route to the internet", validArgs, func(a *network.Args) { a.NAT = false; a.InterfaceEndpoints = []string{"kms", "ssm"} },
			`network.nat: false must be true`},
		{"subnets without VPC", validArgs, func(a *network.Args) { a.SubnetIDs = []string{"subnet-01234567"} }, `network.subnetIds`},
		{"malformed VPC", existingVPCArgs, func(a *network.Args) { a.VPCID = "vpc-1" }, `network.vpcId: "vpc-1"`},
		{"VPC without subnets", existingVPCArgs, func(a *network.Args) { a.SubnetIDs = nil }, `network.subnetIds`},
		{"malformed subnet", existingVPCArgs, func(a *network.Args) { a.SubnetIDs[1] = "subnet-x" }, `network.subnetIds[1]: "subnet-x"`},
		{"duplicate subnet", existingVPCArgs, func(a *network.Args) { a.SubnetIDs[1] = a.SubnetIDs[0] }, `network.subnetIds[1]`},
		{"zones of a foreign VPC", existingVPCArgs, func(a *network.Args) { a.AvailabilityZones = []string{"us-east-1a", "us-east-1b"} },
			`network.availabilityZones`},
		{"endpoints in a foreign VPC", existingVPCArgs, func(a *network.Args) { a.InterfaceEndpoints = []string{"ssm"} },
			`network.interfaceEndpoints`},
		{"public control node without its subnet", existingVPCArgs, func(a *network.Args) { a.PublicControl = true },
			`network.publicSubnetId: ""`},
		{"flow logs of a foreign VPC", existingVPCArgs, func(a *network.Args) { a.FlowLogBucketARN = pulumi.String("arn:aws:s3:::x") },
			`network.flowLogBucketArn`},
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

func TestInvalidArgsRegisterNothing(t *testing.T) {
	a := &network.Args{
		Region: "moon", OperatorCIDRs: []string{"0.0.0.0/0"},
		Network: schema.Network{CIDR: "10.0.0.0/8", InterfaceEndpoints: []string{"s3"}},
	}
	err := a.Validate()
	for _, path := range []string{"network.region", "network.cidr", "network.operatorCidrs[0]", "network.interfaceEndpoints[0]",
		"network.nat"} {
		require.ErrorContains(t, err, path)
	}
	rec, err := recorder.Run(program(a))
	require.Error(t, err)
	require.Equal(t, []string{"pulumi:providers:aws main"}, rec.List())
	require.Error(t, (*network.Args)(nil).Validate())
}

// The subnets of any valid range are inside it and do not overlap.
func TestSubnetsFitInAnyRange(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		bits := 16 + random.IntN(9)
		base := netip.AddrFrom4([4]byte{172, byte(16 + random.IntN(16)), byte(random.IntN(256)), 0})
		cidr := netip.PrefixFrom(base, bits).Masked()
		a := validArgs()
		a.CIDR = cidr.String()
		var subnets []netip.Prefix
		for _, r := range run(t, a).OfType(subnetType) {
			p, err := netip.ParsePrefix(r.Inputs["cidrBlock"].StringValue())
			require.NoError(t, err)
			require.True(t, cidr.Contains(p.Addr()), "%s in %s", p, cidr)
			require.Equal(t, p, p.Masked())
			require.LessOrEqual(t, p.Bits(), 28, "AWS's smallest subnet")
			for _, other := range subnets {
				require.False(t, p.Overlaps(other), "%s and %s of %s", p, other, cidr)
			}
			subnets = append(subnets, p)
		}
		require.Len(t, subnets, 3)
	}
}
