package schema

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/facts"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Classifications and properties that size an executor, and what YARN has of a node.
const (
	sparkDefaults = "spark-defaults"
	yarnSite      = "yarn-site"
	capacity      = "capacity-scheduler"

	executorMemory = "spark.executor.memory"
	executorCores  = "spark.executor.cores"
	nodeMemory     = "yarn.nodemanager.resource.memory-mb"
	nodeVCores     = "yarn.nodemanager.resource.cpu-vcores"
)

// overheadFactor is EMR's own, where Spark's is 0.1, and leastOverheadMiB the least of
// both (EMR Release Guide, "Amazon EMR release 5.22.0").
const (
	overheadFactor   = 0.1875
	leastOverheadMiB = 384
)

// idleShare is the part of a node, in percent, that may be without work before we warn:
// rounding to whole executors costs up to about that much.
const idleShare = 20

// executor is what YARN gives one executor: heap, overhead, off-heap memory and
// Python's (Spark, "Configuration", spark.executor.memory).
type executor struct {
	path     string // of its memory
	set      string // its memory as set
	cores    int
	heapMiB  int
	extraMiB int     // beside the heap and its share of overhead
	factor   float64 // overhead as a share of the heap; 0 = set outright
}

func (e executor) memoryMiB() int { return e.heapMiB + e.overhead(e.heapMiB) + e.extraMiB }

func (e executor) overhead(heapMiB int) int {
	if e.factor == 0 {
		return 0
	}
	return max(int(e.factor*float64(heapMiB)), leastOverheadMiB)
}

// heapWithin returns the largest heap of an executor that gets some memory of YARN.
func (e executor) heapWithin(mib int) int {
	left := mib - e.extraMiB
	heap := int(float64(left) / (1 + e.factor))
	return max(0, min(heap, left-e.overhead(heap)))
}

// node is what YARN has of a node.
type node struct {
	instanceType      string
	memoryMiB, vcores int
}

// checkExecutors compares executors with the nodes that run them. It says nothing
// where EMR sizes them itself.
func checkExecutors(l *violation.List, s settings, instanceTypes, applications []string) {
	memory, sized := s.value(sparkDefaults, executorMemory)
	cores, counted := s.value(sparkDefaults, executorCores)
	if slices.Contains(applications, "HBase") || !sized {
		return // beside HBase YARN has less, by another table
	}
	e, ok := readExecutor(l, s, memory)
	if !ok {
		return
	}
	if counted {
		n, err := strconv.Atoi(cores.value)
		l.Require(err == nil && n > 0, cores.path, cores.value, "must be a number of cores above 0", "write it as digits")
		e.cores = n
	}
	var with, without []node
	for _, name := range slices.Compact(slices.Sorted(slices.Values(instanceTypes))) {
		n, known := nodeOf(s, name)
		switch {
		case !known:
		case e.memoryMiB() > n.memoryMiB:
			without = append(without, n)
		default:
			with = append(with, n)
		}
	}
	e.checkFits(l, with, without)
	for _, n := range with {
		if e.cores > 0 {
			e.checkIdle(l, s, n)
		}
	}
}

// nodeOf returns what YARN has of a type, unless the configuration says otherwise.
func nodeOf(s settings, name string) (node, bool) {
	t, known := facts.InstanceTypeNamed(name)
	n := node{name, t.YARNMemoryMiB(), t.YARNVCores()}
	for property, into := range map[string]*int{nodeMemory: &n.memoryMiB, nodeVCores: &n.vcores} {
		if v, ok := s.value(yarnSite, property); ok {
			set, err := strconv.Atoi(v.value)
			known = known && err == nil
			*into = set
		}
	}
	return n, known && n.vcores > 0
}

// readExecutor reads an executor's memory settings. It records invalid ones in l and then
// returns false, as it does if no heap size is set. An explicit overhead replaces the
// factor, which is then 0.
func readExecutor(l *violation.List, s settings, memory setting) (executor, bool) {
	sizes := sizeReader{l, s, true}
	e := executor{path: memory.path, set: memory.value, factor: overheadFactor, heapMiB: sizes.read(mebibyte, executorMemory)}
	if factor, set := s.value(sparkDefaults, "spark.executor.memoryOverheadFactor", "spark.yarn.executor.memoryOverheadFactor"); set {
		f, err := strconv.ParseFloat(factor.value, 64)
		sizes.require(err == nil && f > 0, factor, "must be a number above 0 such as 0.1875", "write it as a decimal")
		e.factor = f
	}
	explicit := []string{"spark.executor.memoryOverhead", "spark.yarn.executor.memoryOverhead"}
	if _, set := s.value(sparkDefaults, explicit...); set {
		e.factor, e.extraMiB = 0, sizes.read(mebibyte, explicit...)
	}
	e.extraMiB += sizes.read(mebibyte, "spark.executor.pyspark.memory")
	if on, _ := s.value(sparkDefaults, "spark.memory.offHeap.enabled"); on.value == "true" {
		e.extraMiB += sizes.read(1, "spark.memory.offHeap.size")
	}
	return e, sizes.ok && e.heapMiB > 0
}

const mebibyte = 1 << 20

// sizeReader reads sizes of memory, and records which it cannot read.
type sizeReader struct {
	*violation.List
	set settings
	ok  bool
}

func (r *sizeReader) require(ok bool, v setting, rule, remedy string) {
	r.Require(ok, v.path, v.value, rule, remedy)
	r.ok = r.ok && ok
}

// read returns the first of some properties in MiB, 0 if none is set. A number without
// a unit has the property's own, in bytes.
func (r *sizeReader) read(unit int64, properties ...string) int {
	v, set := r.set.value(sparkDefaults, properties...)
	if !set {
		return 0
	}
	size, ok := platform.ParseSparkSize(v.value, unit)
	r.require(ok, v, "must be a size such as 4g or 512m", "write a number and k, m, g or t")
	return int(size / mebibyte)
}

// checkFits requires that some node can run an executor, and warns of those that
// cannot.
func (e executor) checkFits(l *violation.List, with, without []node) {
	if len(without) == 0 {
		return
	}
	largest := slices.MaxFunc(without, func(a, b node) int { return a.memoryMiB - b.memoryMiB })
	rule := fmt.Sprintf("fit into what YARN has of %s, %d MiB: with its overhead an executor takes %d MiB", largest.instanceType,
		largest.memoryMiB, e.memoryMiB())
	remedy := fmt.Sprintf("set it to %dm at most, or use a larger type", e.heapWithin(largest.memoryMiB))
	if len(with) == 0 {
		l.Require(false, e.path, e.set, "must "+rule, remedy)
	} else {
		l.Warn(false, e.path, e.set, "should "+rule+", so that those nodes run none", remedy)
	}
}

// checkIdle warns of executors that leave much of a node without work. YARN places them
// by memory alone, unless its calculator is told to count cores too (Hadoop,
// "CapacityScheduler").
func (e executor) checkIdle(l *violation.List, s settings, n node) {
	count := n.memoryMiB / e.memoryMiB()
	if v, _ := s.value(capacity, "yarn.scheduler.capacity.resource-calculator"); strings.HasSuffix(v.value, "DominantResourceCalculator") {
		count = min(count, n.vcores/e.cores)
	}
	cores, memory := idle(count*e.cores, n.vcores), idle(count*e.memoryMiB(), n.memoryMiB)
	better := betterCores(e.cores, n.vcores)
	remedy := fmt.Sprintf("set %s to %d and %s to %dm, which fill it", executorCores, better, executorMemory,
		e.heapWithin(n.memoryMiB*better/n.vcores))
	l.Warn(cores < idleShare && memory < idleShare, e.path, e.set,
		fmt.Sprintf("should fill %s: its %d executors of %d cores and %d MiB leave %d %% of the cores and %d %% of the memory idle",
			n.instanceType, count, e.cores, e.memoryMiB(), cores, memory), remedy)
	l.Warn(count*e.cores <= n.vcores, e.path, e.set,
		fmt.Sprintf("should leave a core to each task: on %s YARN places %d executors by their memory, with %d cores of %d", n.instanceType,
			count, count*e.cores, n.vcores), remedy)
}

// idle returns the part that is not used, in percent.
func idle(used, of int) int {
	const percent = 100
	return max(0, percent-int(math.Round(percent*float64(used)/float64(of))))
}

// betterCores returns the number of cores nearest to the one set that divides the
// node's.
func betterCores(cores, of int) int {
	best := 1
	for c := 1; c <= of; c++ {
		if of%c == 0 && math.Abs(float64(c-cores)) < math.Abs(float64(best-cores)) {
			best = c
		}
	}
	return best
}
