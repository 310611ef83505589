package command_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/command"
	"github.com/emr-observatory/emr-observatory/profiler/run"
)

// logs is a folder with one event log of Spark 3.5 in several forms; one of them, compressed
// with lzf, cannot be read.
const logs = "../../eventlog/testdata"

// rolled is the folder of the rolled form.
const rolled = "eventlog_v2_app-20261123103508-0000"

// execute runs a command line and returns its exit code.
func execute(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errors bytes.Buffer
	code = executeIn(t.Context(), &out, &errors, args...)
	return out.String(), errors.String(), code
}

// executeIn runs a command line until ctx is done.
func executeIn(ctx context.Context, stdout, stderr io.Writer, args ...string) (code int) {
	root := &cobra.Command{Use: "observatory-profiler", SilenceUsage: true, SilenceErrors: true}
	command.AddTo(root)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetArgs(args)
	return command.Exit(stderr, root.Name(), root.ExecuteContext(ctx))
}

// readable copies one readable log to a folder.
func readable(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "team-a")
	require.NoError(t, os.CopyFS(filepath.Join(dir, rolled), os.DirFS(filepath.Join(logs, rolled))))
	return dir
}

func TestRunOverFolder(t *testing.T) {
	dir, out := readable(t), t.TempDir()
	stdout, stderr, code := execute(t, "run", "--logs", dir, "--output", out, "--json")
	require.Equal(t, run.ExitComplete, code, stderr)
	var summary run.Summary
	require.NoError(t, json.Unmarshal([]byte(stdout), &summary), "stdout has the summary and nothing else")
	require.Equal(t, 1, summary.ApplicationsRead)
	require.Positive(t, summary.Objects)
	require.Contains(t, stderr, "team-a: 1 of 1 applications read")

	stdout, _, code = execute(t, "run", "--logs", dir, "--output", out)
	require.Equal(t, run.ExitComplete, code)
	require.Contains(t, stdout, "applications  1 found, 1 already complete, 0 read, 0 failed")
	require.Contains(t, stdout, "objects       0 written")
}

func TestIncompleteRun(t *testing.T) {
	stdout, stderr, code := execute(t, "run", "--logs", logs, "--output", t.TempDir())
	require.Equal(t, run.ExitIncomplete, code)
	require.Contains(t, stdout, "compressed with lzf")
	require.NotContains(t, stderr, "observatory-profiler:", "the summary names it already")
}

func TestUsageErrors(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"walk"}, `observatory-profiler: unknown command "walk"; observatory-profiler --help lists the commands`},
		{[]string{"run", "--max-cluster", "1"}, "unknown flag: --max-cluster"},
		{[]string{"run", "folder"}, `unknown command "folder" for "observatory-profiler run"`},
		{[]string{"run", "--max-clusters", "-1"}, `flag --max-clusters: "-1" must be a whole number, 0 or more`},
		{[]string{"run", "--environment", "prod"}, `s3_output_path: "" must be set in environment prod`},
		{[]string{"expire", "--output", t.TempDir()}, `retention_days: "0" must be 1 or more`},
		{[]string{"delete", "--output", t.TempDir()}, "no rows are selected; give --account"},
		{[]string{"delete", "--output", t.TempDir(), "--from", "1.1.2026"}, `flag --from: "1.1.2026" must be a date`},
		{[]string{"delete", "--output", t.TempDir(), "--cluster", "j-1", "--attempt", "1"}, "--attempt selects nothing without --application"},
	} {
		stdout, stderr, code := execute(t, test.args...)
		require.Equal(t, run.ExitUsage, code, test.args)
		require.Contains(t, stderr, test.want)
		require.Empty(t, stdout)
	}
}

func TestFailedRun(t *testing.T) {
	stdout, stderr, code := execute(t, "run", "--logs", filepath.Join(t.TempDir(), "none"), "--output", t.TempDir())
	require.Equal(t, run.ExitFailed, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "observatory-profiler: open the folder of event logs")
}

// Without an event log, no command says that it is done.
func TestFolderWithoutLogs(t *testing.T) {
	none := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(none, "notes.txt"), []byte("hello"), 0o600))
	want := `logs: "` + none + `" must hold an event log`
	stdout, _, code := execute(t, "run", "--logs", none, "--output", t.TempDir())
	require.Equal(t, run.ExitIncomplete, code)
	require.Contains(t, stdout, "ignored       notes.txt: it does not begin with an event of Spark")
	require.Contains(t, stdout, "incomplete    "+want)

	file := filepath.Join(t.TempDir(), "job.html")
	_, stderr, code := execute(t, "report", "--logs", none, "--html", file)
	require.Equal(t, run.ExitIncomplete, code)
	require.Contains(t, stderr, "observatory-profiler: "+want)
	require.NoFileExists(t, file)
}

func TestRemoval(t *testing.T) {
	dir, out := readable(t), t.TempDir()
	_, stderr, code := execute(t, "run", "--logs", dir, "--output", out)
	require.Equal(t, run.ExitComplete, code, stderr)
	would, _, code := execute(t, "expire", "--output", out, "--retention-days", "1", "--dry-run")
	require.Equal(t, run.ExitComplete, code)
	require.Contains(t, would, "to be removed")

	var removed []struct{ ApplicationID string }
	stdout, _, _ := execute(t, "delete", "--output", out, "--application", "app-20261123103508-0000", "--attempt", "", "--json")
	require.NoError(t, json.Unmarshal([]byte(stdout), &removed))
	require.Len(t, removed, 1)
	require.Equal(t, "app-20261123103508-0000", removed[0].ApplicationID)
	stdout, _, _ = execute(t, "delete", "--output", out, "--cluster", "other", "--json")
	require.Equal(t, "[]\n", stdout)
	again, _, _ := execute(t, "run", "--logs", dir, "--output", out)
	require.Contains(t, again, "1 read", "the source brings the rows back")
}

// Commands that need tables do not create the folder of a mistyped option.
func TestMissingTables(t *testing.T) {
	typo, other := filepath.Join(t.TempDir(), "histroy"), t.TempDir()
	for _, args := range [][]string{{"tools"}, {"compact"}, {"delete", "--cluster", "j-1"}, {"expire", "--retention-days", "1"}} {
		stdout, stderr, code := execute(t, append(args, "--output", typo)...)
		require.Equal(t, run.ExitFailed, code)
		require.Empty(t, stdout, "nothing was removed")
		require.Contains(t, stderr, "no tables in "+typo)
		require.Contains(t, stderr, "give what a run wrote to (output or s3_output_path)")
		require.NoDirExists(t, typo)
		_, stderr, code = execute(t, append(args, "--output", other)...)
		require.Equal(t, run.ExitFailed, code)
		require.Contains(t, stderr, "no tables in "+other)
		left, err := os.ReadDir(other)
		require.NoError(t, err)
		require.Empty(t, left)
	}
}

func TestTablesAreListed(t *testing.T) {
	stdout, _, code := execute(t, "tables")
	require.Equal(t, run.ExitComplete, code)
	require.Contains(t, stdout, "photonanalysis: ")
	_, stderr, code := execute(t, "tables", "--sql", "--output", filepath.Join(t.TempDir(), "typo"))
	require.Equal(t, run.ExitFailed, code)
	require.Contains(t, stderr, "no tables in ")
	stdout, _, _ = execute(t, "tables", "--json")
	var listed []struct {
		Name    string
		Columns []struct{ Name string }
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &listed))
	require.Equal(t, "applications", listed[0].Name)
	require.Equal(t, "account", listed[0].Columns[0].Name)
}
