package schema

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/schema/facts"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Classifications and properties that size an executor.
const (
	sparkDefaults  = "spark-defaults"
	executorMemory = "spark.executor.memory"
	executorCores  = "spark.executor.cores"
)

// What an executor has beside its heap, unless set.
const (
	overheadFactor   = facts.ExecutorOverhead
	leastOverheadMiB = facts.LeastOverheadMiB
)

// idleShare is the part of a node, in percent, that may be without work before we warn:
// rounding to whole executors costs up to about that much.
const idleShare = 20

// part is a setting that takes a part of an executor's memory.
type part struct {
	setting
	name string
	mib  int
}

// executor is what YARN gives one executor: heap, overhead, off-heap memory and
// Python's (Spark, "Configuration", spark.executor.memory).
type executor struct {
	heap     setting // "" = EMR sizes it
	cores    int     // 0 = EMR counts them
	heapMiB  int
	extras   []part  // beside the heap and its share of overhead
	extraMiB int     // of all
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

// checkExecutors compares executors with the nodes that run them. Where EMR sizes them
// itself, it looks only at what is set beside that.
func checkExecutors(l *violation.List, s settings, m machines) {
	e, ok := readExecutor(l, s)
	if !ok {
		return
	}
	var with, without []node
	for _, n := range m.nodes(s) {
		if e.memoryMiB() > n.memoryMiB {
			without = append(without, n)
		} else {
			with = append(with, n)
		}
	}
	e.checkFits(l, with, without)
	e.checkCores(l, s, m.nodes(s))
	for _, n := range with {
		if e.cores > 0 && e.heap.path != "" && !n.estimated && e.cores <= n.vcores {
			e.checkIdle(l, s, n)
		}
	}
}

// readExecutor reads an executor's settings. It returns false if there are none, or if
// some are invalid, which checkSparkValues and checkSparkContext refuse. An explicit
// overhead replaces the factor, which is then 0.
func readExecutor(l *violation.List, s settings) (executor, bool) {
	c := contextSettings{l, s, false}
	e, valid := executor{factor: overheadFactor}, true
	read := func(names ...string) (part, bool) {
		for _, name := range names {
			if _, set := s.value(sparkDefaults, name); set {
				v, n, ok := c.number(name)
				valid = valid && ok && n >= 0
				return part{v, name, int(n)}, true
			}
		}
		return part{}, false
	}
	heap, sized := read(executorMemory)
	e.heap, e.heapMiB = heap.setting, heap.mib
	if !sized {
		e.heapMiB = leastHeapMiB
	}
	if cores, counted := read(executorCores); counted {
		e.cores = cores.mib
		valid = valid && e.cores > 0
	}
	if factor, set := s.value(sparkDefaults, "spark.executor.memoryOverheadFactor", emrOverheadFactor); set {
		f, ok := parseSparkDouble(factor.value)
		e.factor, valid = f, valid && ok && f > 0
	}
	extra := func(p part, set bool) {
		if set {
			e.extras = append(e.extras, p)
			e.extraMiB += p.mib
		}
	}
	if p, set := read("spark.executor.memoryOverhead", "spark.yarn.executor.memoryOverhead"); set {
		e.factor = 0
		extra(p, set)
	}
	extra(read("spark.executor.pyspark.memory"))
	if c.is(offHeapOn, true) {
		p, set := read(offHeapSize)
		p.mib /= 1 << 20 // its own unit is a byte
		extra(p, set)
	}
	return e, valid && (sized || e.cores > 0 || len(e.extras) > 0) && e.heapMiB > 0
}

// checkFits requires that some node can run an executor, and warns of those that
// cannot.
func (e executor) checkFits(l *violation.List, with, without []node) {
	if len(without) == 0 {
		return
	}
	largest := slices.MaxFunc(without, func(a, b node) int { return a.memoryMiB - b.memoryMiB })
	culprit, lower := e.culprit(largest)
	if culprit.path == "" {
		return // EMR sizes it
	}
	offer, more := largest.offer()
	rule := fmt.Sprintf("%s: with its overhead an executor takes %d MiB%s", offer, e.memoryMiB(), e.sum())
	remedy := lower + ", or " + more
	if len(with) == 0 {
		l.Require(false, culprit.path, culprit.value, "must "+rule, remedy)
	} else {
		l.Warn(false, culprit.path, culprit.value, "should "+rule+", so that those nodes run none", remedy)
	}
}

// culprit returns the setting to lower so that an executor fits into a node, and how: the
// heap, unless nothing would be left of it.
func (e executor) culprit(n node) (v setting, remedy string) {
	if heap := e.heapWithin(n.memoryMiB); heap >= leastHeapMiB {
		return e.heap, fmt.Sprintf("set it to %dm at most", heap)
	}
	if len(e.extras) == 0 {
		return e.heap, "set it lower"
	}
	largest := slices.MaxFunc(e.extras, func(a, b part) int { return a.mib - b.mib })
	left := n.memoryMiB - (e.memoryMiB() - largest.mib)
	if left > 0 {
		return largest.setting, fmt.Sprintf("set it to %dm at most", left)
	}
	others := []string{}
	for _, p := range e.extras {
		if p.name != largest.name {
			others = append(others, p.name)
		}
	}
	if e.heap.path != "" {
		others = append(others, executorMemory)
	}
	if len(others) == 0 {
		return largest.setting, "set it lower"
	}
	return largest.setting, "lower it and " + strings.Join(others, " and ")
}

// sum says what an executor's memory consists of, if there is more than heap and its
// share of overhead.
func (e executor) sum() string {
	if len(e.extras) == 0 {
		return ""
	}
	out := fmt.Sprintf(", %d of them heap", e.heapMiB)
	if e.factor > 0 {
		out += fmt.Sprintf(", %d overhead", e.overhead(e.heapMiB))
	}
	for _, p := range e.extras {
		out += fmt.Sprintf(", %d %s", p.mib, p.name)
	}
	return out
}

// checkCores requires that some node has the cores of an executor: the resource manager
// refuses a request beyond the largest node's, whether or not it counts cores when it
// places containers (Hadoop, SchedulerUtils.validateResourceRequest).
func (e executor) checkCores(l *violation.List, s settings, nodes []node) {
	if e.cores == 0 || len(nodes) == 0 {
		return
	}
	v, _ := s.value(sparkDefaults, executorCores)
	largest := slices.MaxFunc(nodes, func(a, b node) int { return a.vcores - b.vcores })
	l.Require(e.cores <= largest.vcores, v.path, v.value,
		fmt.Sprintf("must be at most the vcores that YARN has of %s, %d: it refuses the executors otherwise", largest.instanceType,
			largest.vcores),
		fmt.Sprintf("set it to %d at most, or use a larger type", largest.vcores))
}

// checkIdle warns of executors that leave much of a node without work.
func (e executor) checkIdle(l *violation.List, s settings, n node) {
	count := e.perNode(s, n)
	cores, memory := idle(count*e.cores, n.vcores), idle(count*e.memoryMiB(), n.memoryMiB)
	better := betterCores(e.cores, n.vcores)
	remedy := fmt.Sprintf("set %s to %d and %s to %dm, which fill it", executorCores, better, executorMemory,
		e.heapWithin(n.memoryMiB*better/n.vcores))
	l.Warn(cores < idleShare && memory < idleShare, e.heap.path, e.heap.value,
		fmt.Sprintf("should fill %s: its %d executors of %d cores and %d MiB leave %d %% of the cores and %d %% of the memory idle",
			n.instanceType, count, e.cores, e.memoryMiB(), cores, memory), remedy)
	l.Warn(count*e.cores <= n.vcores, e.heap.path, e.heap.value,
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
