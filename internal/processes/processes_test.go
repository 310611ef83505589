package processes

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud"
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

// The processes of a local cloud are its region's, and what that has started.
func TestProcessesOfALocalCloud(t *testing.T) {
	state := t.TempDir()
	lock := flock.New(filepath.Join(state, "region.lock"))
	locked, err := lock.TryLock()
	require.NoError(t, err)
	require.True(t, locked)
	t.Cleanup(func() { require.NoError(t, lock.Unlock()) })
	running, err := json.Marshal(localcloud.Running{PID: os.Getpid()})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(state, "region.json"), running, 0o600))
	child := exec.Command("cat")
	input, err := child.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	t.Cleanup(func() {
		require.NoError(t, input.Close())
		require.NoError(t, child.Wait())
	})
	found, err := Of(state)
	require.NoError(t, err)
	parents := map[int]int{}
	for _, p := range found {
		parents[p.PID] = p.Parent
	}
	require.Equal(t, os.Getpid(), parents[child.Process.Pid])
	require.Contains(t, parents, os.Getpid())
}
