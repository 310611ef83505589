package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/stacks/config"
	"github.com/emr-observatory/emr-observatory/toolchain/doctor"
)

// The rules of a preview judge what the doctor finds: what is refused there fails here,
// and a warning passes with all its parts.
func TestExistingNetworkIsJudgedAsInAPreview(t *testing.T) {
	_, cfg, err := config.ReadStackFile("../..", "pr")
	require.NoError(t, err)
	n := needsOf(cfg).Network
	require.Equal(t, cfg.Network.SubnetIDs, n.Subnets)
	v := platform.VPC{ID: n.VPC, DNSSupport: true, DNSHostnames: true, CIDRs: []string{"10.42.0.0/16"}}
	v.Subnets = map[string]platform.VPCSubnet{}
	for _, id := range n.Subnets {
		v.Subnets[id] = platform.VPCSubnet{VPC: n.VPC, CIDR: "10.0.0.0/24", Routes: []platform.VPCRoute{{To: platform.AnyAddress, By: "nat-1"}}}
	}
	checks := n.Judge(v)
	require.Len(t, checks, 1)
	require.True(t, checks[0].OK)
	require.Contains(t, checks[0].Found, "keep DNS servers")
	v.CIDRs, v.DNSHostnames = nil, false
	checks = n.Judge(v)
	require.Len(t, checks, 1)
	require.False(t, checks[0].OK)
	require.Contains(t, checks[0].Remedy, "--enable-dns-hostnames")
}

// The needs of stack dev are those of the resources that it registers.
func TestNeedsAreThoseOfTheStacksResources(t *testing.T) {
	_, cfg, err := config.ReadStackFile("../..", "dev")
	require.NoError(t, err)
	n := needsOf(cfg)
	golden, err := os.ReadFile("../../stacks/testdata/dev.resources.golden")
	require.NoError(t, err)
	registered := func(token string) int { return strings.Count(string(golden), token) }
	require.Positive(t, registered("aws:emr/cluster:Cluster"), "tokens are written in full")
	require.Equal(t, registered("aws:ec2/eip:Eip"), n.Addresses)
	require.Equal(t, registered("aws:ec2/vpc:Vpc"), n.VPCs)
	const kind = "m5.xlarge"
	require.Equal(t, []doctor.Instances{{Type: kind, Count: 1}, {Type: kind, Count: 1}, {Type: kind, Count: 2}}, n.Instances)

	cfg.Network.VPCID = "vpc-1"
	require.Zero(t, needsOf(cfg).VPCs)
	require.Equal(t, 1, needsOf(cfg).Addresses, "the control node's")
	cfg.ControlNode.Access = schema.AccessVPC
	require.Zero(t, needsOf(cfg).Addresses)
	cluster := cfg.Clusters["main"]
	cluster.Core.BidPrice = "0.1"
	cfg.Clusters = map[string]schema.Cluster{"main": cluster}
	require.True(t, needsOf(cfg).Instances[2].Spot)

	cluster.Core.AutoScaling = &schema.AutoScaling{Min: 1, Max: 7}
	cfg.Clusters = map[string]schema.Cluster{"main": cluster}
	require.Equal(t, 7, needsOf(cfg).Instances[2].Count, "nodes that rules may add")
	cluster.Core.AutoScaling, cluster.ManagedScaling = nil, &schema.ManagedScaling{Unit: schema.UnitInstances, Min: 1, Max: 9}
	cfg.Clusters = map[string]schema.Cluster{"main": cluster}
	require.Equal(t, []doctor.Instances{{Type: kind, Count: 2, Spot: true}, {Type: kind, Count: 7, Spot: true}}, needsOf(cfg).Instances[2:])
	cluster.Tasks = map[string]schema.InstanceGroup{"more": {InstanceType: "m5.8xlarge", Count: 1}}
	cluster.ManagedScaling = &schema.ManagedScaling{Unit: schema.UnitVCPU, Min: 8, Max: 100}
	cfg.Clusters = map[string]schema.Cluster{"main": cluster}
	require.Equal(t, []doctor.Instances{{Type: "m5.8xlarge", Count: 1}, {Type: "m5.8xlarge", Count: 2}}, needsOf(cfg).Instances[3:],
		"100 vCPUs less 2 of 4 and one of 32")
	cluster.ManagedScaling, cluster.Tasks = nil, nil

	cluster.Fleets = &schema.Fleets{
		Master: schema.Fleet{OnDemand: 1, Types: []schema.FleetType{{InstanceType: kind, Weight: 1}}},
		Core: &schema.Fleet{OnDemand: 4, Spot: 3, Types: []schema.FleetType{{InstanceType: "m5.2xlarge", Weight: 2},
			{InstanceType: "r5.2xlarge", Weight: 2}}},
	}
	cfg.Clusters = map[string]schema.Cluster{"main": cluster}
	require.Equal(t, []doctor.Instances{
		{Type: kind, Count: 1}, {Type: kind, Count: 1}, {Type: "m5.2xlarge", Count: 2}, {Type: "m5.2xlarge", Count: 2, Spot: true},
	}, needsOf(cfg).Instances)
	cluster.ManagedScaling = &schema.ManagedScaling{Unit: schema.UnitFleetUnits, Min: 1, Max: 12}
	cfg.Clusters = map[string]schema.Cluster{"main": cluster}
	require.Equal(t, doctor.Instances{Type: "m5.2xlarge", Count: 2, Spot: true}, needsOf(cfg).Instances[4], "12 units less twice 2 of 2")
	cfg.Clusters = nil
	require.False(t, needsOf(cfg).Clusters)
	require.Equal(t, []int{8, 36, 0}, []int{vcpusOf("c1.xlarge"), vcpusOf("c4.8xlarge"), vcpusOf("x.unknown")})
}
