package run_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/profiler/run"
)

// Variables that make the test binary a run of the profiler.
const (
	childLogs   = "OBSERVATORY_TEST_LOGS" // a folder, or the URL of a history server
	childOutput = "OBSERVATORY_TEST_OUTPUT"
)

func TestMain(m *testing.M) {
	if logs := os.Getenv(childLogs); logs != "" {
		o := ofLogs(logs, os.Getenv(childOutput))
		if strings.HasPrefix(logs, "http:") {
			o.Logs, o.HistoryServer = "", logs
		}
		if os.Getenv("GOMEMLIMIT") != "" { // as in the pod (assets/workloads)
			o.ClusterThreads, o.AppThreads = 1, 1
		}
		if fatal := os.Getenv(childFatal); fatal != "" {
			go dieWith(begunFile(fatal, os.Getenv(childOutput)))
		}
		summary, err := run.Run(context.Background(), aws.Config{}, o, &progress{})
		if err == nil {
			err = json.NewEncoder(os.Stdout).Encode(summary)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Whenever a run is killed, the ones after it lead to the same bytes as an undisturbed one.
func TestKilledRuns(t *testing.T) {
	kills := testenv.Repeats(4, 20)
	names := []string{"adaptive", "static", "retries", "nested", "starved", "overlap", "dynamic", "local", "broadcast", "killed-driver"}
	logs, undisturbed := folderOf(t, names...), t.TempDir()
	begun := time.Now()
	require.NoError(t, child(t, logs, undisturbed).Run())
	whole := time.Since(begun)
	want := objects(t, undisturbed)

	killed, halfway := 0, 0
	for killed < kills || halfway == 0 && killed < 10*kills {
		out := t.TempDir()
		if !killedAfter(t, child(t, logs, out), whole*time.Duration(killed%kills+1)/time.Duration(kills+1)) {
			whole = whole * 3 / 4 // this time it was faster
			continue
		}
		killed++
		if n := len(objects(t, out)); n > 0 && n < len(want) {
			halfway++
		}
		require.NoError(t, child(t, logs, out).Run())
		require.Equal(t, want, objects(t, out))
	}
	t.Logf("killed %d times, %d times with some of the objects written", killed, halfway)
	require.Positive(t, halfway)
}

// killedAfter starts a process, kills it after a time, and reports whether it still ran.
func killedAfter(t *testing.T, cmd *exec.Cmd, after time.Duration) bool {
	t.Helper()
	require.NoError(t, cmd.Start())
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() }) // it may end at any moment
	defer timer.Stop()
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil {
		require.ErrorAs(t, err, &exit)
		require.False(t, exit.Exited(), "%v", err)
	}
	return err != nil
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
