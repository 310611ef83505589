package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

func TestMostNodesOfACluster(t *testing.T) {
	group := func(instanceType string, count, most int) schema.InstanceGroup {
		g := schema.InstanceGroup{InstanceType: instanceType, Count: count}
		if most > 0 {
			g.AutoScaling = &schema.AutoScaling{Min: 1, Max: most}
		}
		return g
	}
	managed := func(unit string, most int) *schema.ManagedScaling {
		return &schema.ManagedScaling{Unit: unit, Min: 1, Max: most}
	}
	master := group("m5.xlarge", 1, 0)
	fleet := func(target int, weights ...int) *schema.Fleet {
		f := &schema.Fleet{OnDemand: target - 1, Spot: 1}
		for _, w := range weights {
			f.Types = append(f.Types, schema.FleetType{InstanceType: "m5.xlarge", Weight: w})
		}
		return f
	}
	fleets := schema.Fleets{Master: schema.Fleet{OnDemand: 1}, Core: fleet(9, 4, 2), Task: fleet(4, 8)}
	for name, c := range map[string]struct {
		schema.Cluster
		nodes int
	}{
		"primary node alone": {schema.Cluster{Master: master}, 1},
		"groups": {schema.Cluster{Master: group("m5.xlarge", 3, 0), Core: group("m5.xlarge", 2, 5),
			Tasks: map[string]schema.InstanceGroup{"a": group("m5.xlarge", 4, 0), "b": group("m5.xlarge", 9, 7)}}, 3 + 5 + 4 + 9},
		"managed instances": {schema.Cluster{Master: master, Core: group("m5.xlarge", 2, 0),
			ManagedScaling: managed(schema.UnitInstances, 12)}, 1 + 12},
		"managed vCPUs, by the smallest worker": {schema.Cluster{Master: master, Core: group("m5.4xlarge", 2, 0),
			Tasks:          map[string]schema.InstanceGroup{"a": group("m5.2xlarge", 1, 0)},
			ManagedScaling: managed(schema.UnitVCPU, 65)}, 1 + 9},
		"managed vCPUs of an unknown type": {schema.Cluster{Master: master, Core: group("x.y", 2, 0),
			ManagedScaling: managed(schema.UnitVCPU, 8)}, 1 + 8},
		"fleets, by their smallest types": {schema.Cluster{Fleets: &fleets}, 1 + 5 + 1},
		"managed fleets":                  {schema.Cluster{Fleets: &fleets, ManagedScaling: managed(schema.UnitFleetUnits, 9)}, 1 + 5},
		"units of fleets without fleets":  {schema.Cluster{Master: master, ManagedScaling: managed(schema.UnitFleetUnits, 9)}, 1 + 9},
	} {
		require.Equal(t, c.nodes, schema.MaxNodes(c.Cluster), name)
	}
}

func TestControlNodeIsWarnedOfTooManyNodes(t *testing.T) {
	warnings := func(instanceType string, count int) []string {
		c := schema.Defaults()
		c.ControlNode.InstanceType = instanceType
		etl := schema.Cluster{}
		etl.SetDefaults()
		etl.Core.Count = count
		c.Clusters = map[string]schema.Cluster{"etl": etl, "other": etl}
		var l violation.List
		c.Check(&l)
		var found []string
		for _, w := range l.Warnings() {
			if w.Path == "controlNode.instanceType" {
				found = append(found, w.Error())
			}
		}
		return found
	}
	require.Empty(t, warnings("m5.xlarge", 2))
	require.Empty(t, warnings("m5.24xlarge", 200))
	require.Empty(t, warnings("t3.2xlarge", 2000), "its vCPUs are unknown")
	require.Len(t, warnings("m5.xlarge", 200), 1)
	require.Contains(t, warnings("m5.xlarge", 200)[0], "vCPUs for 402 nodes, which the clusters have at most")
}
