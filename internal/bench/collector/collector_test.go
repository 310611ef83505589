package collector

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/artifacts"
	"github.com/emr-observatory/emr-observatory/platform"
)

// TestMain runs the machine's task where Measure has started this program again.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == MachineCommand {
		if err := RunMachine(context.Background(), os.Args[2], os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// One run of the development build, which every run of the tests has compiled.
func TestRunMeasuresTheRealCollector(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "otelcol")
	figures, err := unpack(t.Context(), artifacts.Development, binary)
	require.NoError(t, err)
	require.Greater(t, figures.BinaryMB, figures.DownloadMB)
	require.Positive(t, figures.DownloadMB)
	seconds, err := runMachine(t.Context(), binary)
	require.NoError(t, err)
	require.Positive(t, seconds)
	t.Logf("%d lines: %.2f CPU s on %s", Lines, seconds, runtime.GOARCH)
}

// A collector that sends nothing must not be measured as a cheap one.
func TestRunFailsWithoutACollector(t *testing.T) {
	ends, err := exec.LookPath("false")
	require.NoError(t, err)
	_, err = runMachine(t.Context(), ends)
	require.ErrorContains(t, err, "collector not healthy before the collector's end (exit status 1)")
	_, err = Measure(t.Context(), 0)
	require.ErrorContains(t, err, "pairs: 0")
}

func TestExecutorLogHasStackTraces(t *testing.T) {
	lines := strings.Split(strings.TrimSuffix(executorLog(0, 1000), "\n"), "\n")
	require.Len(t, lines, 1000)
	traces := 0
	for _, l := range lines {
		if strings.HasPrefix(l, "\t... ") {
			traces++
		}
	}
	require.Equal(t, 20, traces)
}

func TestBenchRunsTheUnitsCommand(t *testing.T) {
	cmd, err := unitCommand(t.Context())
	require.NoError(t, err)
	require.Equal(t, platform.NodeCollectorBinary, cmd.Path)
	require.True(t, slices.ContainsFunc(cmd.Env, func(v string) bool { return strings.HasPrefix(v, "GOMEMLIMIT=") }))
	require.Contains(t, strings.Join(cmd.Args, " "), platform.NodeCollectorConfig)
	require.False(t, bytes.Contains([]byte(strings.Join(cmd.Env, " ")), []byte("EnvironmentFile")))
}
