package command_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/run"
	"github.com/emr-observatory/emr-observatory/report"
)

// The page of logs and the page of their tables have the same figures.
func TestReport(t *testing.T) {
	dir, out := readable(t), t.TempDir()
	t.Setenv("TMPDIR", t.TempDir())
	file := filepath.Join(t.TempDir(), "job.html")
	stdout, stderr, code := execute(t, "report", "--logs", dir, "--html", file, "--json")
	require.Equal(t, run.ExitComplete, code, stderr)
	var fromLogs, fromTables report.Application
	require.NoError(t, json.Unmarshal([]byte(stdout), &fromLogs))
	html, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(html), fromLogs.ID)
	require.Contains(t, stderr, file+": "+fromLogs.Verdict())
	left, err := os.ReadDir(os.TempDir())
	require.NoError(t, err)
	require.Empty(t, left)

	_, stderr, code = execute(t, "run", "--logs", dir, "--output", out)
	require.Equal(t, run.ExitComplete, code, stderr)
	stdout, stderr, code = execute(t, "report", fromLogs.ID, "--output", out, "--json")
	require.Equal(t, run.ExitComplete, code, stderr)
	require.NoError(t, json.Unmarshal([]byte(stdout), &fromTables))
	require.Equal(t, fromLogs, fromTables)
}

// What fails leaves an earlier page as it is.
func TestReportThatFails(t *testing.T) {
	dir := readable(t)
	file := filepath.Join(t.TempDir(), "job.html")
	require.NoError(t, os.WriteFile(file, []byte("earlier"), 0o600))
	_, stderr, code := execute(t, "report", "application_1_0001", "--logs", dir, "--html", file)
	require.Equal(t, run.ExitFailed, code)
	require.Contains(t, stderr, `application "application_1_0001": is not in the tables`)
	_, stderr, code = execute(t, "report", "a", "b")
	require.Equal(t, run.ExitUsage, code, stderr)
	_, stderr, code = execute(t, "report", "--logs", dir, "--html", filepath.Join(t.TempDir(), "none", "job.html"))
	require.Equal(t, run.ExitFailed, code)
	require.Contains(t, stderr, "write the page")
	kept, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "earlier", string(kept))
}
