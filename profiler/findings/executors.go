package findings

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/rules"
)

// unplanned are the classes of removals that cost finished work.
var unplanned = map[string]bool{
	tables.RemovedLost: true, tables.RemovedKilled: true, tables.RemovedMemory: true, tables.RemovedOther: true,
}

// killed9 finds the exit code of a process that SIGKILL ended. EMR's executors send it to
// themselves when their heap is full (-XX:OnOutOfMemoryError='kill -9 %p'), and the kernel does
// when a host's memory is.
var killed9 = regexp.MustCompile(`(?i)\b(exit (status|code)|exited with code|exitCode):?\s*137\b`)

// removed returns the executors for which the predicate holds.
func (a *application) removed(of func(class, reason string) bool) (all []tables.Executor) {
	for _, x := range a.executors {
		reason, class := "", ""
		if x.RemoveReason != nil {
			reason = *x.RemoveReason
		}
		if x.RemoveClass != nil {
			class = *x.RemoveClass
		}
		if reason != "" && of(class, reason) {
			all = append(all, x)
		}
	}
	return all
}

// lost returns how many executors ended although the application wanted them; if their classes
// are unknown, how many were removed.
func (a *application) lost() int {
	return len(a.removed(func(class, _ string) bool { return class == "" || unplanned[class] }))
}

// classified reports whether the class of every removal is known. If not, it notes that the
// rule was not checked.
func (a *application) classified(id rules.ID) bool {
	if len(a.removed(func(class, _ string) bool { return class == "" })) == 0 {
		return true
	}
	a.lack(id, "table executors has no remove_class: an earlier version wrote it")
	return false
}

// executorsLost finds executors that ended although the application wanted them, out of memory
// aside.
func executorsLost(a *application) {
	if !a.classified(rules.ExecutorsLost) {
		return
	}
	gone := a.removed(func(class, reason string) bool {
		return unplanned[class] && class != tables.RemovedMemory && !killed9.MatchString(reason)
	})
	f := judged(rules.ExecutorsLost, float64(len(gone)))
	if f == nil {
		return
	}
	f.Summary = fmt.Sprintf("%s lost although the application needed it; cached data and shuffle output had to be made again. %s",
		executors(len(gone), "was", "were"), reasons(gone))
	citeRemovals(f, gone)
	f.Advice = "Look at the hosts and at YARN's log of the containers."
	a.change(f, "spark.decommission.enabled", "")
	a.found.add(f)
}

// executorMemory finds executors that ran out of memory.
func executorMemory(a *application) {
	if !a.classified(rules.ExecutorMemory) {
		return
	}
	gone := a.removed(func(class, reason string) bool { return class == tables.RemovedMemory || killed9.MatchString(reason) })
	f := judged(rules.ExecutorMemory, float64(len(gone)))
	if f == nil {
		return
	}
	f.Summary = fmt.Sprintf("%s out of memory, or ended by SIGKILL (exit code 137), which mostly means the same. %s",
		executors(len(gone), "ran", "ran"), reasons(gone))
	citeRemovals(f, gone)
	f.Advice = "On EMR an executor whose heap is full sends SIGKILL to itself (its stdout has OutOfMemoryError), and the kernel sends it " +
		"when the host's memory is full. Raise spark.executor.memory for the heap, spark.executor.memoryOverhead for " +
		"what is outside of it (Python, native libraries), or lower the executors' cores."
	a.found.add(f)
}

// executors returns the beginning of a sentence about executors, with its verb.
func executors(n int, one, many string) string {
	if n == 1 {
		return "An executor " + one
	}
	return fmt.Sprintf("%d executors %s", n, many)
}

// reasons quotes the reason of the first removal.
func reasons(gone []tables.Executor) string {
	return fmt.Sprintf("Executor %s on %s: %s", gone[0].ExecutorID, host(gone[0].HostPort), firstLine(*gone[0].RemoveReason))
}

// citeRemovals adds the reasons of removals as evidence, of many the first.
func citeRemovals(f *tables.Finding, gone []tables.Executor) {
	for _, x := range gone[:min(len(gone), rules.MostOfRule)] {
		cite(f, executorsTable, "executor_id="+x.ExecutorID, "remove_reason", firstLine(*x.RemoveReason))
	}
}

// idleCores finds applications whose executors had no task most of the time. It claims no
// time: only what the cores cost.
func idleCores(a *application) {
	if a.CoreMillis == nil || *a.CoreMillis <= 0 || a.runTime <= 0 {
		return
	}
	cores := float64(*a.CoreMillis)
	idle := max(0, cores-a.runTime)
	f := judged(rules.IdleCores, idle/cores)
	if f == nil {
		return
	}
	f.CoreHours = new(hours(idle))
	f.Summary = fmt.Sprintf("The executors' cores had no task during %s of their time: %.3g of %.3g core-hours.", percent(idle/cores),
		hours(idle), hours(cores))
	cite(f, applicationTable, "", "core_ms", *a.CoreMillis)
	f.Advice = "Hold fewer executors while the driver works or few tasks run."
	a.change(f, "spark.dynamicAllocation.enabled", "")
	a.found.add(f)
}

// memoryIdle finds applications whose executors use little of their heap.
func memoryIdle(a *application) {
	rule := rules.Get(rules.MemoryIdle)
	if known(a.ExecutorMemory) <= 0 || float64(known(a.DurationMillis)) < rule.Floor(rules.MinWall) {
		return
	}
	peak, measured := a.peakHeap()
	if float64(measured) < rule.Floor(rules.MinExecutors) {
		return
	}
	f := judged(rules.MemoryIdle, float64(peak)/float64(*a.ExecutorMemory))
	if f == nil {
		return
	}
	f.Summary = fmt.Sprintf("No executor's heap held more than %s of its %s.", size(float64(peak)), size(float64(*a.ExecutorMemory)))
	cite(f, executorsTable, "", "max(peak_jvm_heap_bytes)", peak)
	cite(f, applicationTable, "", "executor_memory_bytes", *a.ExecutorMemory)
	a.change(f, "spark.executor.memory", mebibytes(float64(peak)*rule.Floor(rules.WantedReserve)))
	a.found.add(f)
}

// peakHeap returns the largest peak of an executor's heap, in bytes, and how many executors have
// one.
func (a *application) peakHeap() (peak int64, measured int) {
	for _, x := range a.executors {
		if x.PeakJVMHeap != nil && *x.PeakJVMHeap > 0 {
			peak, measured = max(peak, *x.PeakJVMHeap), measured+1
		}
	}
	return peak, measured
}

// memoryOverheadLow finds containers that are almost full.
func memoryOverheadLow(a *application) {
	peak := int64(0)
	for _, x := range a.executors {
		peak = max(peak, known(x.PeakProcessTreeRSS))
	}
	if peak == 0 || known(a.ExecutorMemory) <= 0 {
		return // not measured
	}
	container, ok := a.container()
	if !ok {
		a.lack(rules.MemoryOverheadLow, "neither spark.executor.memoryOverhead nor its factor is set, and the default depends on the release")
		return
	}
	f := judged(rules.MemoryOverheadLow, float64(peak)/container)
	if f == nil {
		return
	}
	f.Summary = fmt.Sprintf("The processes of an executor held %s of its container's %s: YARN kills it if they need more.",
		size(float64(peak)), size(container))
	cite(f, executorsTable, "", "max(peak_process_tree_rss_bytes)", peak)
	reserve := rules.Get(rules.MemoryOverheadLow).Floor(rules.WantedReserve)
	overhead, _ := a.overhead()
	a.change(f, overheadProperty, mebibytes(overhead+float64(peak)*reserve-container))
	a.found.add(f)
}

const overheadProperty = "spark.executor.memoryOverhead"

// overhead returns what a container has beside the heap, in bytes, as
// org.apache.spark.resource.ResourceProfile computes it.
func (a *application) overhead() (float64, bool) {
	if overhead, set := memory(a.settings[overheadProperty]); set {
		return overhead, true
	}
	factor, set := number(cmp.Or(a.settings["spark.executor.memoryOverheadFactor"], a.settings["spark.yarn.executor.memoryOverheadFactor"]))
	least := rules.Get(rules.MemoryOverheadLow).Floor(rules.LeastOverhead)
	return max(least, factor*float64(known(a.ExecutorMemory))), set
}

// container returns the size of an executor's container, in bytes.
func (a *application) container() (float64, bool) {
	overhead, ok := a.overhead()
	python, _ := memory(a.settings["spark.executor.pyspark.memory"])
	offHeap := int64(0)
	if strings.EqualFold(a.settings["spark.memory.offHeap.enabled"], "true") {
		offHeap, _ = platform.ParseSparkSize(a.settings["spark.memory.offHeap.size"], 1)
	}
	return float64(known(a.ExecutorMemory)) + overhead + python + float64(offHeap), ok
}

// executorChurn finds applications whose executors come and go.
func executorChurn(a *application) {
	rule := rules.Get(rules.ExecutorChurn)
	short, all := 0, 0
	for _, x := range a.executors {
		if x.AddTime <= 0 {
			continue
		}
		all++
		if x.RemoveTime > 0 && float64(x.RemoveTime-x.AddTime) < rule.Floor(rules.ShortLife) {
			short++
		}
	}
	if float64(all) < rule.Floor(rules.MinExecutors) || float64(known(a.DurationMillis)) < rule.Floor(rules.MinWall) {
		return
	}
	f := judged(rules.ExecutorChurn, float64(short)/float64(all))
	if f == nil {
		return
	}
	f.Summary = fmt.Sprintf("%d of %d executors lived less than %s: to start one takes seconds, and its cache is lost.", short, all,
		millis(rule.Floor(rules.ShortLife)))
	cite(f, executorsTable, "", "count", all)
	if !strings.EqualFold(a.settings["spark.dynamicAllocation.enabled"], "false") {
		a.change(f, "spark.dynamicAllocation.executorIdleTimeout", "")
	}
	a.found.add(f)
}

// host returns the host of a host and port.
func host(hostPort string) string {
	name, _, _ := strings.Cut(hostPort, ":")
	return cmp.Or(name, "an unknown host")
}
