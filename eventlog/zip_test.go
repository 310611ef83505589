package eventlog_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/eventlog"
)

// zipOf packs files, by any names.
func zipOf(t testing.TB, files map[string][]byte) []byte {
	t.Helper()
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	for name, text := range files {
		file, err := w.Create(name)
		require.NoError(t, err)
		_, err = file.Write(text)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return packed.Bytes()
}

// A zip is read like a folder, whatever its files are named.
func TestZips(t *testing.T) {
	plain := map[string][]byte{"application_1_0001": started("1")}
	many := map[string][]byte{}
	for n := range 4097 {
		many[fmt.Sprint("application_1_", n)] = nil
	}
	for name, c := range map[string]struct {
		zip     []byte
		logs    map[string][]string // ids of the applications' starts, by log
		fails   string
		ignored string
	}{
		"a file":            {zip: zipOf(t, plain), logs: map[string][]string{"x.zip/application_1_0001": {"1"}}},
		"a compressed file": {zip: zipOf(t, map[string][]byte{"a.gz": gzipped(t, started("1"))}), logs: map[string][]string{"x.zip/a.gz": {"1"}}},
		"a folder of rolled files": {
			zip:  zipOf(t, map[string][]byte{"eventlog_v2_a/events_2_a": started("2"), "eventlog_v2_a/events_1_a": started("1")}),
			logs: map[string][]string{"x.zip/eventlog_v2_a": {"1", "2"}},
		},
		"rolled files": {
			zip:  zipOf(t, map[string][]byte{"events_2_a": started("2"), "events_1_a": started("1"), "appstatus_a": nil}),
			logs: map[string][]string{"x.zip": {"1", "2"}},
		},
		"several logs": {
			zip:     zipOf(t, map[string][]byte{"a/renamed": started("1"), "b/renamed": started("2"), "notes.txt": []byte("hello")}),
			logs:    map[string][]string{"x.zip/a/renamed": {"1"}, "x.zip/b/renamed": {"2"}},
			ignored: "x.zip/notes.txt: it does not begin with an event of Spark",
		},
		"names that lead out of it": {
			zip:  zipOf(t, map[string][]byte{"../../etc/log": started("1")}),
			logs: map[string][]string{"x.zip/etc/log": {"1"}},
		},
		"no log":         {zip: zipOf(t, map[string][]byte{"a": nil}), ignored: "x.zip: no file in this zip is an event log"},
		"nothing":        {zip: zipOf(t, nil), ignored: "x.zip: no file in this zip is an event log"},
		"a zip":          {zip: zipOf(t, map[string][]byte{"y.zip": zipOf(t, plain)}), fails: "x.zip/y.zip: a zip within a zip is not read"},
		"cut off":        {zip: zipOf(t, plain)[:60], fails: "event log x.zip: read the zip's directory"},
		"too many files": {zip: zipOf(t, many), fails: "event log x.zip: a zip of 4097 files: at most 4096"},
		"a bomb":         {zip: zipOf(t, map[string][]byte{"a": bytes.Repeat([]byte{'\n'}, 10<<20)}), fails: "more than 500 times as large"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "x.zip"), c.zip, 0o600))
			for _, from := range []string{".", "x.zip"} {
				logs, ignored, err := eventlog.Search(os.DirFS(dir), from)
				require.NoError(t, err)
				found := map[string][]string{}
				for _, log := range logs {
					ids, _, err := idsIn(t, log)
					if c.fails != "" {
						require.ErrorContains(t, err, c.fails)
						continue
					}
					require.NoError(t, err)
					found[log.Name] = ids
				}
				if c.fails != "" {
					require.Len(t, logs, 1)
					continue
				}
				require.Len(t, found, len(c.logs))
				for log, ids := range c.logs {
					require.Equal(t, ids, found[log], log)
				}
				require.Equal(t, c.ignored != "", ignored.Count == 1)
				for _, file := range ignored.Files {
					require.Equal(t, c.ignored, file.Name+": "+file.Reason)
				}
			}
		})
	}
}

// What is no log is named with the reason; Hadoop's own files are not.
func TestIgnoredFiles(t *testing.T) {
	files := fstest.MapFS{
		"application_1_0001": {Data: started("1")}, "application_1_0001.inprogress": {Data: started("1")},
		"_SUCCESS": {}, ".application_1_0001.crc": {Data: []byte("crc")}, "a/empty": {}, "a/notes.txt": {Data: []byte("hello")},
		"1/2/3/4/5/6/7/8/9/application_1_0002": {Data: started("2")},
	}
	logs, ignored, err := eventlog.Search(files, ".")
	require.NoError(t, err)
	require.Len(t, logs, 1)
	require.Equal(t, eventlog.Ignored{Count: 4, Files: []eventlog.IgnoredFile{
		{Name: "application_1_0001.inprogress", Reason: "its finished copy is there"},
		{Name: "1/2/3/4/5/6/7/8/9", Reason: "folders are read 8 deep"},
		{Name: "a/empty", Reason: "it is empty"},
		{Name: "a/notes.txt", Reason: "it does not begin with an event of Spark"},
	}}, ignored)

	many := fstest.MapFS{}
	for n := range 100 {
		many[fmt.Sprintf("%03d", n)] = &fstest.MapFile{}
	}
	_, ignored, err = eventlog.Search(many, ".")
	require.NoError(t, err)
	require.Equal(t, 100, ignored.Count)
	require.Len(t, ignored.Files, 20)
}

// A zip that is opened as a log says what to do.
func TestZipThatIsOpenedAsALog(t *testing.T) {
	log, err := eventlog.Open(fstest.MapFS{"x.zip": {Data: zipOf(t, map[string][]byte{"a": started("1")})}}, "x.zip")
	require.NoError(t, err)
	_, _, err = idsIn(t, log)
	require.EqualError(t, err, "read event log x.zip: a zip: unpack it, and name the log in it")
}
