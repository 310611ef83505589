package run_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/run"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// nobody is a user who owns nothing. Modes do not bind root.
const nobody = 65534

// as returns a folder that a user owns, and a function that runs the profiler as that user:
// another one if this is root.
func as(t *testing.T) (dir string, profile func(logs, out string) run.Summary) {
	t.Helper()
	if os.Geteuid() != 0 {
		return t.TempDir(), func(logs, out string) run.Summary {
			summary, _ := runOnce(t, ofLogs(logs, out))
			return summary
		}
	}
	dir, err := os.MkdirTemp("", "denied") // t.TempDir's parent is root's alone
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chown(dir, nobody, nobody))
	return dir, func(logs, out string) (summary run.Summary) {
		cmd := child(t, logs, out)
		cmd.Path, cmd.Dir = "/proc/self/exe", dir // the folder of the test's binary may be root's alone
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		text, err := cmd.Output()
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &summary), "%s", text)
		return summary
	}
}

// A file and folders that the user may not open are named, and cost no other application.
func TestLogsThatMayNotBeOpened(t *testing.T) {
	dir, profile := as(t)
	logs, out := filepath.Join(dir, "team-a"), filepath.Join(dir, "out")
	at := func(name string) string { return filepath.Join(logs, name) }
	write := func(name, golden, id string, mode os.FileMode) {
		require.NoError(t, os.MkdirAll(filepath.Dir(at(name)), 0o755))
		require.NoError(t, os.WriteFile(at(name), logOf(t, golden, id), 0o600))
		require.NoError(t, os.Chmod(at(name), mode))
	}
	write(appID(1), "adaptive", appID(1), 0o644)
	write("march/renamed", "static", appID(2), 0o644)
	write(appID(3), "retries", appID(3), 0)
	write("eventlog_v2_"+appID(4)+"/events_1_"+appID(4), "nested", appID(4), 0o644)
	write("april/"+appID(5), "starved", appID(5), 0o644)
	write("may/"+appID(6), "dynamic", appID(6), 0o644)
	for name, mode := range map[string]os.FileMode{"eventlog_v2_" + appID(4): 0, "april": 0, "may": 0o444} {
		require.NoError(t, os.Chmod(at(name), mode))
		t.Cleanup(func() { require.NoError(t, os.Chmod(at(name), 0o755)) })
	}
	require.NoError(t, os.Mkdir(out, 0o755))
	require.NoError(t, os.Chmod(out, 0o777))

	summary := profile(logs, out)
	require.Equal(t, 2, summary.ApplicationsRead)
	require.Equal(t, run.ExitIncomplete, summary.ExitCode())
	require.Len(t, summary.Incomplete, 4)
	for i, name := range []string{appID(3), "april", "eventlog_v2_" + appID(4), "may/" + appID(6)} {
		require.Contains(t, summary.Incomplete[i].Reason, name+": ")
		require.Contains(t, summary.Incomplete[i].Reason, "permission denied")
	}
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(out, 0, 0)) // the lake's files are nobody's, and root may read them
	}
	require.Len(t, read[tables.Application](t, out), 2)
}

// A file of a rolled log that the user may not open costs only its own rows, and the next
// run tries again.
func TestPartThatMayNotBeOpened(t *testing.T) {
	dir, profile := as(t)
	logs, out := filepath.Join(dir, "team-a"), filepath.Join(dir, "out")
	rolled := filepath.Join(logs, "eventlog_v2_"+appID(1))
	require.NoError(t, os.MkdirAll(rolled, 0o755))
	require.NoError(t, os.Mkdir(out, 0o777))
	require.NoError(t, os.Chmod(out, 0o777))
	text := logOf(t, "static", appID(1))
	for i, part := range thirds(text) {
		require.NoError(t, os.WriteFile(filepath.Join(rolled, "events_"+string(rune('1'+i))+"_"+appID(1)), part, 0o644))
	}
	second := filepath.Join(rolled, "events_2_"+appID(1))
	require.NoError(t, os.Chmod(second, 0))
	summary := profile(logs, out)
	require.Equal(t, 1, summary.ApplicationsRead)
	require.Equal(t, run.ExitIncomplete, summary.ExitCode())
	require.Contains(t, summary.Incomplete[0].Reason, "events_2_"+appID(1)+": permission denied")

	require.NoError(t, os.Chmod(second, 0o644))
	summary = profile(logs, out)
	require.Equal(t, 1, summary.ApplicationsRead)
	require.Equal(t, run.ExitComplete, summary.ExitCode())
}

// thirds divides a text between lines.
func thirds(text []byte) (parts [][]byte) {
	for n := 3; n > 0; n-- {
		end := len(text) / n
		for end < len(text) && text[end-1] != '\n' {
			end++
		}
		parts, text = append(parts, text[:end]), text[end:]
	}
	return parts
}
