package processes

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProgramName(t *testing.T) {
	for want, args := range map[string][]string{
		"NodeManager": {
			"/usr/lib/jvm/jre-17/bin/java", "-Dproc_NodeManager", "-Xmx384m", "org.apache.hadoop.yarn.server.nodemanager.NodeManager",
		},
		"CoarseGrainedExecutorBackend": {"/usr/lib/jvm/jre-17/bin/java", "-server", "org.apache.spark.executor.YarnCoarseGrainedExecutorBackend"},
		"tempo":                        {"/tempo", "-config.file=/etc/observatory/tempo.yaml"},
	} {
		require.Equal(t, want, program(args))
	}
}

func TestIsDescendant(t *testing.T) {
	parents := map[int]int{1: 0, 10: 1, 11: 10, 20: 1}
	require.True(t, isDescendant(parents, 10, 10))
	require.True(t, isDescendant(parents, 11, 10))
	require.False(t, isDescendant(parents, 20, 10))
}

// An empty measurement would look good.
func TestProcessesNeedALocalCloud(t *testing.T) {
	_, err := Of(filepath.Join(t.TempDir(), "state"))
	require.Error(t, err)
}
