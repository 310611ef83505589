package fold_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// count returns how many lines of an event contain all of the texts.
func count(lines []string, event string, texts ...string) (n int64) {
	for _, l := range lines {
		name := strings.Contains(l[:min(len(l), 120)], event+`"`)
		if name && !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(l, text) }) {
			n++
		}
	}
	return n
}

// missingOf returns how many rows of an endpoint are missing; -1 if unknown.
func missingOf(t *testing.T, summary fold.Summary, endpoint string, reason fold.Reason) int64 {
	t.Helper()
	for _, c := range summary.Completeness {
		if c.Endpoint != endpoint {
			continue
		}
		if c.Missing == nil {
			return -1
		}
		if *c.Missing > 0 {
			require.Equal(t, string(reason), c.Reason, endpoint)
			require.NotEmpty(t, c.Detail)
		}
		return *c.Missing
	}
	t.Fatalf("no completeness of %s", endpoint)
	return 0
}

// In a truncated log, whatever had started but not ended is missing, and so are the tasks
// that open stages still need.
func TestTruncatedLog(t *testing.T) {
	lines := realLines(t, richLog)
	for seed := range uint64(8) {
		random := rand.New(rand.NewPCG(seed, 4))
		kept := lines[:len(lines)/4+random.IntN(len(lines)/2)]
		all, summary := foldLines(t, kept)
		require.EqualValues(t, 1, missingOf(t, summary, fold.Applications, fold.Truncation))
		require.Equal(t, count(kept, "JobStart")-count(kept, "JobEnd"), missingOf(t, summary, fold.Jobs, fold.Truncation))
		executions := count(kept, "SQLExecutionStart") - count(kept, "SQLExecutionEnd")
		require.Equal(t, executions, missingOf(t, summary, fold.SQLExecutions, fold.Truncation))
		needed := int64(0)
		for _, s := range table[tables.StageRow](t, all) {
			if s.CompletionTime != 0 || s.Status != fold.StageActive {
				continue
			}
			key := fmt.Sprintf(`"Stage ID":%d,"Stage Attempt ID":%d,`, s.StageID, s.StageAttemptID)
			needed += s.NumTasks - count(kept, "TaskEnd", key, `{"Reason":"Success"}`)
		}
		require.Equal(t, needed, missingOf(t, summary, fold.Tasks, fold.Truncation))
		require.Zero(t, missingOf(t, summary, fold.Executors, fold.Truncation))
	}
}

// The history server's compaction drops ended jobs with their stages and tasks
// (org.apache.spark.status.BasicEventFilter): the exact numbers are reported missing.
func TestCompactedLog(t *testing.T) {
	lines := realLines(t, richLog)
	const live = 31 // the only job that had not ended when the log was compacted
	all, _ := foldLines(t, lines)
	gone := map[string]int64{}
	stages := map[int64]bool{}
	for _, j := range table[tables.Job](t, all) {
		if j.JobID != live {
			gone[fold.Jobs]++
			continue
		}
		for _, id := range j.StageIDs {
			stages[id] = true
		}
	}
	kept := slices.DeleteFunc(slices.Clone(lines), func(l string) bool {
		name := l[:min(len(l), 100)]
		of := func(key string) (id int64) {
			id = -1
			if at := strings.Index(l, key); at >= 0 {
				_, _ = fmt.Sscanf(l[at+len(key):], "%d", &id)
			}
			return id
		}
		switch {
		case strings.Contains(name, "SparkListenerJob"):
			return of(`"Job ID":`) != live
		case strings.Contains(name, "SparkListenerStage"), strings.Contains(name, "SparkListenerTask"):
			return !stages[of(`"Stage ID":`)]
		}
		return strings.Contains(name, "execution.ui")
	})
	for _, s := range table[tables.StageRow](t, all) {
		if !stages[s.StageID] {
			gone[fold.Stages]++
		}
	}
	for _, task := range table[tables.Task](t, all) {
		if !stages[task.StageID] {
			gone[fold.Tasks]++
		}
	}
	folder := t.TempDir()
	rolled := path.Join(folder, "eventlog_v2_app-20261124083856-0000")
	require.NoError(t, os.Mkdir(rolled, 0o700))
	require.NoError(t, os.WriteFile(path.Join(rolled, "events_2_app-20261124083856-0000.compact"), []byte(joined(kept)), 0o600))
	_, summary := foldLog(t, folder, path.Base(rolled))
	for endpoint, want := range gone {
		require.Equal(t, want, missingOf(t, summary, endpoint, fold.Compaction), endpoint)
	}
	require.Len(t, gone, 3)
	for _, endpoint := range []string{fold.SQLExecutions, fold.SQLNodes, fold.Executors} {
		require.EqualValues(t, -1, missingOf(t, summary, endpoint, fold.Compaction), "their number is unknown")
	}
	require.True(t, summary.Final)
}

// Rows are missing, with a reason, because of a missing rolled file and a malformed event.
func TestLogWithGaps(t *testing.T) {
	lines := realLines(t, richLog)
	folder := t.TempDir()
	rolled := path.Join(folder, "eventlog_v2_app-20261124083856-0000")
	require.NoError(t, os.Mkdir(rolled, 0o700))
	for i, part := range [][]string{lines[:300], lines[300:600], lines[600:]} {
		if i == 1 {
			continue
		}
		name := fmt.Sprintf("events_%d_app-20261124083856-0000", i+1)
		require.NoError(t, os.WriteFile(path.Join(rolled, name), []byte(joined(part)), 0o600))
	}
	_, summary := foldLog(t, folder, path.Base(rolled))
	gone := lines[300:600]
	jobs := missingOf(t, summary, fold.Jobs, fold.MissingParts)
	require.GreaterOrEqual(t, jobs, count(gone, "JobStart"))
	require.LessOrEqual(t, jobs, count(gone, "JobStart")+count(gone, "JobEnd"))
	require.Positive(t, jobs)

	damaged := slices.Clone(lines)
	at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, `{"Event":"SparkListenerJobStart"`) })
	damaged[at] = damaged[at][:len(damaged[at])/2]
	_, summary = foldLines(t, damaged)
	require.EqualValues(t, 1, missingOf(t, summary, fold.Jobs, fold.Truncation))
}

// Every log of the tests of phases, however incomplete, becomes rows.
func TestPhasesGoldenLogs(t *testing.T) {
	const folder = "../../phases/testdata/logs"
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	folded := 0
	for _, entry := range entries {
		if path.Ext(entry.Name()) != ".jsonl" || entry.Name() == "no-start.jsonl" { // which has no application's id
			continue
		}
		all, summary := foldLog(t, folder, entry.Name())
		require.NotEmpty(t, all["phases"], entry.Name())
		require.Len(t, all["completeness"], 9, entry.Name())
		for _, d := range tables.All() {
			requireUnique(t, d, all[d.Name])
		}
		folded++
		if entry.Name() == "dropped.jsonl" { // task 1 has no end, task 2 no start
			require.Equal(t, []string{"task_summaries 1 dropped_events", "tasks 1 dropped_events"}, missing(summary))
		}
	}
	require.Greater(t, folded, 25)
}

// Numbers that Spark never writes break nothing and duplicate no row.
func TestHostileNumbers(t *testing.T) {
	lines := realLines(t, richLog)
	lines = slices.DeleteFunc(lines, func(l string) bool { return len(l) > 20_000 })
	number := regexp.MustCompile(`("(?:Stage|Job|Task|Executor) ID":|"Index":|"Attempt":|"executionId":|"Number of Tasks":|Time":|time":)\d+`)
	for seed := range uint64(4) {
		random := rand.New(rand.NewPCG(seed, 5))
		hostile := make([]string, len(lines))
		for i, l := range lines {
			hostile[i] = number.ReplaceAllStringFunc(l, func(found string) string {
				if random.IntN(50) > 0 {
					return found
				}
				values := []int64{math.MaxInt64, math.MinInt64, -1, 0, 1 << 40, 1<<31 - 1, 1 << 26}
				return fmt.Sprint(found[:strings.LastIndex(found, ":")+1], values[random.IntN(len(values))])
			})
		}
		random.Shuffle(len(hostile)/2, func(i, j int) { hostile[i], hostile[j] = hostile[j], hostile[i] })
		all, summary := foldLines(t, hostile)
		for _, d := range tables.All() {
			requireUnique(t, d, all[d.Name])
		}
		for _, c := range summary.Completeness {
			require.True(t, c.Missing == nil || *c.Missing >= 0, "%+v", c)
		}
	}
}
