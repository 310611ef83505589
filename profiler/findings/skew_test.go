package findings_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/rules"
)

// skewed returns an application whose stage has so many tasks, of these durations and this
// 95th percentile, and lasted so long (all in milliseconds).
func skewed(tasks int64, stage int64, durations []float64, p95 float64) *world {
	w := healthy()
	s, q := w.stage()
	s.NumCompleteTasks, s.DurationMillis, s.InputBytes, q.InputBytes = tasks, &stage, 0, nil
	q.Duration, q.DurationP95, s.ExecutorRunTime = durations, &p95, 0
	w.application.DurationMillis = nil // a share of it would leave out short ones
	return w
}

// Uneven stages are found, whatever hides them; even ones, short ones and those with one slow
// task of many are not.
func TestSkew(t *testing.T) {
	for name, c := range map[string]struct {
		tasks    int64
		stage    int64
		duration []float64
		p95      float64
		impact   int64 // 0: none
	}{
		"even":                            {100, 20_000, []float64{900, 950, 1000, 1050, 2900}, 1100, 0},
		"one slow task of many":           {100, 60_000, []float64{900, 950, 1000, 1050, 50_000}, 1100, 0},
		"a slow twentieth":                {100, 60_000, []float64{900, 950, 1000, 1050, 50_000}, 3100, 49_000},
		"few tasks, one slow":             {19, 60_000, []float64{900, 950, 1000, 1050, 50_000}, 50_000, 49_000},
		"short":                           {100, 2000, []float64{1, 2, 3, 4, 1002}, 500, 0},
		"just long enough":                {100, 2000, []float64{1, 2, 3, 4, 1003}, 500, 1000},
		"no more than the stage's length": {100, 10_000, []float64{900, 950, 1000, 1050, 50_000}, 3100, 9000},
		"one task":                        {1, 60_000, []float64{1000, 1000, 1000, 1000, 50_000}, 50_000, 0},
	} {
		t.Run(name, func(t *testing.T) {
			found, _ := skewed(c.tasks, c.stage, c.duration, c.p95).judge(t)
			if c.impact == 0 {
				require.Empty(t, found[rules.Skew])
				return
			}
			f := found[rules.Skew][0]
			require.Equal(t, c.impact, *f.Impact)
			require.Equal(t, []int64{7, 0}, []int64{*f.StageID, *f.StageTry})
			require.Contains(t, f.Evidence[0], "task_summaries/stage_id=7,stage_attempt_id=0/duration=")
		})
	}
}

// The advice is about the tasks' input if that is uneven, too.
func TestAdviceForSkew(t *testing.T) {
	slow := []float64{900, 950, 1000, 1050, 50_000}
	uneven := []float64{1 << 20, 1 << 20, 1 << 20, 1 << 20, 640 << 20}
	even := []float64{1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20}
	none, records := make([]float64, 5), []float64{9, 10, 10, 10, 2_000_000}
	for _, c := range []struct {
		want, change             string
		shuffled, input, records []float64
	}{
		{"A join splits such a partition", "skewedPartitionThresholdInBytes=2097152", uneven, even, nil},
		{"The input is uneven", "spark.sql.files.maxPartitionBytes=1048576", even, uneven, nil},
		{"keys are not the cause", "", even, even, nil},
		{"If they are on one host, replace it", "", nil, even, nil},
		{"keys are not the cause", "", nil, even, records},
		{"set partitionColumn, lowerBound", "", nil, none, records},
		{"keys are not the cause", "", nil, none, even},
		{"Uneven data may be the cause", "", nil, none, none},
	} {
		w := skewed(10, 60_000, slow, 0)
		_, q := w.stage()
		q.ShuffleReadBytes, q.InputBytes, q.InputRecords = c.shuffled, c.input, c.records
		found, _ := w.judge(t)
		f := found[rules.Skew][0]
		require.Containsf(t, f.Advice, c.want, "%+v", c)
		if c.change == "" {
			require.Empty(t, f.Changes)
			continue
		}
		require.Contains(t, f.Changes[0], c.change)
		require.Contains(t, f.Settings[0], "=")
	}
	w := skewed(10, 60_000, slow, 0)
	w.cold = true // uneven data explains the skew of the first tasks, too
	w.summaries[0].ShuffleReadBytes = uneven
	w.settings["spark.sql.adaptive.advisoryPartitionSizeInBytes"] = "67108864"
	found, _ := w.judge(t)
	f := found[rules.Skew][0]
	require.Contains(t, f.Advice, "a task read 640 MiB of shuffled data, the median one 1 MiB")
	require.Contains(t, f.Summary, "the median took 1 s, the longest 50 s.")
	require.Equal(t, []string{"spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes=2097152"}, f.Changes, "what is set is not advised")
	w.summaries[0].ShuffleReadBytes = []float64{4 << 20, 4 << 20, 4 << 20, 4 << 20, 16 << 20}
	found, _ = w.judge(t)
	require.Equal(t, []string{
		"spark.sql.adaptive.skewJoin.skewedPartitionFactor=2", "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes=8388608",
		"spark.sql.adaptive.advisoryPartitionSizeInBytes=4194304",
	}, found[rules.Skew][0].Changes)
}

// The cores cannot do a stage's work in less time than they share it evenly.
func TestSkewOfBusyCores(t *testing.T) {
	w := skewed(100, 60_000, []float64{900, 950, 1000, 1050, 50_000}, 3100)
	w.stages[0].ExecutorRunTime = 10 * 45_000 // on ten cores
	found, _ := w.judge(t)
	require.EqualValues(t, 15_000, *found[rules.Skew][0].Impact)
}

// More memory is no cure for collections if the heap was never full.
func TestAdviceForCollections(t *testing.T) {
	w := healthy()
	limits()[rules.GC].at(w)
	found, _ := w.judge(t)
	require.Contains(t, found[rules.GC][0].Changes, "spark.executor.memory=8192m")
	for i := range w.executors {
		w.executors[i].PeakJVMHeap = new(int64(2 * gib))
	}
	w.application.DurationMillis = new(*w.application.DurationMillis)
	found, _ = w.judge(t)
	require.Empty(t, found[rules.GC][0].Changes)
	require.Contains(t, found[rules.GC][0].Advice, "No executor's heap was ever more than 50 % full")
}

// What the stages that write computed is no cost of writing.
func TestWritingStagesCompute(t *testing.T) {
	w := healthy()
	w.application.DurationMillis = new(int64(320_000))
	w.phase("io_write", 160, 0.5)
	found, _ := w.judge(t)
	require.EqualValues(t, 160_000, *found[rules.SlowWrite][0].Impact)
	w.stages[0].OutputBytes, w.stages[0].DurationMillis = gib, new(int64(40_000))
	w.stages[0].ExecutorRunTime, w.stages[0].ExecutorCPUTime, w.stages[0].JVMGCTime = 1000, 400_000_000, 100
	found, _ = w.judge(t)
	require.EqualValues(t, 140_000, *found[rules.SlowWrite][0].Impact)
	require.InDelta(t, 0.4375, *found[rules.SlowWrite][0].Value, 1e-9)
	require.Contains(t, found[rules.SlowWrite][0].Summary, "in the rest, tasks that write computed")
}
