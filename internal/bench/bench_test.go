package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/bench/stats"
)

func TestMedian(t *testing.T) {
	require.InDelta(t, 2, stats.Median([]float64{9, 1, 2}), 0)
	require.InDelta(t, 2.5, stats.Median([]float64{4, 1, 2, 3}), 0)
	require.Zero(t, stats.Median(nil))
}

func TestSpread(t *testing.T) {
	require.Equal(t, "; middle half of 9: 3 to 7, range: 1 to 9", spread([]float64{9, 1, 2, 8, 3, 7, 4, 6, 5}))
	require.Equal(t, "; middle half of 1: 1.5 to 1.5, range: 1.5 to 1.5", spread([]float64{1.5}))
	require.Empty(t, spread(nil))
}

func TestResultIsWrittenIfAPartFails(t *testing.T) {
	out := filepath.Join(t.TempDir(), "bench.json")
	t.Setenv("TMPDIR", t.TempDir())
	t.Chdir(t.TempDir()) // where no program is
	require.ErrorContains(t, run(t.Context(), options{pairs: 1, out: out}), "up, warm")
	text, err := os.ReadFile(out)
	require.NoError(t, err)
	for _, key := range []string{"up_noop_update_over_empty_update_ratio", "rehearse_dev_s", "job_own_cpu_s", "jvm_start_cpu_s"} {
		require.Contains(t, string(text), `"`+key+`": 0`)
	}
}

func TestOnePartIsMeasuredWithoutACloud(t *testing.T) {
	t.Chdir(t.TempDir())
	err := run(t.Context(), options{run: "rehearsal", out: "bench.json"})
	require.ErrorContains(t, err, "rehearsal: observatory rehearse")
	require.NotContains(t, err.Error(), "up, warm")
	require.ErrorContains(t, run(t.Context(), options{run: "("}), "-run")
}
