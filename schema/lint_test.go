package schema_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

func TestTenantsOfOneClusterAreLimited(t *testing.T) {
	var c schema.Cluster
	c.SetDefaults()
	for i := range 21 {
		c.Tenants[fmt.Sprintf("t%d", i)] = schema.Tenant{Share: 1, Ceiling: 100}
	}
	var l violation.List
	c.Validate(&l, "clusters.etl", false)
	require.ErrorContains(t, l.Err(), "clusters.etl.tenants: 21 must be at most 20 tenants")
}

// Settings that look right, and by which leaving nodes lose their work, are warned of.
func TestDecommissioningIsWarnedOf(t *testing.T) {
	for property, warned := range map[string]map[string]bool{
		"yarn.resourcemanager.decommissioning.timeout":                        {"3600": true},
		"yarn.resourcemanager.node-removal-untracked.timeout":                 {"60000": true},
		"yarn.resourcemanager.nodemanager-graceful-decommission-timeout-secs": {"-1": true, "3600": false},
	} {
		for value, want := range warned {
			var c schema.Cluster
			c.SetDefaults()
			c.Configurations = []schema.Configuration{{Classification: "yarn-site", Properties: map[string]string{property: value}}}
			var l violation.List
			c.Validate(&l, "clusters.etl", false)
			require.NoError(t, l.Err())
			found := false
			for _, w := range l.Warnings() {
				found = found || w.Path == "clusters.etl.configurations[0].properties."+property
			}
			require.Equal(t, want, found, "%s %s", property, value)
		}
	}
}

// Application masters on spot nodes, and fewer core nodes than HDFS has copies, are warned of.
func TestWorkersAreWarnedOf(t *testing.T) {
	onSpot := func(_ *schema.Config, e *schema.Cluster) {
		e.Tasks["t"] = schema.InstanceGroup{InstanceType: "m5.xlarge", Count: 1, BidPrice: "0.1"}
	}
	scaled := func(count, least int) func(*schema.Config, *schema.Cluster) {
		return func(_ *schema.Config, e *schema.Cluster) {
			e.Core.Count, e.ManagedScaling = count, &schema.ManagedScaling{Unit: schema.UnitInstances, Min: least, Max: 20}
		}
	}
	copies := func(n string) schema.Configuration {
		return schema.Configuration{Classification: "hdfs-site", Properties: map[string]string{"dfs.replication": n}}
	}
	below := []string{"clusters.main.managedScaling.min"}
	runLimitCases(t, []limitCase{
		{"tasks on spot", onSpot, nil, []string{"clusters.main.tasks.t.bidPrice"}},
		{"tasks on spot, with labels", func(c *schema.Config, e *schema.Cluster) {
			onSpot(c, e)
			e.Configurations = []schema.Configuration{onLabels()}
		}, nil, nil},
		{"labels that no master asks for", func(c *schema.Config, e *schema.Cluster) {
			onSpot(c, e)
			on := onLabels()
			delete(on.Properties, "yarn.node-labels.am.default-node-label-expression")
			e.Configurations = []schema.Configuration{on}
		}, nil, []string{"clusters.main.tasks.t.bidPrice"}},
		{"three core nodes have one copy", scaled(3, 1), nil, nil},
		{"four have two", scaled(4, 1), nil, below},
		{"four, two at least", scaled(4, 2), nil, nil},
		{"ten have three", scaled(10, 2), nil, below},
		{"ten with one copy", func(c *schema.Config, e *schema.Cluster) {
			scaled(10, 1)(c, e)
			e.Configurations = []schema.Configuration{copies("1")}
		}, nil, nil},
		{"one with two copies", func(c *schema.Config, e *schema.Cluster) {
			scaled(1, 1)(c, e)
			e.Configurations = []schema.Configuration{copies("2")}
		}, nil, below},
		{"vcores are no nodes", func(c *schema.Config, e *schema.Cluster) {
			scaled(10, 1)(c, e)
			e.ManagedScaling.Unit = schema.UnitVCPU
		}, nil, nil},
	})
}
