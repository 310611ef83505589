package run_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/run"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// childFatal names the application that ends a child's process while it is read, as one does
// whose history needs more memory than there is.
const childFatal = "OBSERVATORY_TEST_FATAL"

// tries are the objects of applications that are being read.
const tries = "_manifest/tries"

// begunFile returns a function that reads the object of an application that is being read into a
// folder, nil if there is none, and what it reads now.
func begunFile(application, output string) (read func() []byte, now []byte) {
	read = func() (content []byte) {
		found, _ := filepath.Glob(filepath.Join(output, tries, application+".*"))
		for _, file := range found {
			content, _ = os.ReadFile(file)
		}
		return content
	}
	return read, read()
}

// dieWith kills this process once the object is another than before.
func dieWith(read func() []byte, before []byte) {
	for ; ; time.Sleep(time.Millisecond) {
		if now := read(); len(now) > 0 && !bytes.Equal(now, before) {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	}
}

// largeLog is a log that takes seconds to be read: its tasks end a thousand times.
func largeLog(t *testing.T, name, id string) []byte {
	t.Helper()
	lines := bytes.SplitAfter(logOf(t, name, id), []byte("\n"))
	var large bytes.Buffer
	for _, line := range lines {
		large.Write(line)
		if bytes.Contains(line, []byte("SparkListenerTaskEnd")) {
			large.Write(bytes.Repeat(line, 1000))
		}
	}
	return large.Bytes()
}

// An application that ends the profiler each time that it is read is given up after three times,
// and keeps no other from being read. A day later it is tried again.
func TestAnApplicationThatEndsTheProfiler(t *testing.T) {
	logs, output := folderOf(t, "adaptive", "static", "retries"), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(logs, appID(2)), largeLog(t, "adaptive", appID(2)), 0o600))
	last := func(kill bool) (run.Summary, error) {
		cmd := child(t, logs, output)
		if kill {
			cmd.Env = append(cmd.Env, childFatal+"="+appID(2))
		}
		var summary run.Summary
		out, err := cmd.Output()
		if err == nil {
			require.NoError(t, json.Unmarshal(out, &summary))
		}
		return summary, err
	}
	for range 3 {
		_, err := last(true)
		require.ErrorContains(t, err, "signal: killed")
	}
	summary, err := last(true)
	require.NoError(t, err)
	require.Equal(t, 1, summary.ApplicationsFailed)
	require.Contains(t, reasonOf(summary, appID(2)), "reading it ended the profiler 3 times")
	require.Equal(t, []string{appID(1), appID(3)}, applicationsIn(t, output))
	require.Equal(t, []string{string(fold.Limited)}, reasonsIn(t, output, appID(2)))
	begun, err := filepath.Glob(filepath.Join(output, tries, "*"))
	require.NoError(t, err)
	require.Len(t, begun, 1, "those that were read beside it are cleared")

	var kept lake.Tries
	raw, err := os.ReadFile(begun[0])
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &kept))
	require.Equal(t, 3, kept.Count)
	kept.Last = kept.Last.Add(-25 * time.Hour)
	raw, err = json.Marshal(kept)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(begun[0], raw, 0o600))
	summary, err = last(false)
	require.NoError(t, err)
	require.Empty(t, reasonOf(summary, appID(2)))
	require.Equal(t, []string{appID(1), appID(2), appID(3)}, applicationsIn(t, output))
	require.NoFileExists(t, begun[0])
}

func reasonOf(summary run.Summary, application string) string {
	for _, i := range summary.Incomplete {
		if i.Application == application && strings.Contains(i.Reason, "ended the profiler") {
			return i.Reason
		}
	}
	return ""
}

// applicationsIn returns the ids in the table applications of a folder, in order.
func applicationsIn(t *testing.T, output string) (ids []string) {
	t.Helper()
	for _, row := range read[tables.Application](t, output) {
		ids = append(ids, row.ApplicationID)
	}
	slices.Sort(ids)
	return ids
}

// reasonsIn returns why rows of an application are missing in a folder.
func reasonsIn(t *testing.T, output, application string) (reasons []string) {
	t.Helper()
	for _, row := range read[tables.Completeness](t, output) {
		if row.ApplicationID == application {
			reasons = append(reasons, row.Reason)
		}
	}
	return reasons
}
