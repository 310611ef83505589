package findings_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/findings"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/rules"
)

// limit is a rule's case: a healthy application, changed so that it is at or beyond the
// limit; each of others is a further change that leaves it healthy by this rule.
type limit struct {
	at     func(w *world)
	others map[string]func(w *world)
}

// smallFiles is the case of an operator with many small files.
func smallFiles(id rules.ID, name, files, bytes string) limit {
	n := rules.Get(id).Floor(rules.MinFiles) + 1
	return limit{
		at: func(w *world) { w.operator(1, name, files, n); w.operator(1, name, bytes, n*rules.Get(id).Warn) },
		others: map[string]func(w *world){
			"larger":  func(w *world) { *w.nodes[3].Value += int64(n) },
			"fewer":   func(w *world) { *w.nodes[2].Value--; *w.nodes[3].Value = 1 },
			"unknown": func(w *world) { w.nodes[3].Value = nil },
			"short":   func(w *world) { *w.sql[1].DurationMillis = 29_999 },
		},
	}
}

// limits has a case for each rule that the tables judge.
func limits() map[rules.ID]limit {
	get := rules.Get
	floor := func(id rules.ID, name rules.FloorName) int64 { return int64(get(id).Floor(name)) }
	return map[rules.ID]limit{
		rules.Skew: {
			at: func(w *world) {
				s, q := w.stage()
				s.ExecutorRunTime = 1000 // no more than all cores finish within the median
				q.Duration = []float64{900, 950, 1000, 1050, 50_000}
				q.DurationP95 = new(1000 * get(rules.Skew).Warn)
			},
			others: map[string]func(w *world){
				"one slow task of many": func(w *world) { *w.summaries[0].DurationP95-- },
				"short":                 func(w *world) { w.summaries[0].Duration[4] = 1000 + get(rules.Skew).Floor(rules.SkewExcess) - 1 },
				"a short stage":         func(w *world) { w.stages[0].DurationMillis = new(int64(1999)) },
				"one task":              func(w *world) { w.stages[0].NumCompleteTasks = 1 },
				"the first tasks":       func(w *world) { w.cold = true },
				"busy cores":            func(w *world) { w.stages[0].ExecutorRunTime = 10 * (minute - 999) },
				"few tasks, all slow": func(w *world) {
					w.stages[0].NumCompleteTasks = floor(rules.Skew, rules.SkewFewTasks) - 1
					w.summaries[0].Duration[4] = 2999
				},
			},
		},
		rules.Spill: {
			at: func(w *world) {
				s, q := w.stage()
				s.DiskBytesSpilled, s.MemoryBytesSpilled, s.ShuffleReadBytes, s.DurationMillis = 10*gib, 20*gib, 20*gib, new(int64(10*minute))
				q.DiskBytesSpilled = []float64{0, 0, 1, 2, get(rules.Spill).Warn}
			},
			others: map[string]func(w *world){
				"each task a little": func(w *world) { w.summaries[0].DiskBytesSpilled[4]-- },
				"a short stage":      func(w *world) { w.stages[0].DurationMillis = new(int64(1000)) },
			},
		},
		rules.GC: {
			at: func(w *world) {
				w.stages[0].JVMGCTime = int64(get(rules.GC).Warn * 10 * minute)
				w.stages[0].DurationMillis = new(int64(10 * minute))
			},
			others: map[string]func(w *world){
				"a little": func(w *world) { w.stages[0].JVMGCTime-- },
				"little run time": func(w *world) {
					s, _ := w.stage()
					s.ExecutorRunTime = floor(rules.GC, rules.MinRunTime) - 1
					s.JVMGCTime = s.ExecutorRunTime
				},
			},
		},
		rules.FetchWait: {
			at: func(w *world) {
				w.stages[0].ShuffleFetchWaitTime = int64(get(rules.FetchWait).Warn * 10 * minute)
				w.stages[0].DurationMillis = new(int64(10 * minute))
			},
			others: map[string]func(w *world){
				"a little": func(w *world) { w.stages[0].ShuffleFetchWaitTime-- },
				"little run time": func(w *world) {
					s, _ := w.stage()
					s.ExecutorRunTime = floor(rules.FetchWait, rules.MinRunTime) - 1
					s.ShuffleFetchWaitTime = s.ExecutorRunTime
				},
			},
		},
		rules.SmallBlocks: {
			at: func(w *world) {
				s, _ := w.stage()
				s.ShuffleRemoteBlocks = floor(rules.SmallBlocks, rules.MinBlocks)
				s.ShuffleReadBytes = s.ShuffleRemoteBlocks * int64(get(rules.SmallBlocks).Warn)
				s.ShuffleFetchWaitTime, s.DurationMillis = minute, new(int64(10*minute))
			},
			others: map[string]func(w *world){
				"larger":       func(w *world) { w.stages[0].ShuffleReadBytes += w.stages[0].ShuffleRemoteBlocks },
				"fewer":        func(w *world) { w.stages[0].ShuffleRemoteBlocks-- },
				"no one waits": func(w *world) { w.stages[0].ShuffleFetchWaitTime-- },
				"no run time":  func(w *world) { w.stages[0].ExecutorRunTime = 0 },
			},
		},
		rules.LargeShuffleReads: {
			at: func(w *world) {
				w.stages[0].ShuffleReadBytes = 20 * gib
				w.summaries[0].ShuffleReadBytes = []float64{0, 1, 2, 3, get(rules.LargeShuffleReads).Warn}
			},
			others: map[string]func(w *world){
				"less":          func(w *world) { w.summaries[0].ShuffleReadBytes[4]-- },
				"a short stage": func(w *world) { w.stages[0].DurationMillis = new(int64(29_999)) },
			},
		},
		rules.LargePartition: {
			at: func(w *world) { w.summaries[0].InputBytes = equal(get(rules.LargePartition).Warn) },
			others: map[string]func(w *world){
				"less":          func(w *world) { w.summaries[0].InputBytes[4]-- },
				"a short stage": func(w *world) { w.stages[0].DurationMillis = new(int64(29_999)) },
			},
		},
		rules.TinyTasks: {
			at: func(w *world) {
				s, q := w.stage()
				s.NumCompleteTasks = floor(rules.TinyTasks, rules.MinTasks)
				q.Duration, q.DurationP95 = equal(get(rules.TinyTasks).Warn), new(get(rules.TinyTasks).Floor(rules.MaxP95))
				q.SchedulerDelay = equal(get(rules.TinyTasks).Warn)
			},
			others: map[string]func(w *world){
				"longer":         func(w *world) { w.summaries[0].Duration[2]++ },
				"some are long":  func(w *world) { *w.summaries[0].DurationP95++ },
				"fewer":          func(w *world) { w.stages[0].NumCompleteTasks-- },
				"all of it runs": func(w *world) { w.summaries[0].SchedulerDelay = equal(0) },
			},
		},
		rules.LowParallelism: {
			at: func(w *world) { w.stages[0].NumTasks, w.stages[0].DurationMillis = 5, new(int64(minute)) },
			others: map[string]func(w *world){
				"more tasks":      func(w *world) { w.stages[0].NumTasks++ },
				"fewer cores":     func(w *world) { w.executors[1].TotalCores-- },
				"came later":      func(w *world) { w.executors[1].AddTime = 20 * minute },
				"went earlier":    func(w *world) { w.executors[1].RemoveTime = 5 * minute },
				"little run time": func(w *world) { w.stages[0].ExecutorRunTime = floor(rules.LowParallelism, rules.MinRunTime) - 1 },
				"no executors":    func(w *world) { w.executors = w.executors[:1] },
				"no times":        func(w *world) { w.stages[0].CompletionTime = 0 },
			},
		},
		rules.FailedTasks: {
			at: func(w *world) {
				s, _ := w.stage()
				s.NumFailedTasks, s.NumCompleteTasks = floor(rules.FailedTasks, rules.MinFailed), 90
				s.DurationMillis = new(int64(10 * minute))
			},
			others: map[string]func(w *world){
				"fewer":            func(w *world) { w.stages[0].NumFailedTasks--; w.stages[0].NumCompleteTasks = 1 },
				"of more":          func(w *world) { w.stages[0].NumCompleteTasks++ },
				"resubmitted ones": func(w *world) { *w.stages[0].NumResubmittedTasks = 1 },
			},
		},
		rules.StageRetries: {
			at: func(w *world) {
				again := w.stages[0]
				again.StageAttemptID = 1
				w.stages = append(w.stages, again)
			},
			others: map[string]func(w *world){
				"short":   func(w *world) { w.stages[1].CompletionTime = w.stages[1].SubmissionTime + 999 },
				"skipped": func(w *world) { w.stages[1].Status = "SKIPPED" },
			},
		},
		rules.SlowHost: {
			at: func(w *world) {
				*w.summaries[0].WorstHostMean = 6000 * get(rules.SlowHost).Warn
				*w.stages[0].DurationMillis = 10 * minute
			},
			others: map[string]func(w *world){
				"a little":  func(w *world) { *w.summaries[0].WorstHostMean-- },
				"two hosts": func(w *world) { *w.summaries[0].Hosts = 2 },
				"few tasks": func(w *world) { *w.summaries[0].WorstHostTasks-- },
				"short":     func(w *world) { *w.summaries[0].HostsMean, *w.summaries[0].WorstHostMean = 1, 1000 },
				"unknown":   func(w *world) { w.summaries[0].HostSpread = tables.HostSpread{} },
			},
		},
		rules.Speculation: {
			at: func(w *world) {
				w.settings["spark.speculation"] = "true"
				w.stages[0].NumKilledTasks, w.stages[0].NumCompleteTasks = floor(rules.Speculation, rules.MinFailed), 45
			},
			others: map[string]func(w *world){
				"off":           func(w *world) { w.settings = nil },
				"fewer":         func(w *world) { w.stages[0].NumKilledTasks--; w.stages[0].NumCompleteTasks = 1 },
				"of more":       func(w *world) { w.stages[0].NumCompleteTasks++ },
				"a short stage": func(w *world) { w.stages[0].DurationMillis = new(int64(29_999)) },
			},
		},
		rules.ResultLarge: {
			at: func(w *world) { w.stages[0].ResultSize = int64(get(rules.ResultLarge).Warn) },
			others: map[string]func(w *world){
				"less":          func(w *world) { w.stages[0].ResultSize-- },
				"a short stage": func(w *world) { w.stages[0].DurationMillis = new(int64(29_999)) },
			},
		},
		rules.JobFailure: {
			at: func(w *world) { w.application.Outcome = new("failed") },
			others: map[string]func(w *world){
				"succeeded": func(w *world) { w.application.Outcome = new("succeeded") },
				"unknown":   func(w *world) { w.application.Outcome = nil },
			},
		},
		rules.Slower: {
			at: func(w *world) {
				usual := int64(100 * minute / get(rules.Slower).Warn)
				for i := range floor(rules.Slower, rules.MinRuns) {
					w.earlier = append(w.earlier, findings.Run{ApplicationID: fmt.Sprint(i), DurationMillis: usual + i - 2})
				}
			},
			others: map[string]func(w *world){
				"a little": func(w *world) { *w.application.DurationMillis -= 2 },
				"few runs": func(w *world) { w.earlier = w.earlier[1:] },
				"varying runs": func(w *world) {
					w.earlier[0].DurationMillis, w.earlier[1].DurationMillis, w.earlier[4].DurationMillis = 1, 1, 1e8
				},
				"killed": func(w *world) { w.application.Completed = false },
				"short": func(w *world) {
					for i := range w.earlier {
						w.earlier[i].DurationMillis = 100
					}
					*w.application.DurationMillis = floor(rules.Slower, rules.MinExcess) + 99
				},
			},
		},
		rules.ResourceWait: {
			at: func(w *world) { w.phase("resource_wait", int64(get(rules.ResourceWait).Warn), 0.05) },
			others: map[string]func(w *world){
				"shorter":           func(w *world) { w.phase("resource_wait", int64(get(rules.ResourceWait).Warn)-1, 0.05) },
				"a cold start":      func(w *world) { w.phase("resource_wait", floor(rules.ResourceWait, rules.ShortWait)/1000-1, 0.9) },
				"less than a share": func(w *world) { w.phase("resource_wait", 299, 0.29) },
			},
		},
		rules.SlowWrite: {
			at: func(w *world) {
				w.phase("io_write", floor(rules.SlowWrite, rules.MinPhase)/1000, get(rules.SlowWrite).Warn)
			},
			others: map[string]func(w *world){
				"a smaller share": func(w *world) { w.phase("io_write", 60, get(rules.SlowWrite).Warn-0.01) },
				"short":           func(w *world) { w.phase("io_write", 59, 0.9) },
			},
		},
		rules.DriverBound: {
			at: func(w *world) {
				w.phase("driver", floor(rules.DriverBound, rules.MinPhase)/1000, get(rules.DriverBound).Warn)
			},
			others: map[string]func(w *world){
				"a smaller share": func(w *world) { w.phase("driver", 60, get(rules.DriverBound).Warn-0.01) },
				"short":           func(w *world) { w.phase("driver", 59, 0.9) },
				"an idle shell":   func(w *world) { w.phase("driver", 10, 0.01); w.phase("idle", 5900, 0.9) },
			},
		},
		rules.IdleCores: {
			at: func(w *world) {
				w.application.CoreMillis = new(int64(120 * minute))
				w.stages[0].ExecutorRunTime = 60 * minute
			},
			others: map[string]func(w *world){
				"busier": func(w *world) { w.stages[0].ExecutorRunTime++ },
				"cheap": func(w *world) {
					w.application.CoreMillis = new(int64(119 * minute))
					w.stages[0].ExecutorRunTime = 59.5 * minute
				},
				"no job": func(w *world) { w.stages = nil },
			},
		},
		rules.MemoryIdle: {
			at: func(w *world) {
				for i := range w.executors {
					w.executors[i].PeakJVMHeap = new(int64(get(rules.MemoryIdle).Warn * 4 * gib))
				}
			},
			others: map[string]func(w *world){
				"one uses it":   func(w *world) { *w.executors[3].PeakJVMHeap += mib },
				"few executors": func(w *world) { w.executors = w.executors[:3] },
				"short":         func(w *world) { w.application.DurationMillis = new(floor(rules.MemoryIdle, rules.MinWall) - 1) },
			},
		},
		rules.MemoryOverheadLow: {
			at: func(w *world) {
				w.settings["spark.executor.memoryOverhead"] = "1g"
				w.executors[2].PeakProcessTreeRSS = new(int64(get(rules.MemoryOverheadLow).Warn * 5 * gib))
			},
			others: map[string]func(w *world){
				"less":            func(w *world) { *w.executors[2].PeakProcessTreeRSS-- },
				"no limit is set": func(w *world) { w.settings = nil },
				"off heap": func(w *world) {
					w.settings["spark.memory.offHeap.enabled"], w.settings["spark.memory.offHeap.size"] = "true", "1g"
				},
				"Python": func(w *world) { w.settings["spark.executor.pyspark.memory"] = "1g" },
			},
		},
		rules.ExecutorsLost: {
			at: func(w *world) { w.remove(1, "lost", "Executor heartbeat timed out after 130000 ms") },
			others: map[string]func(w *world){
				"idle":      func(w *world) { w.remove(1, "idle", "Executor killed by driver.") },
				"preempted": func(w *world) { w.remove(1, "preempted", "Container was preempted.") },
			},
		},
		rules.ExecutorMemory: {
			at: func(w *world) {
				w.remove(1, "killed", "Container from a bad node: container_1 on host: h. Exit status: 137. Diagnostics: x")
			},
			others: map[string]func(w *world){
				"another code": func(w *world) { w.remove(1, "lost", "Container marked as failed. Exit status: 1370.") },
			},
		},
		rules.SmallFilesRead:    smallFiles(rules.SmallFilesRead, "Scan parquet t", "number of files read", "size of files read"),
		rules.SmallFilesWritten: smallFiles(rules.SmallFilesWritten, "Execute Insert", "number of written files", "written output"),
		rules.SlowCommit: {
			at: func(w *world) {
				w.operator(1, "Execute Insert", "job commit time", get(rules.SlowCommit).Warn*2*minute+6000+1)
				*w.sql[1].DurationMillis = 150_000
			},
			others: map[string]func(w *world){
				"of a longer one": func(w *world) { *w.sql[1].DurationMillis = 3 * minute },
				"short":           func(w *world) { *w.nodes[2].Value = floor(rules.SlowCommit, rules.MinCommit) - 1 },
				"no duration":     func(w *world) { w.sql[1].DurationMillis = nil },
			},
		},
		rules.LargeBroadcast: {
			at: func(w *world) { w.operator(1, "BroadcastExchange", "data size", get(rules.LargeBroadcast).Warn) },
			others: map[string]func(w *world){
				"less":      func(w *world) { *w.nodes[2].Value-- },
				"a shuffle": func(w *world) { w.nodes[2].NodeName = "Exchange" },
				"short":     func(w *world) { *w.sql[1].DurationMillis = 29_999 },
			},
		},
		rules.CrossJoin: {
			at: func(w *world) {
				*w.nodes[1].Value = int64(get(rules.CrossJoin).Floor(rules.MinRows) / get(rules.CrossJoin).Warn)
				w.operator(1, "BroadcastNestedLoopJoin", "number of output rows", get(rules.CrossJoin).Floor(rules.MinRows))
			},
			others: map[string]func(w *world){
				"fewer":      func(w *world) { *w.nodes[2].Value--; *w.nodes[1].Value = 1 },
				"of more":    func(w *world) { *w.nodes[1].Value++ },
				"with a key": func(w *world) { w.nodes[2].NodeName = "SortMergeJoin" },
				"short":      func(w *world) { *w.sql[1].DurationMillis = 29_999 },
			},
		},
		rules.PythonUDF: {
			at: func(w *world) {
				w.operator(1, "BatchEvalPython", "time to run Python workers", get(rules.PythonUDF).Warn*10*minute)
			},
			others: map[string]func(w *world){
				"less":            func(w *world) { *w.nodes[2].Value-- },
				"another job's":   func(w *world) { w.jobs[0].JobID = 5 },
				"little run time": func(w *world) { w.stages[0].ExecutorRunTime = floor(rules.PythonUDF, rules.MinRunTime) - 1 },
			},
		},
		rules.ExecutorChurn: {
			at: func(w *world) {
				for i := range 2 {
					w.remove(1+i, "idle", "Executor killed by driver.")
					w.executors[1+i].RemoveTime = w.executors[1+i].AddTime + floor(rules.ExecutorChurn, rules.ShortLife) - 1
				}
			},
			others: map[string]func(w *world){
				"lived longer":  func(w *world) { w.executors[1].RemoveTime++ },
				"few executors": func(w *world) { w.executors = w.executors[:5] },
				"short":         func(w *world) { w.application.DurationMillis = new(floor(rules.ExecutorChurn, rules.MinWall) - 1) },
			},
		},
	}
}

// Every rule with columns finds what is at its limit, and nothing of the sort below its limit
// or a floor.
func TestLimits(t *testing.T) {
	cases := limits()
	for _, rule := range rules.All() {
		if len(rule.Columns) == 0 {
			continue
		}
		t.Run(string(rule.ID), func(t *testing.T) {
			c, ok := cases[rule.ID]
			require.True(t, ok)
			w := healthy()
			c.at(w)
			found, _ := w.judge(t)
			require.Len(t, found[rule.ID], 1)
			require.Equal(t, rule.Warn, *found[rule.ID][0].Limit, "at the limit of a warning") //nolint:testifylint // it is copied
			require.Equal(t, string(rule.Basis), found[rule.ID][0].Basis)
			t.Log(found[rule.ID][0].Summary, found[rule.ID][0].Advice)
			require.NotEmpty(t, c.others)
			for name, change := range c.others {
				w := healthy()
				c.at(w)
				change(w)
				found, _ := w.judge(t)
				require.Emptyf(t, found[rule.ID], "%s: %+v", name, found[rule.ID])
			}
		})
	}
}

// Of files whose sizes Spark does not know, the stages' output counts: S3A's magic committer
// completes them later.
func TestFilesOfTheMagicCommitter(t *testing.T) {
	w := healthy()
	w.operator(1, "Execute InsertIntoHadoopFsRelationCommand", "number of written files", 200)
	w.operator(1, "Execute InsertIntoHadoopFsRelationCommand", "written output", 0)
	found, _ := w.judge(t)
	require.Empty(t, found[rules.SmallFilesWritten])
	w.stages[0].OutputBytes = 200 * mib
	found, _ = w.judge(t)
	require.InDelta(t, mib, *found[rules.SmallFilesWritten][0].Value, 0)
}

// Before Spark 4, which measures Python's time, it is what tasks did not do in the JVM.
func TestPythonBeforeSpark4(t *testing.T) {
	rule := rules.Get(rules.PythonUDF)
	udf := func(worked float64) *world { // in the JVM, as a share of the run time
		w := healthy()
		w.operator(1, "ArrowEvalPython", "number of output rows", 1000)
		s, _ := w.stage()
		s.ExecutorRunTime = 10 * minute
		s.ExecutorCPUTime = int64(worked / 2 * 10 * minute * 1e6)
		s.JVMGCTime, s.ShuffleFetchWaitTime, s.ShuffleWriteTime = int64(worked/2*9*minute), int64(worked/2*1*minute)-1000, 1000*1e6
		return w
	}
	found, _ := udf(1 - rule.Warn).judge(t)
	require.Len(t, found[rule.ID], 1)
	require.InDelta(t, rule.Warn, *found[rule.ID][0].Value, 1e-6)
	require.Contains(t, found[rule.ID][0].Summary, "did not compute in the JVM for 30 %")
	found, _ = udf(1 - rule.Warn + 0.001).judge(t)
	require.Empty(t, found[rule.ID])
	w := udf(0)
	w.nodes[len(w.nodes)-1].NodeName = "HashAggregate"
	found, _ = w.judge(t)
	require.Empty(t, found[rule.ID], "it ran no Python")
}

// A value at the critical limit says so, and an event is then critical.
func TestCriticalLimits(t *testing.T) {
	w := healthy()
	w.stages[0].ResultSize = int64(rules.Get(rules.ResultLarge).Critical) + 1
	w.phase("resource_wait", int64(rules.Get(rules.ResourceWait).Critical), 0.1)
	for i := range int(rules.Get(rules.ExecutorsLost).Critical) {
		w.remove(1+i, "lost", "lost")
	}
	found, _ := w.judge(t)
	for _, id := range []rules.ID{rules.ResultLarge, rules.ResourceWait, rules.ExecutorsLost} {
		require.Len(t, found[id], 1)
		require.Equal(t, string(rules.Critical), found[id][0].Severity, id)
		require.InDelta(t, rules.Get(id).Critical, *found[id][0].Limit, 0)
	}
}

// A wait that is short, but much of the application's time, is found with the limit it reached.
func TestShortWaits(t *testing.T) {
	w := healthy()
	w.phase("resource_wait", 30, 0.3)
	found, _ := w.judge(t)
	require.Len(t, found[rules.ResourceWait], 1)
	require.InDelta(t, 30, *found[rules.ResourceWait][0].Value, 0)
	require.InDelta(t, 30, *found[rules.ResourceWait][0].Limit, 0)
}

// What an older lake lacks is said, and not taken for healthy.
func TestOlderRowsAreNotChecked(t *testing.T) {
	w := healthy()
	w.phases = nil
	w.summaries[0].DurationP95, w.summaries[0].HostSpread = nil, tables.HostSpread{}
	w.stages[0].NumResubmittedTasks, w.stages[0].NumFailedTasks, w.stages[0].NumCompleteTasks = nil, 100, 100
	w.remove(1, "", "Executor heartbeat timed out")
	found, unchecked := w.judge(t)
	require.Empty(t, found)
	for _, id := range []rules.ID{
		rules.Skew, rules.TinyTasks, rules.FailedTasks, rules.ExecutorsLost, rules.ExecutorMemory, rules.ResourceWait, rules.SlowWrite,
		rules.DriverBound, rules.SlowHost,
	} {
		require.NotEmpty(t, unchecked[id], id)
	}
	require.Len(t, unchecked, 9)
	w.executors[1].RemoveReason = nil // no executor was lost: none of the failed tasks ran again for that
	found, _ = w.judge(t)
	require.Len(t, found[rules.FailedTasks], 1)
}

// Findings about stages of a running application are warnings, since their share of its time
// is unknown.
func TestRunningApplications(t *testing.T) {
	w := healthy()
	limits()[rules.Skew].at(w)
	w.application.DurationMillis = nil
	found, _ := w.judge(t)
	require.Equal(t, string(rules.Warning), found[rules.Skew][0].Severity)
	require.Nil(t, found[rules.Skew][0].ImpactRate)
}

// A stage's row without a summary, and a summary without a stage's row, do no harm.
func TestRowsWithoutTheOther(t *testing.T) {
	w := healthy()
	limits()[rules.Spill].at(w)
	earlier, later := w.summaries[0], w.summaries[0]
	earlier.StageID, later.StageID = 3, 9
	w.summaries = []tables.TaskSummary{earlier, w.summaries[0], later}
	other := w.stages[0]
	other.StageID = 5
	w.stages = []tables.StageRow{other, w.stages[0]}
	found, _ := w.judge(t)
	require.Len(t, found[rules.Spill], 1)
	require.Equal(t, int64(7), *found[rules.Spill][0].StageID)
}
