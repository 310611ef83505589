package findings_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/findings"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/rules"
)

// A run is compared with the latest ones before it.
func TestCompared(t *testing.T) {
	var all []findings.Run
	for i := range int64(50) {
		all = append(all, findings.Run{Start: i})
	}
	most := int64(rules.Get(rules.Slower).Floor(rules.MostRuns))
	for start, want := range map[int64]int64{0: 0, 1: 1, most: most, 40: most} {
		runs := findings.Compared(all, findings.Run{Start: start})
		require.Len(t, runs, int(want))
		if want > 0 {
			require.Equal(t, start-1, runs[want-1].Start)
		}
	}
}

// Runs whose plans are of another shape do other work: a run is not compared with them.
func TestComparedByShape(t *testing.T) {
	one, other := new("1"), new("2")
	all := []findings.Run{{Start: 1, PlanShape: one}, {Start: 2, PlanShape: other}, {Start: 3}, {Start: 4, PlanShape: one}}
	starts := func(shape *string) (starts []tables.Millis) {
		for _, r := range findings.Compared(all, findings.Run{Start: 5, PlanShape: shape}) {
			starts = append(starts, r.Start)
		}
		return starts
	}
	require.Equal(t, []tables.Millis{1, 3, 4}, starts(one))
	require.Equal(t, []tables.Millis{2, 3}, starts(other))
	require.Equal(t, []tables.Millis{1, 2, 3, 4}, starts(nil))
}

// The finding names the phase that grew most, and the runs that it compares.
func TestLongerPhase(t *testing.T) {
	w := healthy()
	limits()[rules.Slower].at(w)
	for i := range w.earlier {
		w.earlier[i].Phases = func() (map[string]int64, error) {
			return map[string]int64{"compute": 9000, "driver": 1000, "idle": 10_000}, nil
		}
	}
	found, _ := w.judge(t)
	f := found[rules.Slower][0]
	require.Contains(t, f.Summary, "The phase driver grew most: 10 s instead of 1 s.")
	require.Contains(t, f.Evidence, "applications/cluster_id=,application_id=3,attempt_id=/duration_ms=5000001")
}
