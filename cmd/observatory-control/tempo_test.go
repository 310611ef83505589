package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const walBlock = "0f8fad5b-d9cb-469f-a165-70867728950e+single-tenant+vParquet4"

// commandEnv is the environment variable that makes the test binary run as
// observatory-control.
const commandEnv = "OBSERVATORY_TEST_TEMPO_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(commandEnv) == "" {
		os.Exit(m.Run())
	}
	_ = os.Unsetenv(commandEnv)
	main()
}

// runTempo runs `observatory tempo` with these arguments.
func runTempo(args ...string) (string, string, error) {
	cmd := exec.Command("/proc/self/exe", append([]string{"tempo"}, args...)...)
	cmd.Env = append(os.Environ(), commandEnv+"=1")
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	err := cmd.Run()
	return out.String(), log.String(), err
}

// brokenWAL creates a write-ahead log with a block whose meta.json is empty.
func brokenWAL(t *testing.T) (wal, meta string) {
	t.Helper()
	wal = filepath.Join(t.TempDir(), "wal")
	meta = filepath.Join(wal, walBlock, "meta.json")
	require.NoError(t, os.MkdirAll(filepath.Dir(meta), 0o700))
	require.NoError(t, os.WriteFile(meta, nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(wal, walBlock, "0000000001"), []byte("PAR1"), 0o600))
	return wal, meta
}

func TestTempoRepairsThenExecutesTheProgram(t *testing.T) {
	wal, meta := brokenWAL(t)
	out, log, err := runTempo("--wal="+wal, "--", "/bin/cat", meta, "--", "/dev/null")
	require.NoError(t, err, log)
	require.Contains(t, out, `"blockID":"0f8fad5b-d9cb-469f-a165-70867728950e"`)
	require.Contains(t, log, "restored meta.json")
}

// Tempo would delete what is not repaired.
func TestTempoDoesNotStartIfTheRepairFails(t *testing.T) {
	wal, meta := brokenWAL(t)
	require.NoError(t, os.Remove(meta))
	require.NoError(t, os.Mkdir(meta, 0o700))
	out, log, err := runTempo("--wal="+wal, "--", "/bin/echo", "started")
	require.Error(t, err)
	require.Empty(t, out)
	require.Contains(t, log, "repair "+wal)
}

func TestTempoReportsMissingProgram(t *testing.T) {
	_, log, err := runTempo("--wal="+t.TempDir(), "--", "/absent")
	require.Error(t, err)
	require.Contains(t, log, "start /absent: no such file or directory")
}
