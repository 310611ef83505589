package fold_test

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/phases"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

var update = flag.Bool("update", false, "write the golden files")

// Logs written by Spark 3.5.5: a rolled one with two executors; and one with failures,
// skipped stages, adaptive plans, a cancelled job and a killed executor.
const (
	rolledLogs = "../../eventlog/testdata"
	rolledLog  = "eventlog_v2_app-20261123103508-0000"
	richLog    = "app-20261124083856-0000.zstd"
)

// realLines returns the lines of a log in testdata.
func realLines(t *testing.T, name string) []string {
	t.Helper()
	file, err := os.Open(path.Join("testdata", name))
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	decoder, err := zstd.NewReader(file)
	require.NoError(t, err)
	defer decoder.Close()
	text, err := io.ReadAll(decoder)
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// The rows of a real log are still those that matched the history server's responses.
func TestRealLog(t *testing.T) {
	all, summary := foldLog(t, rolledLogs, rolledLog)
	require.Empty(t, missing(summary))
	require.True(t, summary.Final)
	var text bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if name == tables.Table((*tables.Environment)(nil)) {
			continue // long, and specific to the machine
		}
		slices.Sort(all[name])
		for _, row := range all[name] {
			fmt.Fprintf(&text, "%s\t%s\n", name, row)
		}
	}
	golden := path.Join("testdata", rolledLog+".rows")
	if *update {
		require.NoError(t, os.WriteFile(golden, text.Bytes(), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, strings.Split(string(want), "\n"), strings.Split(text.String(), "\n"), "go test ./profiler/fold -run TestRealLog -update")
}

// The phases are the same as those of `observatory trace`.
func TestPhases(t *testing.T) {
	for _, source := range []struct{ folder, name string }{{rolledLogs, rolledLog}, {"testdata", richLog}} {
		all, _ := foldLog(t, source.folder, source.name)
		log, err := eventlog.Open(os.DirFS(source.folder), source.name)
		require.NoError(t, err)
		engine := phases.NewEngine()
		_, err = log.Read(t.Context(), func(e eventlog.Event) error {
			engine.Add(e)
			return nil
		})
		require.NoError(t, err)
		want := engine.Result()
		got, wall := map[platform.Phase]int64{}, int64(0)
		for _, row := range table[tables.Phase](t, all) {
			got[platform.Phase(row.Phase)] = row.DurationMillis
			wall += row.DurationMillis
			require.Equal(t, want.Approximate, row.Approximate)
		}
		require.Equal(t, want.Phases, got)
		require.Equal(t, want.End-want.Begin, wall)
	}
}

// The totals of stages and executors are the sums over their tasks.
func TestSums(t *testing.T) {
	for _, source := range []struct{ folder, name string }{{rolledLogs, rolledLog}, {"testdata", richLog}} {
		all, summary := foldLog(t, source.folder, source.name)
		require.Empty(t, missing(summary))
		type sums struct{ tasks, run, cpu, input, read, written, spilled int64 }
		byStage, byExecutor := map[tables.Stage]sums{}, map[string]sums{}
		for _, task := range table[tables.Task](t, all) {
			if task.RunTime == nil {
				continue
			}
			add := func(s sums) sums {
				return sums{
					s.tasks + 1, s.run + *task.RunTime, s.cpu + *task.CPUTime, s.input + *task.InputBytes,
					s.read + *task.ShuffleLocalBytes + *task.ShuffleRemoteBytes, s.written + *task.ShuffleWriteBytes,
					s.spilled + *task.MemoryBytesSpilled,
				}
			}
			byStage[task.Stage], byExecutor[task.ExecutorID] = add(byStage[task.Stage]), add(byExecutor[task.ExecutorID])
		}
		require.NotEmpty(t, byStage)
		for _, s := range table[tables.StageRow](t, all) {
			want := byStage[s.Stage]
			want.tasks = 0
			require.Equal(t, want, sums{
				0, s.ExecutorRunTime, s.ExecutorCPUTime, s.InputBytes, s.ShuffleReadBytes, s.ShuffleWriteBytes, s.MemoryBytesSpilled,
			}, s.Stage)
		}
		for _, x := range table[tables.Executor](t, all) {
			if want := byExecutor[x.ExecutorID]; x.RemoveTime == 0 { // for removed executors, Spark does not count late ends
				require.Equal(t, []int64{want.input, want.read, want.written}, []int64{x.TotalInputBytes, x.TotalShuffleRead, x.TotalShuffleWrite})
			}
		}
	}
}

// Quantiles match their definition, applied to the rows of the tasks.
func TestQuantilesOfTasks(t *testing.T) {
	all, _ := foldLog(t, "testdata", richLog)
	tasks := map[tables.Stage][]tables.Task{}
	for _, task := range table[tables.Task](t, all) {
		tasks[task.Stage] = append(tasks[task.Stage], task)
	}
	checked := 0
	for _, s := range table[tables.TaskSummary](t, all) {
		var run, duration []float64
		for _, task := range tasks[s.Stage] {
			duration = append(duration, float64(*task.Duration))
			if task.Status == fold.TaskSuccess {
				run = append(run, float64(*task.RunTime))
			}
		}
		slices.Sort(run)
		slices.Sort(duration)
		for i, q := range tables.Quantiles() {
			place := min(int(q*float64(len(run))), len(run)-1)
			require.InDelta(t, run[place], s.RunTime[i], 0)
			require.InDelta(t, duration[place], s.Duration[i], 0)
			checked++
		}
	}
	require.Greater(t, checked, 100)
}

// Task ends that come after the end of their stage and job change no row.
func TestLateTaskEnds(t *testing.T) {
	lines := realLines(t, richLog)
	// Here the order does matter to Spark: it ignores late events of a removed executor and
	// of a stage that is done.
	lines = slices.DeleteFunc(lines, func(l string) bool {
		return strings.Contains(l, "SparkListenerExecutorRemoved") || strings.Contains(l, `"Resubmitted"`)
	})
	want, _ := foldLines(t, lines)
	for seed := range uint64(5) {
		random := rand.New(rand.NewPCG(seed, 1))
		type placed struct {
			text string
			at   float64
		}
		var order []placed
		for i, l := range lines {
			place := float64(i)
			if strings.HasPrefix(l, `{"Event":"SparkListenerTaskEnd"`) && random.IntN(3) == 0 {
				place += random.Float64() * max(0, min(40, float64(len(lines)-i-3)))
			}
			order = append(order, placed{l, place})
		}
		slices.SortStableFunc(order, func(a, b placed) int { return cmp.Compare(a.at, b.at) })
		late := make([]string, len(order))
		for i := range order {
			late[i] = order[i].text
		}
		got, _ := foldLines(t, late)
		for name := range want {
			slices.Sort(want[name])
			slices.Sort(got[name])
			require.Equal(t, want[name], got[name], "seed %d: %s", seed, name)
		}
	}
}

// Whatever events are lost, no row is duplicated, and no more tasks are reported missing
// than really are.
func TestLostEvents(t *testing.T) {
	lines := realLines(t, richLog)
	for seed := range uint64(5) {
		random := rand.New(rand.NewPCG(seed, 2))
		lost := 0
		kept := slices.DeleteFunc(slices.Clone(lines), func(l string) bool {
			drop := random.IntN(20) == 0 && !strings.Contains(l, "SparkListenerApplication")
			if drop && isTaskEnd(l) {
				lost++
			}
			return drop
		})
		all, summary := foldLines(t, kept)
		for _, d := range tables.All() {
			requireUnique(t, d, all[d.Name])
		}
		for _, c := range summary.Completeness {
			if c.Missing != nil {
				require.Equal(t, *c.Expected, c.Seen+*c.Missing, "%s, seed %d", c.Endpoint, seed)
			}
			if c.Endpoint == fold.Tasks {
				require.LessOrEqual(t, *c.Missing, int64(lost), "seed %d", seed)
				require.Positive(t, *c.Missing)
				require.Equal(t, string(fold.DroppedEvents), c.Reason)
			}
		}
	}
}

func isTaskEnd(line string) bool {
	return strings.HasPrefix(line, `{"Event":"SparkListenerTaskEnd"`) && !strings.Contains(line, `"Resubmitted"`)
}

// Of the tasks of completed stages, exactly those without an end are reported missing.
func TestLostTasks(t *testing.T) {
	lines := realLines(t, richLog)
	all, _ := foldLines(t, lines)
	complete := map[string]bool{}
	for _, s := range table[tables.StageRow](t, all) {
		key := fmt.Sprintf(`"Stage ID":%d,"Stage Attempt ID":%d,`, s.StageID, s.StageAttemptID)
		complete[key] = s.Status == fold.StageComplete && s.NumFailedTasks+s.NumKilledTasks == 0
	}
	for seed := range uint64(5) {
		random := rand.New(rand.NewPCG(seed, 3))
		lost := int64(0)
		kept := slices.DeleteFunc(slices.Clone(lines), func(l string) bool {
			if !strings.HasPrefix(l, `{"Event":"SparkListenerTask`) {
				return false
			}
			_, rest, _ := strings.Cut(l, ",")
			stage, _, _ := strings.Cut(rest, `"Task`)
			drop := complete[stage] && random.IntN(10) == 0
			if drop && isTaskEnd(l) {
				lost++
			}
			return drop
		})
		require.Positive(t, lost)
		_, summary := foldLines(t, kept)
		require.Contains(t, missing(summary), fmt.Sprintf("tasks %d dropped_events", lost), "seed %d", seed)
	}
}
