package command_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/run"
)

// Tables that are compacted once stay so: what changes a day has it compacted before the command ends.
func TestCompactedTablesStayCompacted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "history")
	logs := readable(t)
	_, stderr, code := execute(t, "run", "--logs", logs, "--output", dir)
	require.Equal(t, run.ExitComplete, code, stderr)
	_, stderr, code = execute(t, "ddl", "--dialect", "duckdb", "--output", dir, "--compacted")
	require.Equal(t, run.ExitUsage, code)
	require.Equal(t, "observatory-profiler: --compacted: nothing in these tables is compacted yet; run the command compact with the same"+
		" options first\n", stderr)

	compact := func() (done lake.Compaction) {
		stdout, stderr, code := execute(t, "compact", "--output", dir, "--json")
		require.Equal(t, run.ExitComplete, code, stderr)
		require.NoError(t, json.Unmarshal([]byte(stdout), &done))
		return done
	}
	done := compact()
	require.Equal(t, 2, done.Compacted, "that of the application, and the unknown one of its cluster")
	require.Positive(t, done.Objects)
	require.Equal(t, lake.Compaction{Days: 2}, compact())
	stdout, _, code := execute(t, "compact", "--output", dir)
	require.Equal(t, run.ExitComplete, code)
	require.Equal(t, "compacted  0 of 2 days: 0 objects of 0 rows (0 bytes) written, 0 removed\n", stdout)
	stdout, _, code = execute(t, "ddl", "--dialect", "duckdb", "--output", dir, "--compacted")
	require.Equal(t, run.ExitComplete, code)
	require.Contains(t, stdout, "read_parquet('"+dir+"/compacted/jobs/")

	_, stderr, code = execute(t, "delete", "--output", dir, "--application", "app-20261123103508-0000")
	require.Equal(t, run.ExitComplete, code, stderr)
	require.NoDirExists(t, filepath.Join(dir, "compacted/applications"))
	stdout, stderr, code = execute(t, "run", "--logs", logs, "--output", dir)
	require.Equal(t, run.ExitComplete, code, stderr)
	require.Contains(t, stdout, "compacted     ")
	require.DirExists(t, filepath.Join(dir, "compacted/applications"))
	require.Equal(t, lake.Compaction{Days: 2}, compact())
}

// The option has the first run compact, and a later one as well.
func TestRunCompacts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "history")
	stdout, stderr, code := execute(t, "run", "--logs", readable(t), "--output", dir, "--compact", "--json")
	require.Equal(t, run.ExitComplete, code, stderr)
	var summary run.Summary
	require.NoError(t, json.Unmarshal([]byte(stdout), &summary))
	require.NotNil(t, summary.Compaction)
	require.Equal(t, 2, summary.Compaction.Compacted)
	require.DirExists(t, filepath.Join(dir, "compacted/applications"))
}

// A day that cannot be compacted is named with the remedy, and everything else is done.
func TestDayIsNotCompacted(t *testing.T) {
	dir, logs := filepath.Join(t.TempDir(), "history"), readable(t)
	_, stderr, code := execute(t, "run", "--logs", logs, "--output", dir)
	require.Equal(t, run.ExitComplete, code, stderr)
	found, err := filepath.Glob(filepath.Join(dir, "jobs/*/*.parquet"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.NoError(t, os.WriteFile(found[0], []byte("not Parquet"), 0o600))
	stdout, stderr, code := execute(t, "compact", "--output", dir)
	require.Equal(t, run.ExitIncomplete, code, stderr)
	require.Contains(t, stdout, "compacted  1 of 2 days: ")
	require.Contains(t, stdout, "failed     2026-11-23 not compacted: copy table jobs: "+strings.TrimPrefix(found[0], dir+"/"))
	require.Contains(t, stdout, `remove the rows of the application or the cluster with "delete"`)
	stdout, stderr, code = execute(t, "run", "--logs", logs, "--output", dir)
	require.Equal(t, run.ExitIncomplete, code, stderr)
	require.Contains(t, stdout, "2026-11-23 not compacted: copy table jobs: ")
	require.Contains(t, stdout, `remove the rows of the application or the cluster with "delete"`)
}

// What changes nothing compacts nothing, and leaves everything as it is.
func TestDryRunsCompactNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "history")
	_, stderr, code := execute(t, "run", "--logs", readable(t), "--output", dir, "--compact")
	require.Equal(t, run.ExitComplete, code, stderr)
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "_manifest/compacted"))) // as a killed process leaves it
	for _, arguments := range [][]string{
		{"delete", "--application", "app-20261123103508-0000", "--dry-run"}, {"expire", "--retention-days", "1", "--dry-run"}, {"judge"},
	} {
		_, stderr, code := execute(t, append(arguments, "--output", dir)...)
		require.Equal(t, run.ExitComplete, code, stderr)
		require.NoDirExists(t, filepath.Join(dir, "_manifest/compacted"))
	}
}

// A deletion that is done, but not in the copies, is incomplete.
func TestDeletedButNotCompacted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "history")
	_, stderr, code := execute(t, "run", "--logs", readable(t), "--output", dir, "--compact")
	require.Equal(t, run.ExitComplete, code, stderr)
	found, err := filepath.Glob(filepath.Join(dir, "jobs/*/*.parquet"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	other := strings.Replace(found[0], "app-", "app-other-", 1)
	require.NoError(t, os.WriteFile(other, []byte("not Parquet"), 0o600))
	stdout, stderr, code := execute(t, "delete", "--output", dir, "--application", "app-20261123103508-0000")
	require.Equal(t, run.ExitIncomplete, code)
	require.Contains(t, stdout, "1 applications and clusters removed")
	require.Contains(t, stderr, "observatory-profiler: 2026-11-23 not compacted: copy table jobs: ")
	require.NoError(t, os.Remove(other))
	stdout, stderr, code = execute(t, "compact", "--output", dir)
	require.Equal(t, run.ExitComplete, code, stderr)
	require.NoDirExists(t, filepath.Join(dir, "compacted/applications"), stdout)
}

// Catalogs are given the folder of the compacted objects.
func TestStatementsOfCompactedTables(t *testing.T) {
	for _, dialect := range []string{"athena", "spark", "databricks"} {
		stdout, stderr, code := execute(t, "ddl", "--dialect", dialect, "--compacted", "--s3-output-path", lakeInS3, "--catalog-name", "main")
		require.Equal(t, run.ExitComplete, code, stderr)
		require.Contains(t, stdout, "LOCATION 's3://bucket/lake/history/compacted/applications")
		require.NotContains(t, stdout, "lake/history/applications")
	}
}
