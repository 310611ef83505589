package findings

import (
	"fmt"
	"math"
	"strings"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/rules"
)

// durations returns the quantiles of the tasks' durations, nil if Spark has none.
func (s *stage) durations() []float64 {
	if s.summary == nil || len(s.summary.Duration) <= tables.Highest {
		return nil
	}
	return s.summary.Duration
}

// moved returns the bytes that the tasks read and wrote.
func (s *stage) moved() float64 {
	return float64(s.InputBytes + s.OutputBytes + s.ShuffleReadBytes + s.ShuffleWriteBytes)
}

// partitions returns how many partitions hold the bytes if each has the advised size: a
// multiple of the application's cores, so that no core is idle at the end.
func (a *application) partitions(id rules.ID, bytes float64) string {
	cores := float64(max(1, known(a.MaxTotalCores)))
	n := bytes / min(rules.Get(id).Floor(rules.TargetBytes), a.taskMemory())
	return fmt.Sprint(int64(math.Ceil(max(1, n)/cores) * cores))
}

// taskMemory returns the execution memory that each of an executor's tasks has, in bytes, as
// org.apache.spark.memory.UnifiedMemoryManager divides the heap; infinite if it is unknown.
func (a *application) taskMemory() float64 {
	rule := rules.Get(rules.Spill)
	share, set := number(a.settings["spark.memory.fraction"])
	if !set {
		share = rule.Floor(rules.ExecutionShare)
	}
	memory := (float64(known(a.ExecutorMemory)) - rule.Floor(rules.ReservedMemory)) * share / float64(max(1, known(a.ExecutorCores)))
	if memory <= 0 {
		return math.Inf(1)
	}
	return memory
}

// spill finds stages whose tasks write to disk what does not fit into memory. The impact is
// the stage's duration times the share of spilled bytes, which are written and read, in all
// that its tasks moved.
func spill(a *application, s *stage) *tables.Finding {
	if s.summary == nil || len(s.summary.DiskBytesSpilled) <= tables.Highest {
		return nil
	}
	most := s.summary.DiskBytesSpilled[tables.Highest]
	f := ofStage(rules.Spill, s, most)
	if f == nil {
		return nil
	}
	twice := float64(s.DiskBytesSpilled + s.DiskBytesSpilled)
	costsShare(f, s, twice/(twice+s.moved()))
	f.Summary = fmt.Sprintf("%s spilled %s to disk, one of its %d tasks %s: what they sort or aggregate does not fit into their memory.",
		s.title(), size(float64(s.DiskBytesSpilled)), s.NumTasks, size(most))
	s.citeSummary(f, "disk_bytes_spilled", s.summary.DiskBytesSpilled)
	s.cite(f, "disk_bytes_spilled", s.DiskBytesSpilled)
	s.cite(f, "memory_bytes_spilled", s.MemoryBytesSpilled)
	if s.ShuffleReadBytes > 0 {
		f.Advice = "Use smaller partitions."
		a.morePartitions(f, s, float64(max(s.ShuffleReadBytes, s.MemoryBytesSpilled)))
	} else {
		f.Advice = "Give each task less to hold: read smaller partitions, or select fewer columns before sorting or aggregating."
	}
	a.fewerCores(f)
	return f
}

// morePartitions advises partitions of the advised size for a stage that reads a shuffle, if
// it has fewer. If more are set already, adaptive execution has merged them.
func (a *application) morePartitions(f *tables.Finding, s *stage, bytes float64) {
	const property = "spark.sql.shuffle.partitions"
	wanted := a.partitions(rules.ID(f.Finding), bytes)
	n, ok := number(wanted)
	if !ok || n <= float64(s.NumTasks) {
		return
	}
	now, set := number(a.settings[property])
	if !set {
		now = rules.DefaultShufflePartitions
	}
	if now >= n {
		a.change(f, "spark.sql.adaptive.advisoryPartitionSizeInBytes", fmt.Sprint(int64(float64(s.ShuffleReadBytes)/n)))
		return
	}
	a.change(f, property, wanted)
}

// fewerCores advises fewer cores for executors that have more than the rule's value.
func (a *application) fewerCores(f *tables.Finding) {
	for _, c := range rules.Get(rules.ID(f.Finding)).Changes {
		if c.Property != "spark.executor.cores" {
			continue
		}
		now, set := number(a.settings[c.Property])
		if most, ok := number(c.Value); ok && set && now > most {
			a.change(f, c.Property, "")
		}
	}
}

// ofRunTime returns the finding of a rule for the share of a column, in milliseconds, in the run
// time of a stage's tasks; nil if it is within the limit. The impact is that share of the
// stage's duration.
func ofRunTime(id rules.ID, s *stage, column string, ms int64) *tables.Finding {
	run := float64(s.ExecutorRunTime)
	if run < rules.Get(id).Floor(rules.MinRunTime) {
		return nil
	}
	f := ofStage(id, s, float64(ms)/run)
	if f == nil {
		return nil
	}
	costsShare(f, s, *f.Value)
	s.cite(f, column, ms)
	s.cite(f, "executor_run_time", s.ExecutorRunTime)
	return f
}

// collection finds stages whose tasks spend their time in garbage collection.
func collection(a *application, s *stage) *tables.Finding {
	f := ofRunTime(rules.GC, s, "jvm_gc_time", s.JVMGCTime)
	if f == nil {
		return nil
	}
	f.Summary = fmt.Sprintf("%s spent %s of its tasks' time in garbage collection.", s.title(), percent(*f.Value))
	heap := known(a.ExecutorMemory)
	peak, measured := a.peakHeap()
	if full := float64(peak) / float64(max(1, heap)); measured > 0 && heap > 0 && full < rules.Get(rules.MemoryIdle).Warn {
		f.Advice = fmt.Sprintf("No executor's heap was ever more than %s full, so more memory does not help. Open the flame graph of "+
			"allocations: built-in functions allocate less than UDFs. Collections also take long where the host's cores are busy.", percent(full))
		return f
	}
	f.Advice = "Give each task more heap: raise spark.executor.memory, or lower the executors' cores. Uncache what is no longer needed."
	if heap > 0 {
		a.change(f, "spark.executor.memory", mebibytes(float64(heap+heap)))
	}
	a.fewerCores(f)
	return f
}

// fetchWait finds stages whose tasks wait for shuffle blocks.
func fetchWait(a *application, s *stage) *tables.Finding {
	f := ofRunTime(rules.FetchWait, s, "shuffle_fetch_wait_time", s.ShuffleFetchWaitTime)
	if f == nil {
		return nil
	}
	f.Summary = fmt.Sprintf("The tasks of %s waited for shuffle blocks during %s of their time.", s.name(), percent(*f.Value))
	f.Advice = "Look for lost executors and busy disks on the hosts that serve the blocks; move less data through the shuffle."
	a.change(f, "spark.reducer.maxSizeInFlight", "")
	return f
}

// smallBlocks finds stages that wait for very many small shuffle blocks.
func smallBlocks(a *application, s *stage) *tables.Finding {
	rule := rules.Get(rules.SmallBlocks)
	blocks, run := float64(s.ShuffleRemoteBlocks+s.ShuffleLocalBlocks), float64(s.ExecutorRunTime)
	if blocks < rule.Floor(rules.MinBlocks) || run <= 0 || float64(s.ShuffleFetchWaitTime)/run < rule.Floor(rules.MinWait) {
		return nil
	}
	mean := float64(s.ShuffleReadBytes) / blocks
	f := ofStage(rules.SmallBlocks, s, mean)
	if f == nil {
		return nil
	}
	costsShare(f, s, float64(s.ShuffleFetchWaitTime)/run)
	f.Summary = fmt.Sprintf("%s fetched %s shuffle blocks of %s on average, and its tasks waited for them.", s.title(), count(int64(blocks)),
		size(mean))
	s.cite(f, "shuffle_read_bytes", s.ShuffleReadBytes)
	s.cite(f, "shuffle_remote_blocks_fetched", s.ShuffleRemoteBlocks)
	s.cite(f, "shuffle_local_blocks_fetched", s.ShuffleLocalBlocks)
	f.Advice = "Use fewer partitions: a block is what one task wrote for another."
	a.fewerPartitions(f, s)
	return f
}

// fewerPartitions advises partitions of the advised size for a stage that reads a shuffle, if
// it has more.
func (a *application) fewerPartitions(f *tables.Finding, s *stage) {
	if !strings.EqualFold(a.settings["spark.sql.adaptive.enabled"], "false") {
		a.change(f, "spark.sql.adaptive.coalescePartitions.parallelismFirst", "")
	}
	wanted := a.partitions(rules.ID(f.Finding), float64(s.ShuffleReadBytes))
	if n, ok := number(wanted); ok && n < float64(s.NumTasks) {
		a.change(f, "spark.sql.shuffle.partitions", wanted)
	}
}

// largeShuffleReads finds stages of which a task reads very much of a shuffle.
func largeShuffleReads(a *application, s *stage) *tables.Finding {
	if s.summary == nil || !some(s.summary.ShuffleReadBytes) || !a.enough(s, rules.Get(rules.LargeShuffleReads).Floor(rules.MinStage)) {
		return nil
	}
	most := s.summary.ShuffleReadBytes[tables.Highest]
	f := ofStage(rules.LargeShuffleReads, s, most)
	if f == nil {
		return nil
	}
	f.Summary = fmt.Sprintf("A task of %s read %s of shuffled data, the median one %s.", s.name(), size(most),
		size(s.summary.ShuffleReadBytes[tables.Median]))
	s.citeSummary(f, "shuffle_read_bytes", s.summary.ShuffleReadBytes)
	f.Advice = "Use smaller partitions, so that tasks need less memory and a failed one repeats less."
	a.morePartitions(f, s, float64(s.ShuffleReadBytes))
	return f
}

// largePartition finds stages of which a task reads a very large input.
func largePartition(a *application, s *stage) *tables.Finding {
	rule := rules.Get(rules.LargePartition)
	if s.summary == nil || !some(s.summary.InputBytes) || !a.enough(s, rule.Floor(rules.MinStage)) {
		return nil
	}
	most := s.summary.InputBytes[tables.Highest]
	f := ofStage(rules.LargePartition, s, most)
	if f == nil && float64(s.NumCompleteTasks) <= rule.Floor(rules.FewTasks) && most >= rule.Floor(rules.FewTasksBytes) {
		f = ofStage(rules.LargePartition, s, rule.Warn)
		f.Value, f.Limit = &most, new(rule.Floor(rules.FewTasksBytes))
	}
	if f == nil {
		return nil
	}
	f.Summary = fmt.Sprintf("A task of %s read %s; the stage had %d tasks.", s.name(), size(most), s.NumCompleteTasks)
	s.citeSummary(f, "input_bytes", s.summary.InputBytes)
	f.Advice = "Files that cannot be split (gzip, or one large row group) are read by one task each: write several splittable ones."
	a.change(f, "spark.sql.files.maxPartitionBytes", "")
	return f
}

// largeResult finds stages whose tasks send much to the driver.
func largeResult(a *application, s *stage) *tables.Finding {
	if !a.enough(s, rules.Get(rules.ResultLarge).Floor(rules.MinStage)) {
		return nil
	}
	f := ofStage(rules.ResultLarge, s, float64(s.ResultSize))
	if f == nil {
		return nil
	}
	f.Summary = fmt.Sprintf("The tasks of %s sent %s to the driver.", s.name(), size(float64(s.ResultSize)))
	s.cite(f, "result_size", s.ResultSize)
	f.Advice = "Write the result from the executors instead of collecting it (collect, toPandas), or aggregate first."
	return f
}
