package node_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Four tasks of 1, 2, 2 and 10 s, of which the last reads 4 MiB and the others one, on
// an executor of two cores. Sums and skews are made by hand.
func TestPluginAddsUpTasks(t *testing.T) {
	got := map[string]float64{}
	for line := range strings.Lines(pluginMain(t, "Sums")) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " = ")
		number, err := strconv.ParseFloat(value, 64)
		require.NoError(t, err, line)
		got[name] = number
	}
	for name, want := range map[string]float64{
		"spark.task.skew time median": 10.0 / 2, "spark.task.skew time mean": 10 / 3.75,
		"spark.task.skew shuffle_read median": 4, "spark.task.skew shuffle_read mean": 4 / (7.0 / 4),
		"spark.stage.tail":           2.5, // two cores take 7.5 s of the stage's 10 s for its tasks
		"spark.task.io shuffle_read": 7 << 20, "spark.task.io shuffle_write": 160 << 20, "spark.task.shuffle.read": 7 << 20,
		"spark.task.time run": 14.2, "spark.task.time cpu": 2, "spark.task.time gc": 0.12, "spark.task.time deserialization": 0.4,
		"spark.task.time result_serialization": 0.16, "spark.task.time fetch_wait": 0.08, "spark.task.time shuffle_write": 0.04,
		"spark.task.time scheduler_delay": 0.24, "spark.task.spill memory": 12, "spark.task.spill disk": 8,
		"spark.task.duration compute": 15, "spark.task.count success": 4, "spark.stage.count success": 1,
		"spark.executor.count idle": 1, "spark.executor.count active": 0,
		"spark.executor.core.time busy": 15, "spark.executor.core.time idle": 5,
	} {
		require.Contains(t, got, name)
		require.InDelta(t, want, got[name], 1e-6, name)
	}
}

// A job that collects a broadcast is the latest of its write, and no writing one. Which it
// is shows later, and what has been sent cannot be taken back.
func TestPluginWaitsToTellWritesFromBroadcasts(t *testing.T) {
	const compute, write = "spark.task.duration compute = 3.0\n", "spark.task.duration write = "
	require.Equal(t, "the broadcast is collected\n"+
		"the next job starts\n"+compute+
		"it has no output\n"+compute+
		"the write ends\n"+compute+write+"2.0\n"+
		"the application ends\n"+compute+write+"6.0\n", pluginMain(t, "Kinds"))
}

// A stage of 20 s costs what its tasks' share of it is, from the limits of the rules on. What
// was spilled is written and read: half of all that the third stage moved.
func TestPluginCountsWhatStagesCost(t *testing.T) {
	var got strings.Builder
	for line := range strings.Lines(pluginMain(t, "Costs")) {
		if !strings.HasSuffix(line, " = 0.0\n") {
			got.WriteString(strings.TrimPrefix(strings.TrimPrefix(line, "spark.stage."), "cost "))
		}
	}
	require.Equal(t, `below
at the limits
gc = 2.0
fetch_wait = 4.0
spill = 10.0
little run time
gc = 2.0
fetch_wait = 4.0
spill = 10.0
more than all of it
gc = 22.0
fetch_wait = 4.0
spill = 10.0
tiny, few
tiny
tiny_tasks = 10.0
not tiny
tiny_tasks = 10.0
one task of four cores, little time
one task of four cores
low_parallelism = 15.0
three tasks
low_parallelism = 15.0
one task, others on two
low_parallelism = 25.0
one task, others on three
low_parallelism = 25.0
ran again
stage_retries = 5.0
reads
writes
write.compute = 5.0
`, got.String())
}
