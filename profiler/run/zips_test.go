package run_test

import (
	"archive/zip"
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/profiler/run"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// zipped packs files by their names; noise, which does not compress, is before the others.
func zipped(t *testing.T, files map[string][]byte, noise int) []byte {
	t.Helper()
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	put := func(name string, text []byte) {
		file, err := w.Create(name)
		require.NoError(t, err)
		_, err = file.Write(text)
		require.NoError(t, err)
	}
	random, text := rand.New(rand.NewPCG(1, 2)), make([]byte, noise)
	for i := range text {
		text[i] = byte(random.Uint32())
	}
	if noise > 0 {
		put("noise", text)
	}
	for name, text := range files {
		put(name, text)
	}
	require.NoError(t, w.Close())
	return packed.Bytes()
}

// Zips as a history server gives them have the rows of the logs in them, from a folder and from S3.
func TestZipsOfLogs(t *testing.T) {
	plain, undisturbed := folderOf(t, "adaptive", "static"), t.TempDir()
	o := ofLogs(plain, undisturbed)
	o.SourceName = "source"
	runOnce(t, o)

	w, zips := newWorld(t), t.TempDir()
	for n, log := range map[int]string{1: appID(1), 2: "eventlog_v2_" + appID(2) + "/events_1_" + appID(2)} {
		text, err := os.ReadFile(filepath.Join(plain, appID(n)))
		require.NoError(t, err)
		packed, name := zipped(t, map[string][]byte{log: text}, 1<<20), "eventLogs-"+appID(n)+".zip"
		require.NoError(t, os.WriteFile(filepath.Join(zips, name), packed, 0o600))
		require.NoError(t, w.s3.Put(t.Context(), bucket, "zips/"+name, packed))
	}
	for _, from := range []string{zips, "s3://" + bucket + "/zips/", "s3://" + bucket + "/zips/eventLogs-" + appID(2) + ".zip"} {
		out := t.TempDir()
		o.Logs, o.Output = from, out
		summary, err := run.Run(t.Context(), w.unrecorded, o, &progress{})
		require.NoError(t, err)
		require.Equal(t, run.ExitComplete, summary.ExitCode(), summary.Incomplete)
		if filepath.Ext(from) == ".zip" {
			require.Equal(t, 1, summary.ApplicationsRead)
			require.Equal(t, appID(2), read[tables.Application](t, out)[0].ApplicationID)
			continue
		}
		require.Equal(t, objects(t, undisturbed), objects(t, out))
		require.Equal(t, 2, summary.FilesIgnored, "what is beside the logs in the zips")
	}
}

// A folder without a log is not a run that read everything.
func TestFolderWithoutLogs(t *testing.T) {
	logs, out := folderOf(t, "static"), t.TempDir()
	runOnce(t, ofLogs(logs, out))
	for name, c := range map[string]struct {
		files   map[string]string
		has     string
		ignored []eventlog.IgnoredFile
	}{
		"empty": {has: "has no files"},
		"notes": {
			map[string]string{"notes.txt": "hello"}, "has 1 other file (notes.txt: it does not begin with an event of Spark)",
			[]eventlog.IgnoredFile{{Name: "notes.txt", Reason: "it does not begin with an event of Spark"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			none := t.TempDir()
			for file, text := range c.files {
				require.NoError(t, os.WriteFile(filepath.Join(none, file), []byte(text), 0o600))
			}
			summary, err := run.Run(t.Context(), aws.Config{}, ofLogs(none, out), &progress{})
			require.NoError(t, err)
			require.Equal(t, run.ExitIncomplete, summary.ExitCode())
			require.Len(t, summary.Incomplete, 1)
			for _, text := range []string{none, "must hold an event log", c.has, "give the folder that spark.eventLog.dir names"} {
				require.Contains(t, summary.Incomplete[0].Reason, text)
			}
			require.Equal(t, c.ignored, summary.Ignored)
			require.Len(t, read[tables.Application](t, out), 1, "of the earlier run")
		})
	}
}
