package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMedian(t *testing.T) {
	require.InDelta(t, 2, median([]float64{9, 1, 2}), 0)
	require.InDelta(t, 2.5, median([]float64{4, 1, 2, 3}), 0)
	require.Zero(t, median(nil))
}

func TestProcessesAreCalledByWhatTheyRun(t *testing.T) {
	for want, line := range map[string][]string{
		"NodeManager":                  {"/usr/lib/jvm/jre-17/bin/java", "-Dproc_NodeManager", "-Xmx384m", "org.apache.hadoop.yarn.server.nodemanager.NodeManager"},
		"CoarseGrainedExecutorBackend": {"/usr/lib/jvm/jre-17/bin/java", "-server", "org.apache.spark.executor.YarnCoarseGrainedExecutorBackend"},
		"tempo":                        {"/tempo", "-config.file=/etc/observatory/tempo.yaml"},
	} {
		require.Equal(t, want, called(line))
	}
}

func TestBelow(t *testing.T) {
	parents := map[int]int{1: 0, 10: 1, 11: 10, 20: 1}
	require.True(t, below(parents, 10, 10))
	require.True(t, below(parents, 11, 10))
	require.False(t, below(parents, 20, 10))
}

// An empty measurement would look good.
func TestMemoryNeedsALocalCloud(t *testing.T) {
	_, err := memory(filepath.Join(t.TempDir(), "state"))
	require.Error(t, err)
}

func TestWhatIsMeasuredIsWrittenThoughAPartFails(t *testing.T) {
	out := filepath.Join(t.TempDir(), "bench.json")
	t.Setenv("TMPDIR", t.TempDir())
	t.Chdir(t.TempDir()) // where no program is
	require.ErrorContains(t, run(t.Context(), options{pairs: 1, out: out}), "up, warm")
	require.FileExists(t, out)
	text, err := os.ReadFile(out)
	require.NoError(t, err)
	require.Contains(t, string(text), `"up_noop_over_empty": 0`)
}
