package fold

import (
	"slices"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// p95Quantile is the quantile by which skew is judged besides tables.Quantiles.
const p95Quantile = 0.95

// quantiles lists those of the rows and p95Quantile, ascending as Spark answers them, and
// returns the place of the latter.
func quantiles() (all []float64, p95 int) {
	all = append(tables.Quantiles(), p95Quantile)
	slices.Sort(all)
	return all, slices.Index(all, p95Quantile)
}

// summarize returns the quantiles of a stage's tasks, and the 95th percentile of their
// durations; nil if no task that succeeded had metrics.
//
// As org.apache.spark.status.AppStatusStore.taskSummary: the value at index floor(q·n) of
// the sorted values, n being the successful tasks. Durations, scheduler delays and the
// times of getting the result are sorted together with those of the tasks that did not
// succeed, though. Values below 0 are left out.
func (l *listener) summarize(s *stage) (summary *tables.TaskSummary, p95 float64) {
	count := s.samples.count
	if count == 0 {
		return nil, 0
	}
	all, extra := quantiles()
	lists := make([][]float64, metrics)
	for m := range metrics {
		values := s.samples.column(m, l.scratch[:0])
		if m <= gettingResult {
			values = append(values, s.others[m]...)
		}
		l.scratch = values
		lists[m] = at(all, count, values)
	}
	p95 = lists[taskDuration][extra]
	for m := range metrics {
		lists[m] = slices.Delete(lists[m], extra, extra+1)
	}
	return &tables.TaskSummary{
		Duration: lists[taskDuration], DeserializeTime: lists[deserializeTime], DeserializeCPUTime: lists[deserializeCPUTime],
		RunTime: lists[runTime], CPUTime: lists[cpuTime], ResultSize: lists[resultSize], JVMGCTime: lists[gcTime],
		ResultSerialization: lists[resultSerialization], GettingResultTime: lists[gettingResult], SchedulerDelay: lists[schedulerDelay],
		PeakExecutionMemory: lists[peakMemory], MemoryBytesSpilled: lists[memorySpilled], DiskBytesSpilled: lists[diskSpilled],
		InputBytes: lists[inputBytes], InputRecords: lists[inputRecords], OutputBytes: lists[outputBytes], OutputRecords: lists[outputRecords],
		ShuffleReadBytes: lists[readBytes], ShuffleReadRecords: lists[readRecords], ShuffleRemoteBlocks: lists[remoteBlocks],
		ShuffleLocalBlocks: lists[localBlocks], ShuffleFetchWaitTime: lists[fetchWait], ShuffleRemoteBytes: lists[remoteBytes],
		ShuffleRemoteToDisk: lists[remoteToDisk], ShuffleTotalBlocks: lists[totalBlocks], ShuffleWriteBytes: lists[writeBytes],
		ShuffleWriteRecords: lists[writeRecords], ShuffleWriteTime: lists[writeTime],
	}, p95
}

// at returns the values at the quantiles of count values. It reorders them.
func at(quantiles []float64, count int64, values []int64) []float64 {
	if slices.Min(values) < 0 {
		values = slices.DeleteFunc(values, func(v int64) bool { return v < 0 })
	}
	if len(values) == 0 {
		return make([]float64, len(quantiles))
	}
	if least := slices.Min(values); least == slices.Max(values) {
		return slices.Repeat([]float64{float64(least)}, len(quantiles))
	}
	places := make([]int, len(quantiles))
	for i, q := range quantiles {
		places[i] = min(int(min(int64(q*float64(count)), count-1)), len(values)-1)
	}
	return ranked(values, places)
}
