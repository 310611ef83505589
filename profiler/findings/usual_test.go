package findings_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/findings"
	"github.com/emr-observatory/emr-observatory/rules"
)

// Runs of an application have names that differ in digits alone.
func TestNameOfRuns(t *testing.T) {
	require.Equal(t, "etl #-#-# part #", findings.NameOfRuns("etl 2026-01-31 part 7"))
	require.Equal(t, "etl", findings.NameOfRuns("etl"))
	require.Empty(t, findings.NameOfRuns(""))
}

// A run is compared with the latest ones before it.
func TestCompared(t *testing.T) {
	var all []findings.Run
	for i := range int64(50) {
		all = append(all, findings.Run{Start: i})
	}
	most := int64(rules.Get(rules.Slower).Floor(rules.MostRuns))
	for start, want := range map[int64]int64{0: 0, 1: 1, most: most, 40: most} {
		runs := findings.Compared(all, start)
		require.Len(t, runs, int(want))
		if want > 0 {
			require.Equal(t, start-1, runs[want-1].Start)
		}
	}
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
