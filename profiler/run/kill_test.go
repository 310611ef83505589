package run_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/run"
)

// Variables that make the test binary a run of the profiler.
const (
	childLogs   = "OBSERVATORY_TEST_LOGS"
	childOutput = "OBSERVATORY_TEST_OUTPUT"
)

func TestMain(m *testing.M) {
	if logs := os.Getenv(childLogs); logs != "" {
		_, err := run.Run(context.Background(), aws.Config{}, ofLogs(logs, os.Getenv(childOutput)), &progress{})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// kills is how often the run is killed.
const kills = 20

// Whenever a run is killed, the ones after it lead to the same bytes as an undisturbed one.
func TestKilledRuns(t *testing.T) {
	names := []string{"adaptive", "static", "retries", "nested", "starved", "overlap", "dynamic", "local", "broadcast", "killed-driver"}
	logs, undisturbed, out := folderOf(t, names...), t.TempDir(), t.TempDir()
	begun := time.Now()
	require.NoError(t, child(t, logs, undisturbed).Run())
	whole := time.Since(begun)

	killed := 0
	for i := range kills {
		cmd := child(t, logs, out)
		require.NoError(t, cmd.Start())
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case err := <-ended:
			require.NoError(t, err)
		case <-time.After(whole * time.Duration(i+1) / (kills + 1)):
			if err := cmd.Process.Kill(); !errors.Is(err, os.ErrProcessDone) { // it ends at any moment
				require.NoError(t, err)
			}
			if err := <-ended; err != nil {
				killed++
			}
		}
	}
	require.Positive(t, killed)
	require.NoError(t, child(t, logs, out).Run())
	require.Equal(t, objects(t, undisturbed), objects(t, out))
}

// child returns a run of the profiler in a process of its own.
func child(t *testing.T, logs, output string) *exec.Cmd {
	t.Helper()
	binary, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), binary)
	cmd.Env = append(os.Environ(), childLogs+"="+logs, childOutput+"="+output)
	cmd.Stderr = t.Output()
	return cmd
}
