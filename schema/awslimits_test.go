package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// found returns the paths of violations and of warnings.
func found(c schema.Config) (refused, warned []string) {
	var l violation.List
	c.Check(&l)
	for _, v := range violation.All(l.Err()) {
		refused = append(refused, v.Path)
	}
	for _, v := range l.Warnings() {
		warned = append(warned, v.Path)
	}
	return refused, warned
}

// networks returns some networks of operators.
func networks(n int, format string) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf(format, i/250, i%250))
	}
	return out
}

// onLabels keeps application masters off spot nodes.
func onLabels() schema.Configuration {
	return schema.Configuration{Classification: "yarn-site", Properties: map[string]string{
		"yarn.node-labels.enabled": "true", "yarn.node-labels.am.default-node-label-expression": "ON_DEMAND",
	}}
}

func groupIDs(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("sg-0123ab%02d", i))
	}
	return out
}

// limitCase is an edit of a valid configuration with one cluster, and what it is refused
// or warned for.
type limitCase struct {
	name            string
	edit            func(*schema.Config, *schema.Cluster)
	refused, warned []string
}

func runLimitCases(t *testing.T, cases []limitCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cfg := validConfig()
			var cluster schema.Cluster
			cluster.SetDefaults()
			c.edit(&cfg, &cluster)
			cfg.Clusters["main"] = cluster
			refused, warned := found(cfg)
			require.Equal(t, c.refused, refused, "violations")
			require.Equal(t, c.warned, warned, "warnings")
		})
	}
}

func TestQuotasOfSecurityGroups(t *testing.T) {
	operators := func(list ...string) func(*schema.Config, *schema.Cluster) {
		return func(cfg *schema.Config, _ *schema.Cluster) { cfg.OperatorCIDRs = list }
	}
	const v4, v6 = "10.%d.%d.0/24", "2001:db8:%d:%d::/64"
	runLimitCases(t, []limitCase{
		{"groups that every account has", func(_ *schema.Config, e *schema.Cluster) { e.MasterSecurityGroups = groupIDs(3) }, nil, nil},
		{"more groups than most accounts have", func(_ *schema.Config, e *schema.Cluster) {
			e.MasterSecurityGroups, e.CoreSecurityGroups = groupIDs(4), groupIDs(6)
		}, nil, []string{"clusters.main.coreSecurityGroups", "clusters.main.masterSecurityGroups"}},
		{"more groups than EC2 has", func(_ *schema.Config, e *schema.Cluster) { e.CoreSecurityGroups = groupIDs(15) },
			[]string{"clusters.main.coreSecurityGroups"}, nil},
		{"rules that every account has", operators(networks(14, v4)...), nil, nil},
		{"more rules than most accounts have", operators(networks(15, v4)...), nil, []string{"operatorCidrs"}},
		{"more rules than most accounts have, with Airflow's", func(cfg *schema.Config, _ *schema.Cluster) {
			cfg.OperatorCIDRs, cfg.Tracing.AirflowSecurityGroups = networks(14, v4), groupIDs(1)
		}, nil, []string{"operatorCidrs"}},
		{"more of Airflow's groups than a group has rules", func(cfg *schema.Config, _ *schema.Cluster) {
			cfg.Tracing.AirflowSecurityGroups = groupIDs(29)
		}, []string{"tracing.airflowSecurityGroups"}, nil},
		{"Airflow's groups while nothing is traced", func(cfg *schema.Config, _ *schema.Cluster) {
			cfg.Tracing.Enabled, cfg.Tracing.AirflowSecurityGroups = false, groupIDs(2)
		}, nil, []string{"tracing.airflowSecurityGroups"}},
		{"as many as EC2 takes", operators(networks(124, v4)...), nil, []string{"operatorCidrs"}},
		{"more than EC2 takes", operators(networks(125, v4)...), []string{"operatorCidrs"}, nil},
		{"more than EC2 takes beside more groups", func(cfg *schema.Config, e *schema.Cluster) {
			cfg.OperatorCIDRs, e.MasterSecurityGroups = networks(124, v4), groupIDs(1)
		}, []string{"operatorCidrs"}, nil},
		{"each version of IP counts by itself", func(cfg *schema.Config, _ *schema.Cluster) {
			cfg.OperatorCIDRs = append(networks(14, v4), networks(1, v6)...)
		}, nil, []string{"operatorCidrs[14]"}},
	})
}

// The control node has an address of IPv4 only.
func TestOperatorsOfIPv6(t *testing.T) {
	for _, access := range []string{schema.AccessVPC, schema.AccessTunnel, schema.AccessPublic} {
		c := reachable(access)
		c.OperatorCIDRs = append(c.OperatorCIDRs, "2a00::/32")
		refused, warned := found(c)
		at := []string{fmt.Sprintf("operatorCidrs[%d]", len(c.OperatorCIDRs)-1)}
		if access == schema.AccessPublic {
			require.Equal(t, at, refused, access)
			continue
		}
		require.Empty(t, refused, access)
		require.Equal(t, at, warned, access)
	}
	c := reachable(schema.AccessVPC)
	c.OperatorCIDRs = []string{"2a00::/32"}
	refused, warned := found(c)
	require.Equal(t, []string{"operatorCidrs"}, refused)
	require.Empty(t, warned)
}

func TestAddressesOfPrivateSubnets(t *testing.T) {
	const cidr, free = "10.0.0.0/24", 59 - 1 // the control node has one
	cores := func(count int) func(*schema.Config, *schema.Cluster) {
		return func(cfg *schema.Config, e *schema.Cluster) { cfg.Network.CIDR, e.Core.Count = cidr, count }
	}
	scaled := func(unit string, most int) func(*schema.Config, *schema.Cluster) {
		return func(cfg *schema.Config, e *schema.Cluster) {
			cfg.Network.CIDR, e.ManagedScaling = cidr, &schema.ManagedScaling{Unit: unit, Min: 1, Max: most}
		}
	}
	second := func(cfg *schema.Config, subnet, count int) {
		var e schema.Cluster
		e.SetDefaults()
		e.Core.Count, e.Subnets = count, []int{subnet}
		cfg.Clusters["second"] = e
	}
	runLimitCases(t, []limitCase{
		{"all", cores(free - 1), nil, nil},
		{"one too many", cores(free), []string{"clusters.main.core.count"}, nil},
		{"of a public control node", func(cfg *schema.Config, e *schema.Cluster) {
			cores(free)(cfg, e)
			cfg.ControlNode.Access, cfg.OperatorCIDRs = schema.AccessPublic, []string{"203.0.113.0/24"}
		}, nil, nil},
		{"of an interface endpoint", func(cfg *schema.Config, e *schema.Cluster) {
			cores(free-1)(cfg, e)
			cfg.Network.InterfaceEndpoints = []string{"ssm"}
		}, []string{"clusters.main.core.count"}, nil},
		{"of an existing VPC", func(cfg *schema.Config, e *schema.Cluster) {
			cores(1000)(cfg, e)
			cfg.Network.VPCID, cfg.Network.SubnetIDs = "vpc-0123abcd", []string{"subnet-0123abcd"}
		}, nil, []string{"controlNode.instanceType"}},
		{"instances", scaled(schema.UnitInstances, free), []string{"clusters.main.managedScaling.max"}, nil},
		{"vCPUs, of which an m5.xlarge has four", scaled(schema.UnitVCPU, (free-1)*4), nil, nil},
		{"one vCPU too many", scaled(schema.UnitVCPU, (free-1)*4+1), []string{"clusters.main.managedScaling.max"}, nil},
		{"two clusters in one subnet", func(cfg *schema.Config, e *schema.Cluster) {
			cores(30)(cfg, e)
			second(cfg, 0, 30)
		}, []string{"network.cidr"}, nil},
		{"two clusters in two subnets", func(cfg *schema.Config, e *schema.Cluster) {
			cores(30)(cfg, e)
			second(cfg, 1, 30)
		}, nil, nil},
		{"two clusters that may grow", func(cfg *schema.Config, e *schema.Cluster) {
			scaled(schema.UnitInstances, 40)(cfg, e)
			second(cfg, 0, 20)
		}, nil, []string{"network.cidr"}},
	})
}

func TestWhatEMRTakes(t *testing.T) {
	twelve, fifteen := 12, 15
	limits := &schema.ManagedScaling{Unit: schema.UnitInstances, Min: 2, Max: 26, MaxOnDemand: &twelve, MaxCore: &fifteen}
	fleets := func(edit func(*schema.Fleets)) func(*schema.Config, *schema.Cluster) {
		return func(_ *schema.Config, e *schema.Cluster) {
			f := &schema.Fleets{Core: &schema.Fleet{}, Task: &schema.Fleet{}}
			f.SetDefaults()
			f.Core.SetDefaults()
			f.Task.SetDefaults()
			f.Core.OnDemand, f.Task.Spot = 1, 8
			one := schema.FleetType{InstanceType: "m5.xlarge", Weight: 1, BidPercent: 100}
			f.Master.Types, f.Core.Types = []schema.FleetType{one}, []schema.FleetType{one}
			for _, name := range []string{"m5.xlarge", "m5a.xlarge", "m5d.xlarge", "m4.xlarge", "r5.xlarge", "r5a.xlarge"} {
				f.Task.Types = append(f.Task.Types, schema.FleetType{InstanceType: name, Weight: 1, BidPercent: 100})
			}
			edit(f)
			e.Fleets, e.Configurations = f, []schema.Configuration{onLabels()}
		}
	}
	runLimitCases(t, []limitCase{
		{"core on spot above the limit on demand", func(_ *schema.Config, e *schema.Cluster) {
			e.ManagedScaling, e.Core.BidPrice = limits, "0.1"
		}, nil, nil},
		{"core on demand above it", func(_ *schema.Config, e *schema.Cluster) { e.ManagedScaling = limits },
			[]string{"clusters.main.managedScaling.maxCore"}, nil},
		{"many types with strategies", fleets(func(*schema.Fleets) {}), nil, nil},
		{"a strategy that no target needs", fleets(func(f *schema.Fleets) { f.Task.OnDemandStrategy = "" }), nil, nil},
		{"another fleet without", fleets(func(f *schema.Fleets) { f.Master.OnDemandStrategy = "" }),
			[]string{"clusters.main.fleets.master.onDemandStrategy"}, nil},
		{"five types without", fleets(func(f *schema.Fleets) {
			f.Master.OnDemandStrategy, f.Task.Types = "", f.Task.Types[:5]
		}), nil, nil},
		{"types of one architecture", func(_ *schema.Config, e *schema.Cluster) {
			e.CustomAMIID, e.Master.InstanceType, e.Core.InstanceType = "ami-0123abcd", "m6g.xlarge", "r7g.2xlarge"
		}, nil, nil},
		{"protection of a cluster that ends", func(_ *schema.Config, e *schema.Cluster) {
			e.KeepAlive, e.IdleTimeoutMinutes, e.TerminationProtection = false, 0, true
			e.Steps = []schema.Step{{Name: "a", ActionOnFailure: "CONTINUE", Jar: "command-runner.jar", Args: []string{"true"}}}
		}, nil, []string{"clusters.main.terminationProtection"}},
		{"dedicated bandwidth", func(_ *schema.Config, e *schema.Cluster) {
			e.Tasks["t"] = schema.InstanceGroup{InstanceType: "c4.8xlarge", Count: 1, EBSOptimized: true}
		}, nil, nil},
		{"characters that policies hold", func(cfg *schema.Config, e *schema.Cluster) {
			e.Access.S3Read, cfg.Profiler.EventLogs = []string{"s3://bkt/größe/ÿ/"}, []string{"s3://bkt/é/"}
		}, nil, nil},
		{"event logs with more bytes than characters, as many as a key in S3 may have", func(cfg *schema.Config, _ *schema.Cluster) {
			cfg.Profiler.EventLogs = []string{"s3://bkt/" + strings.Repeat("é", 500) + "/"}
		}, nil, nil},
		{"a tag that replaces the stack's", func(cfg *schema.Config, e *schema.Cluster) {
			cfg.Tags["Team"], e.Tags["Team"] = "a", "b"
		}, nil, nil},
	})
}

func TestPartitionsOfRegions(t *testing.T) {
	for region, want := range map[string]string{
		"us-east-1": "aws", "eu-west-1": "aws", "cn-north-1": "aws-cn", "us-gov-west-1": "aws-us-gov", "us-iso-east-1": "aws-iso",
		"us-isob-east-1": "aws-iso-b",
	} {
		require.Equal(t, want, schema.Partition(region), region)
	}
}
