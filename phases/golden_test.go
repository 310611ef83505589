package phases_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/eventlog/eventlogtest"
	"github.com/emr-observatory/emr-observatory/phases"
	"github.com/emr-observatory/emr-observatory/platform"
)

// The expected numbers are derived by hand in testdata/logs/README.md. The engine in
// the driver (observatory.spark) is held to the same files.
func TestGoldenLogs(t *testing.T) {
	logs, err := filepath.Glob("testdata/logs/*.jsonl")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(logs), 12)
	for _, log := range logs {
		t.Run(strings.TrimSuffix(filepath.Base(log), ".jsonl"), func(t *testing.T) {
			events := read(t, log)
			want := wanted(t, log)
			require.Equal(t, want, divide(events))
			random := rand.New(rand.NewPCG(1, 2))
			for range 50 {
				random.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
				require.Equal(t, want, divide(events), "the order of events must not matter")
			}
		})
	}
}

// Every prefix of a log is a log of a killed driver.
func TestPhasesOfAnyPrefixSumToWallClock(t *testing.T) {
	logs, err := filepath.Glob("testdata/logs/*.jsonl")
	require.NoError(t, err)
	for _, log := range logs {
		engine := phases.NewEngine()
		requireWhole(t, engine.Result())
		for _, event := range read(t, log) {
			engine.Add(event)
			requireWhole(t, engine.Result())
		}
	}
}

// Without the times of the application's own events its wall clock is that of the others.
func TestApplicationWithoutTimes(t *testing.T) {
	const begin = 1700000000000
	for name, c := range map[string]struct{ start, end, wantBegin, wantEnd int64 }{
		"both":  {begin, begin + 9_000, begin, begin + 9_000},
		"start": {begin, 0, begin, begin + 8_000},
		"end":   {0, begin + 9_000, begin + 2_000, begin + 9_000},
		"none":  {0, 0, begin + 2_000, begin + 8_000},
	} {
		got := divide([]eventlog.Event{
			&eventlog.ApplicationStart{ID: "a", Time: c.start},
			&eventlog.JobStart{ID: 0, Time: begin + 2_000, Stages: []eventlog.Stage{{ID: 0}}},
			&eventlog.TaskEnd{Task: eventlog.Task{Launched: begin + 3_000, Finished: begin + 7_000}, Type: "ResultTask"},
			&eventlog.JobEnd{ID: 0, Time: begin + 8_000},
			&eventlog.ApplicationEnd{Time: c.end},
		})
		requireWhole(t, got)
		require.Equal(t, []int64{c.wantBegin, c.wantEnd}, []int64{got.Begin, got.End}, name)
		require.Equal(t, name != "both", got.Approximate, name)
		require.EqualValues(t, 4_000, got.Phases[platform.PhaseCompute], name)
	}
}

// requireWhole checks that the segments cover the wall clock once, and that the
// phases are their sums.
func requireWhole(t *testing.T, r phases.Result) {
	t.Helper()
	at, sums := r.Begin, map[platform.Phase]int64{}
	for i, s := range r.Segments {
		require.Equal(t, at, s.From)
		require.Greater(t, s.To, s.From)
		require.True(t, i == 0 || r.Segments[i-1].Phase != s.Phase, "neighbours of one phase are one segment")
		at = s.To
		sums[s.Phase] += s.To - s.From
	}
	require.Equal(t, at, r.End)
	require.Len(t, r.Phases, len(platform.Phases()))
	for _, phase := range platform.Phases() {
		require.Equal(t, sums[phase], r.Phases[phase])
	}
}

func divide(events []eventlog.Event) phases.Result {
	engine := phases.NewEngine()
	for _, event := range events {
		engine.Add(event)
	}
	return engine.Result()
}

func read(t *testing.T, path string) []eventlog.Event {
	t.Helper()
	events, report, err := eventlogtest.Read(os.DirFS(filepath.Dir(path)), filepath.Base(path))
	require.NoError(t, err)
	require.Empty(t, report.Truncated)
	require.Zero(t, report.Skipped)
	return events
}

func wanted(t *testing.T, log string) (want phases.Result) {
	t.Helper()
	text, err := os.ReadFile(strings.TrimSuffix(log, ".jsonl") + ".want.json")
	require.NoError(t, err)
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&want))
	return want
}

// BenchmarkResult divides the wall clock of 50,000 jobs, each with a pause after it.
func BenchmarkResult(b *testing.B) {
	engine := phases.NewEngine()
	engine.Add(&eventlog.ApplicationStart{ID: "a", Time: 1})
	for i := range int64(50_000) {
		at := 10 + 10*i
		command := eventlog.PlanNode{}
		if i%2 == 0 {
			command.Name = writeCommand
		}
		engine.Add(&eventlog.SQLStart{ID: i, Time: at, Plan: command})
		engine.Add(&eventlog.JobStart{
			ID: i, Time: at, Stages: []eventlog.Stage{{ID: i}}, Properties: eventlog.JobProperties{Execution: &i},
		})
		engine.Add(&eventlog.StageCompleted{Stage: eventlog.Stage{ID: i, Submitted: at, Completed: at + 6, Tasks: 1}})
		engine.Add(&eventlog.TaskEnd{Task: eventlog.Task{ID: i, StageID: i, Launched: at + 1, Finished: at + 5}, Type: "ResultTask"})
		engine.Add(&eventlog.JobEnd{ID: i, Time: at + 7})
		engine.Add(&eventlog.SQLEnd{ID: i, Time: at + 8})
	}
	for b.Loop() {
		engine.Result()
	}
}
