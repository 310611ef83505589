package history

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/eventlog"
)

// A multiplied log has a single application, whose jobs, stages, tasks and SQL executions
// all have different ids.
func TestMultipliedLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.zstd")
	const size = 5_000_000
	require.NoError(t, multiplyInto(t.Context(), path, filepath.Join("../../..", Source), size))
	type id struct {
		kind string
		a, b int64
	}
	seen := map[id]bool{}
	count := map[string]int{}
	once := func(kind string, a, b int64) {
		count[kind]++
		require.False(t, seen[id{kind: kind, a: a, b: b}], "%s %d %d", kind, a, b)
		seen[id{kind: kind, a: a, b: b}] = true
	}
	executions, accumulators, known := map[int64]bool{}, map[int64]bool{}, 0
	begin, end := int64(0), int64(0)
	var plan func(n *eventlog.PlanNode)
	plan = func(n *eventlog.PlanNode) {
		for _, m := range n.Metrics {
			accumulators[m.Accumulator] = true
		}
		for i := range n.Children {
			plan(&n.Children[i])
		}
	}
	got, err := readEvents(t.Context(), path, func(event eventlog.Event) error {
		switch e := event.(type) {
		case *eventlog.ApplicationStart:
			once("application", 0, 0)
			begin = e.Time
		case *eventlog.ApplicationEnd:
			once("end", 0, 0)
			end = e.Time
		case *eventlog.JobStart:
			once("job", e.ID, 0)
			if e.Properties.Execution != nil {
				require.True(t, executions[*e.Properties.Execution], "a job of an execution that has started")
			}
			require.Greater(t, e.Time, begin)
		case *eventlog.StageCompleted:
			once("stage", e.ID, e.Attempt)
			for _, a := range e.Accumulators() {
				require.True(t, accumulators[a.ID], "accumulator %d is in no plan", a.ID)
				known++
			}
		case *eventlog.TaskEnd:
			once("task", e.ID, 0)
			require.GreaterOrEqual(t, e.Finished, e.Launched)
		case *eventlog.SQLStart:
			once("sql", e.ID, 0)
			executions[e.ID] = true
			plan(&e.Plan)
		case *eventlog.SQLPlan:
			plan(&e.Plan)
		}
		return nil
	})
	require.NoError(t, err)
	require.GreaterOrEqual(t, got.Bytes, int64(size))
	require.Positive(t, end)
	require.Positive(t, known)
	for _, kind := range []string{"job", "stage", "task", "sql"} {
		require.Greater(t, count[kind], 10, kind)
	}
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(size/5))
	other, err := readStandard(path, 2*got.Bytes)
	require.NoError(t, err)
	require.Equal(t, got.Bytes, other.Bytes)
	require.Less(t, got.Events, other.Events, "eventlog skips some kinds")
	require.Less(t, other.Events-got.Events, other.Events/50)
}
