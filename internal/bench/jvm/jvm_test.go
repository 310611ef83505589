package jvm_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/artifacts"
	"github.com/emr-observatory/emr-observatory/internal/bench/jvm"
)

// The bars themselves are for an idle machine: see make bench.
func TestMeasureSeesWhatTelemetryCosts(t *testing.T) {
	r, err := jvm.Measure(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, 1, r.Pairs)
	require.Greater(t, r.CPUWithout, 0.01)
	require.Greater(t, r.StartCPU, 0.05, "the profiler alone takes more")
	require.InDelta(t, r.CPUWith-r.CPUWithout, r.StartCPU, 1e-9)
	raw, err := json.Marshal(r)
	require.NoError(t, err)
	t.Log(string(raw))
	var keys map[string]float64
	require.NoError(t, json.Unmarshal(raw, &keys))
	require.Contains(t, keys, "jvm_start_cpu_s")
	require.Contains(t, keys, "main_delay_s")
}

func TestMeasureRefuses(t *testing.T) {
	_, err := jvm.Measure(t.Context(), 0)
	require.ErrorContains(t, err, "pairs: 0")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = jvm.Measure(ctx, 1)
	require.ErrorIs(t, err, context.Canceled)
}

// A node without its launcher must not be measured as one that costs nothing.
func TestMeasureNeedsTheArtifacts(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	store, err := artifacts.DefaultStore()
	require.NoError(t, err)
	if _, err := os.Stat(filepath.Dir(store.Dir)); err == nil {
		entries, err := os.ReadDir(store.Dir)
		require.True(t, err != nil || len(entries) == 0, "the store of this test is not empty: %s", store.Dir)
	}
	_, err = jvm.Measure(t.Context(), 1)
	require.ErrorContains(t, err, "make artifacts")
}
