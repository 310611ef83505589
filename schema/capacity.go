package schema

import (
	"fmt"
	"math"
	"slices"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/facts"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// What the control node was measured to need. `make bench RUN='processes of a job'`
// measures it again (bench.json, control_processors_per_node).
const (
	// controlCPUPerNode is how many processors the collector, the redelivery proxy and the
	// stores use for one node of a cluster while a job runs: measured on 2026-11-24 on
	// linux/amd64 with two processors, over 104 s, with 3 nodes and executors on two of
	// them that send logs, metrics, spans and profiles.
	controlCPUPerNode = 0.0126
	// controlCPUShare is what they may use on average: K3s, Grafana, queries and
	// Tempo's compaction share the machine, and clusters start together.
	controlCPUShare = 0.5
)

// checkCapacity warns of clusters that may have more nodes than one control node was
// measured to take.
func (c Config) checkCapacity(l *violation.List) {
	t, known := facts.InstanceTypeNamed(c.ControlNode.InstanceType)
	nodes := 0
	for _, cluster := range c.Clusters {
		nodes += cluster.maxNodes()
	}
	most := int(float64(t.VCPUs) * controlCPUShare / controlCPUPerNode)
	l.Warn(!known || nodes <= most, "controlNode.instanceType", c.ControlNode.InstanceType,
		fmt.Sprintf("should have %d vCPUs for %d nodes, which the clusters have at most: "+
			"%d were measured to use half of its processors",
			int(math.Ceil(float64(nodes)*controlCPUPerNode/controlCPUShare)), nodes, most),
		"use a larger type, or declare some of the clusters in another stack; clusters that others start count too")
}

// maxNodes returns how many nodes the cluster has at most, by its counts and limits.
func (c Cluster) maxNodes() int {
	nodes := c.Masters()
	switch {
	case c.ManagedScaling != nil:
		nodes += c.ManagedScaling.maxNodes(c)
	case c.Fleets != nil:
		for _, f := range c.Fleets.workers() {
			nodes += nodesOf(f.OnDemand+f.Spot, f.leastWeight())
		}
	default:
		nodes += c.Core.MaxCount()
		for _, g := range c.Tasks {
			nodes += g.MaxCount()
		}
	}
	return nodes
}

// maxNodes returns how many core and task nodes EMR starts at most: the smallest that
// the cluster may have.
func (m ManagedScaling) maxNodes(c Cluster) int {
	return nodesOf(m.Max, slices.Min(append(m.sizes(c, Fleet.leastWeight), math.MaxInt)))
}

// leastNodes returns how many core and task nodes EMR starts at least to reach the limit:
// the largest that the cluster may have.
func (m ManagedScaling) leastNodes(c Cluster) int {
	return nodesOf(m.Max, slices.Max(append(m.sizes(c, Fleet.mostWeight), 0)))
}

// sizes returns the units, in which the limit counts, of the nodes that EMR may start; none
// if it counts instances. A fleet has the size that ofFleet returns.
func (m ManagedScaling) sizes(c Cluster, ofFleet func(Fleet) int) []int {
	var sizes []int
	switch {
	case m.Unit == UnitFleetUnits && c.Fleets != nil:
		for _, f := range c.Fleets.workers() {
			sizes = append(sizes, ofFleet(f))
		}
	case m.Unit == UnitVCPU:
		for _, g := range c.GroupsAt("") {
			if t, known := facts.InstanceTypeNamed(g.InstanceType); known && g.Role != platform.RoleMaster {
				sizes = append(sizes, t.EMR.VCPUs)
			}
		}
	}
	return sizes
}

// MaxCount returns how many nodes the group has at most.
func (g InstanceGroup) MaxCount() int {
	if g.AutoScaling != nil {
		return max(g.Count, g.AutoScaling.Max)
	}
	return g.Count
}

// workers returns the fleets of core and task nodes that the cluster has, by role.
func (f *Fleets) workers() map[string]Fleet {
	out := map[string]Fleet{}
	for role, fleet := range map[string]*Fleet{platform.RoleCore: f.Core, platform.RoleTask: f.Task} {
		if fleet != nil {
			out[role] = *fleet
		}
	}
	return out
}

// leastWeight returns the units of the fleet's smallest instance.
func (f Fleet) leastWeight() int {
	least := math.MaxInt
	for _, t := range f.Types {
		least = min(least, t.Weight)
	}
	return least
}

// nodesOf returns how many nodes make a number of units. A node is one unit if its size
// is unknown or invalid.
func nodesOf(units, size int) int {
	if size < 1 || size == math.MaxInt {
		size = 1
	}
	return (units + size - 1) / size
}
