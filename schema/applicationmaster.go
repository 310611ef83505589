package schema

import (
	"fmt"
	"slices"

	"github.com/emr-observatory/emr-observatory/schema/facts"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

const amMemory = "spark.yarn.am.memory"

// amFactor is the share of overhead of what YARN starts first of an application (Spark,
// AM_MEMORY_OVERHEAD_FACTOR and spark.driver.memoryOverheadFactor).
const amFactor = 0.1

// checkApplicationMasters requires that some node can run what YARN starts first of an
// application: its client refuses the application otherwise ("Required AM memory is above
// the max threshold", org.apache.spark.deploy.yarn.Client.verifyClusterResources). In
// client mode, EMR's default, that is the application master, and the driver is on the
// primary node; in cluster mode it is the driver.
func checkApplicationMasters(l *violation.List, s settings, m machines) {
	nodes := m.nodes(s)
	if len(nodes) == 0 {
		return
	}
	largest := slices.MaxFunc(nodes, func(a, b node) int { return a.memoryMiB - b.memoryMiB })
	mode, _ := s.value(sparkDefaults, deployMode)
	if mode.value != "cluster" {
		checkMaster(l, s, largest, amMemory, true)
		checkClientDriver(l, s, m.primary)
	}
	t, known := facts.InstanceTypeNamed(m.primary)
	neither := known && driverMiB(s) > t.EMR.MemoryMiB // too large for the primary node, too
	checkMaster(l, s, largest, driverMemory, mode.value == "cluster" || neither)
}

// checkMaster refuses a heap that exceeds the largest node with its overhead, or warns of
// it, where the other mode works.
func checkMaster(l *violation.List, s settings, n node, memory string, refuse bool) {
	c := contextSettings{l, s, false}
	v, heap, ok := c.number(memory)
	if !ok || heap < leastHeapMiB && memory == driverMemory {
		return // checkHeaps refuses it
	}
	e := executor{heapMiB: int(heap), factor: amFactor}
	if _, set, ok := c.number(memory + "Overhead"); ok {
		e.factor, e.extraMiB = 0, int(set)
	}
	mode := map[string]string{amMemory: "client", driverMemory: "cluster"}[memory]
	offer, more := n.offer()
	rule := fmt.Sprintf("%s: with its overhead it takes %d MiB, and Spark refuses the application in %s mode", offer, e.memoryMiB(), mode)
	remedy := fmt.Sprintf("set it to %dm at most, or %s", e.heapWithin(n.memoryMiB), more)
	if refuse {
		l.Require(e.memoryMiB() <= n.memoryMiB, v.path, v.value, "must "+rule, remedy)
	} else {
		l.Warn(e.memoryMiB() <= n.memoryMiB, v.path, v.value, "should "+rule, remedy)
	}
}

// driverMiB returns the driver's heap; 0 if it is not set.
func driverMiB(s settings) int {
	_, heap, _ := contextSettings{nil, s, false}.number(driverMemory)
	return int(heap)
}

// checkClientDriver warns of a driver that is larger than the primary node, on which it
// runs in client mode.
func checkClientDriver(l *violation.List, s settings, primary string) {
	t, known := facts.InstanceTypeNamed(primary)
	v, _ := s.value(sparkDefaults, driverMemory)
	l.Warn(!known || driverMiB(s) <= t.EMR.MemoryMiB, v.path, v.value,
		fmt.Sprintf("should fit into the primary node, %s with %d MiB, where a driver runs in client mode, EMR's default",
			primary, t.EMR.MemoryMiB),
		fmt.Sprintf("set it lower, use a larger type, or set %s to cluster", deployMode))
}
