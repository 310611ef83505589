package engine

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/progress"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
)

// startFakeEngine starts a process with an engine's arguments on a back end.
func startFakeEngine(t *testing.T, backend string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/bin/bash", append([]string{"-c", `trap 'exit 0' TERM; while :; do sleep 0.05; done`}, args...)...)
	cmd.Env = []string{"PULUMI_BACKEND_URL=" + backend}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd
}

// The engine of a killed command is found by its back end; awaitOrphans waits for
// it and KillOrphans kills it. Engines of other back ends, and those that a person
// started, are left alone.
func TestOrphansOfABackEndAreAwaitedOrKilled(t *testing.T) {
	state := t.TempDir()
	ours := backendURL(state)
	left := startFakeEngine(t, ours, "pulumi", "up", "--exec-kind", "auto.inline")
	startFakeEngine(t, "file:///elsewhere", "pulumi", "up", "--exec-kind", "auto.inline")
	startFakeEngine(t, ours, "pulumi", "stack", "export")
	testenv.Eventually(t, func() bool {
		found, err := orphans(ours)
		return err == nil && len(found) == 1 && found[0] == left.Process.Pid
	}, testenv.Arrival, 10*time.Millisecond)

	waited := make(chan error, 1)
	printed, err := os.Create(filepath.Join(t.TempDir(), "printed"))
	require.NoError(t, err)
	defer printed.Close()
	go func() { waited <- awaitOrphans(t.Context(), ours, progress.New(printed)) }()
	testenv.Eventually(t, func() bool {
		text, err := os.ReadFile(printed.Name())
		return err == nil && strings.Contains(string(text), "waiting for the engine of an interrupted command")
	}, testenv.Arrival, 10*time.Millisecond)
	select {
	case err := <-waited:
		require.Failf(t, "it did not wait", "%v", err)
	default:
	}
	require.NoError(t, KillOrphans(state))
	_ = left.Wait()
	require.NoError(t, <-waited)
}
