package schema

import (
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// NodeFit is what YARN has of a node, and what the executors that the configuration
// describes leave of it.
type NodeFit struct {
	InstanceType string `json:"instanceType"`
	MemoryMiB    int    `json:"memoryMiB"` // what YARN has of it
	VCores       int    `json:"vcores"`

	// Of the executors; all 0 where EMR sizes them.
	Executors   int `json:"executors"` // on one node; 0 beside a size: none fits
	ExecutorMiB int `json:"executorMiB"`
	Cores       int `json:"cores"` // of one executor

	IdleMemoryPercent int `json:"idleMemoryPercent"`
	IdleCoresPercent  int `json:"idleCoresPercent"`
}

// NodeFits returns what executors leave of the nodes that run them, by instance type. It
// is empty without Spark, and leaves out types that nobody knows.
func (c Cluster) NodeFits() []NodeFit {
	out := []NodeFit{}
	if !c.hasSpark() {
		return out
	}
	s := c.settings("")
	e, sized := readExecutor(&violation.List{}, s)
	for _, n := range c.machines().nodes(s) {
		fit := NodeFit{InstanceType: n.instanceType, MemoryMiB: n.memoryMiB, VCores: n.vcores}
		if sized && e.heap.path != "" && e.cores > 0 {
			fit.ExecutorMiB, fit.Cores = e.memoryMiB(), e.cores
			if e.cores <= n.vcores {
				fit.Executors = e.perNode(s, n)
			}
			fit.IdleMemoryPercent = idle(fit.Executors*fit.ExecutorMiB, n.memoryMiB)
			fit.IdleCoresPercent = idle(fit.Executors*fit.Cores, n.vcores)
		}
		out = append(out, fit)
	}
	return out
}

// calculatorKey names what the capacity scheduler counts, and DominantCalculator counts
// memory and cores.
const (
	calculatorKey      = "yarn.scheduler.capacity.resource-calculator"
	DominantCalculator = "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator"
)

// perNode returns how many executors YARN places on a node: by memory alone, unless its
// calculator is told to count cores, too (Hadoop, "CapacityScheduler").
func (e executor) perNode(s settings, n node) int {
	count := n.memoryMiB / e.memoryMiB()
	if v, _ := s.value(capacity, calculatorKey); v.value == DominantCalculator {
		count = min(count, n.vcores/e.cores)
	}
	return count
}

// settings returns what the cluster sets of its applications. path is the cluster's own.
func (c Cluster) settings(path string) settings {
	s := settingsOf(c.Configurations, path+".configurations")
	s.add(sparkDefaults, path+".sparkDefaults", c.SparkDefaults)
	if _, set := s.value(capacity, calculatorKey); len(c.Tenants) > 0 && !set {
		s.add(capacity, path+".tenants", map[string]string{calculatorKey: DominantCalculator})
	}
	return s
}

// machines returns those on which the cluster runs Spark. A primary node alone runs YARN's
// containers.
func (c Cluster) machines() machines {
	out := machines{hbase: c.has("HBase")}
	for _, g := range c.GroupsAt("") {
		if g.Role == platform.RoleMaster {
			out.primary = g.InstanceType
		}
		if g.Role != platform.RoleMaster || !c.HasCore() {
			out.workers = append(out.workers, g.InstanceType)
		}
	}
	return out
}
