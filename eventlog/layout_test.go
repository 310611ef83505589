package eventlog_test

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/eventlog"
)

// started is a log whose only event names its application.
func started(id string) []byte {
	return []byte(`{"Event":"SparkListenerApplicationStart","App ID":"` + id + `","Timestamp":1}` + "\n")
}

func gzipped(t testing.TB, text []byte) []byte {
	t.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write(text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return packed.Bytes()
}

func folderOfLogs(t testing.TB) fstest.MapFS {
	old, young := time.Unix(1000, 0), time.Unix(2000, 0)
	files := fstest.MapFS{
		"logs/application_1700000000000_0001":                         {Data: started("1"), ModTime: old},
		"logs/application_1700000000000_0002_2.lz4.inprogress":        {Data: started("2")},
		"logs/application_1700000000000_0003.inprogress":              {Data: started("old")},
		"logs/application_1700000000000_0003":                         {Data: started("3")},
		"logs/.application_1700000000000_0001.crc":                    {Data: []byte("crc")},
		"logs/archived/march.jsonl":                                   {Data: started("march")},
		"logs/archived/april.gz":                                      {Data: gzipped(t, started("april"))},
		"logs/archived/notes.txt":                                     {Data: []byte("hello\n")},
		"logs/archived/empty":                                         {},
		"logs/archived/packed.lzf":                                    {Data: []byte("ZV\x00\x00\x05hello")},
		"logs/eventlog_v2_a_1/appstatus_a_1.inprogress":               {},
		"logs/eventlog_v2_a_1/events_1_a_1":                           {Data: started("r1")},
		"logs/eventlog_v2_a_1/events_2_a_1":                           {Data: started("r2"), ModTime: young},
		"logs/eventlog_v2_a_1/events_2_a_1.compact":                   {Data: started("r2c"), ModTime: young},
		"logs/eventlog_v2_a_1/events_10_a_1":                          {Data: started("r10"), ModTime: old},
		"logs/eventlog_v2_a_1/events_3_a_1":                           {Data: started("r3"), ModTime: old},
		"logs/eventlog_v2_none/appstatus_none.inprogress":             {},
		"logs/0123/eventlog/0123_10/77/eventlog":                      {Data: started("d3")},
		"logs/0123/eventlog/0123_10/77/eventlog-2026-11-02--10-00.gz": {Data: gzipped(t, started("d2"))},
		"logs/0123/eventlog/0123_10/77/eventlog-2026-11-01--23-00.gz": {Data: gzipped(t, started("d1"))},
		"logs/0123/driver/stdout":                                     {Data: []byte("{\"a\":1}\n")},
	}
	return files
}

// idsIn reads a log, and returns the application ids of its events and what is lost.
func idsIn(t *testing.T, log *eventlog.Log) (ids []string, lost []eventlog.Cause, err error) {
	t.Helper()
	_, err = log.Read(t.Context(), func(event eventlog.Event) error {
		switch e := event.(type) {
		case *eventlog.ApplicationStart:
			ids = append(ids, e.ID)
		case *eventlog.Lost:
			lost = append(lost, e.Cause)
		}
		return nil
	})
	return ids, lost, err
}

func TestEveryLayoutIsFound(t *testing.T) {
	files := folderOfLogs(t)
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, files))
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	require.NoError(t, w.AddFS(files))
	require.NoError(t, w.Close())
	zipped, err := zip.NewReader(bytes.NewReader(packed.Bytes()), int64(packed.Len()))
	require.NoError(t, err)
	for kind, files := range map[string]fs.FS{"memory": files, "disk": os.DirFS(dir), "zip": zipped} {
		t.Run(kind, func(t *testing.T) {
			logs, err := eventlog.Find(files, "logs")
			require.NoError(t, err)
			found := map[string]*eventlog.Log{}
			var names []string
			for _, log := range logs {
				names = append(names, strings.TrimPrefix(log.Name, "logs/"))
				found[path.Base(log.Name)] = log
			}
			require.Equal(t, []string{
				"0123/eventlog/0123_10/77", "application_1700000000000_0001", "application_1700000000000_0002_2.lz4.inprogress",
				"application_1700000000000_0003",
				"archived/april.gz", "archived/march.jsonl", "archived/packed.lzf", "eventlog_v2_a_1", "eventlog_v2_none",
			}, names)
			for name, want := range map[string]struct {
				ids                   []string
				lost                  []eventlog.Cause
				inProgress, compacted bool
			}{
				"77":                             {ids: []string{"d1", "d2", "d3"}},
				"application_1700000000000_0001": {ids: []string{"1"}},
				"application_1700000000000_0002_2.lz4.inprogress": {ids: []string{"2"}, inProgress: true},
				"application_1700000000000_0003":                  {ids: []string{"3"}},
				"april.gz":                                        {ids: []string{"april"}},
				"march.jsonl":                                     {ids: []string{"march"}},
				"eventlog_v2_a_1": {
					ids: []string{"r2c", "r3", "r10"}, lost: []eventlog.Cause{eventlog.Compacted, eventlog.Absent}, inProgress: true, compacted: true,
				},
			} {
				ids, lost, err := idsIn(t, found[name])
				require.NoError(t, err)
				require.Equal(t, want.ids, ids, name)
				require.Equal(t, want.lost, lost, name)
				require.Equal(t, want.inProgress, found[name].InProgress, name)
				require.Equal(t, want.compacted, found[name].Compacted, name)
				again, err := eventlog.Open(files, found[name].Name)
				require.NoError(t, err)
				require.Equal(t, found[name], again)
				single, err := eventlog.Find(files, found[name].Name)
				require.NoError(t, err)
				require.Equal(t, []*eventlog.Log{again}, single)
			}
			_, _, err = idsIn(t, found["packed.lzf"])
			require.ErrorContains(t, err, "compressed with lzf")
			_, _, err = idsIn(t, found["eventlog_v2_none"])
			require.ErrorContains(t, err, "no file events_")
			require.True(t, found["eventlog_v2_none"].InProgress)
			rolled := found["eventlog_v2_a_1"]
			require.EqualValues(t, len(started("r2c"))+len(started("r3"))+len(started("r10")), rolled.Size)
			if kind == "memory" {
				require.Equal(t, time.Unix(2000, 0), rolled.Modified)
				require.Equal(t, time.Unix(1000, 0), found["application_1700000000000_0001"].Modified)
			}
		})
	}
}

func TestRolledFilesThatAreMissing(t *testing.T) {
	files := fstest.MapFS{
		"eventlog_v2_a/events_2_a": {Data: started("2")}, "eventlog_v2_a/events_3_a": {Data: started("3")},
		"eventlog_v2_a/events_6_a": {Data: started("6")}, "eventlog_v2_a/appstatus_a": {},
	}
	log, err := eventlog.Open(files, "eventlog_v2_a")
	require.NoError(t, err)
	var events []string
	_, err = log.Read(t.Context(), func(event eventlog.Event) error {
		switch e := event.(type) {
		case *eventlog.ApplicationStart:
			events = append(events, e.ID)
		case *eventlog.Lost:
			events = append(events, e.Reason)
		}
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, []string{
		"eventlog_v2_a: files events_1 to events_1 are missing", "2", "3", "eventlog_v2_a: files events_4 to events_5 are missing", "6",
	}, events)
}

// What is damaged in one file leaves the events before and those of the next file.
func TestDamageInTheMiddleOfARolledLog(t *testing.T) {
	text := bytes.Repeat(started("x"), 1000)
	packed := gzipped(t, text)
	broken := bytes.Clone(packed)
	copy(broken[len(broken)/2:], "\xff\xff\xff\xff\xff\xff")
	damaged := func(r eventlog.Report) string { return r.Damaged }
	truncated := func(r eventlog.Report) string { return r.Truncated }
	for name, c := range map[string]struct {
		second []byte
		lost   eventlog.Cause
		report func(eventlog.Report) string
		place  string
	}{
		"text":       {[]byte("\x00\x01garbage\n" + `{"Event":"Spark` + "\n"), eventlog.Damaged, damaged, "events_2_a:1: "},
		"compressed": {broken, eventlog.Damaged, damaged, "events_2_a:"},
		"cut off":    {packed[:len(packed)/2], eventlog.CutOff, truncated, "events_2_a:"},
		"header":     {packed[:5], eventlog.CutOff, truncated, "events_2_a:"},
	} {
		t.Run(name, func(t *testing.T) {
			log, err := eventlog.Open(fstest.MapFS{
				"eventlog_v2_a/events_1_a": {Data: started("1")}, "eventlog_v2_a/events_2_a": {Data: c.second},
				"eventlog_v2_a/events_3_a": {Data: started("3")},
			}, "eventlog_v2_a")
			require.NoError(t, err)
			var ids []string
			var lost []eventlog.Cause
			report, err := log.Read(t.Context(), func(event eventlog.Event) error {
				switch e := event.(type) {
				case *eventlog.ApplicationStart:
					ids = append(ids, e.ID)
				case *eventlog.Lost:
					lost = append(lost, e.Cause)
				}
				return nil
			})
			require.NoError(t, err)
			require.Equal(t, "1", ids[0])
			require.Equal(t, "3", ids[len(ids)-1])
			require.NotEmpty(t, lost)
			require.Equal(t, c.lost, lost[0])
			require.Contains(t, c.report(report), c.place)
		})
	}
}

// A connection that breaks is an error, not the end of a log.
func TestReadErrorIsNotTruncation(t *testing.T) {
	text := bytes.Repeat(started("x"), 10_000)
	for name, data := range map[string][]byte{"plain": text, "gzip": gzipped(t, text)} {
		log, err := eventlog.Open(breaking{fstest.MapFS{"a": {Data: data}}}, "a")
		require.NoError(t, err)
		_, err = log.Read(t.Context(), func(eventlog.Event) error { return nil })
		require.ErrorContains(t, err, "read event log a", name)
		require.ErrorIs(t, err, errBroken)
	}
}

// breaking are files that cannot be read to their ends.
type breaking struct{ fstest.MapFS }

type breakingFile struct {
	fs.File
	left int64
}

var errBroken = &fs.PathError{Op: "read", Path: "connection", Err: fs.ErrClosed}

func (b breaking) Open(name string) (fs.File, error) {
	file, err := b.MapFS.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	return &breakingFile{file, info.Size() / 2}, nil
}

func (b *breakingFile) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, errBroken
	}
	n, err := b.File.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// FuzzFind makes files of any names and contents; what is found can be read.
func FuzzFind(f *testing.F) {
	f.Add("eventlog_v2_a/events_1_a", "eventlog_v2_a/events_2_a.compact", started("1"))
	f.Add("a/eventlog", "a/eventlog-2026-11-02--10-00.gz", started("1"))
	f.Add("application_1_2.zstd", "application_1_2.zstd.inprogress", []byte("\x28\xb5\x2f\xfd"))
	f.Add("eventlog_v2_a/events_99999999999999999999_a", "eventlog_v2_a/events_000000000000000001_a", []byte("ZV"))
	f.Fuzz(func(t *testing.T, first, second string, data []byte) {
		files := fstest.MapFS{}
		for _, name := range []string{first, second} {
			if fs.ValidPath(name) && name != "." && !strings.HasPrefix(first, second+"/") && !strings.HasPrefix(second, first+"/") {
				files[name] = &fstest.MapFile{Data: data}
			}
		}
		logs, err := eventlog.Find(files, ".")
		require.NoError(t, err)
		for _, log := range logs {
			_, err := log.Read(t.Context(), func(eventlog.Event) error { return nil })
			if err != nil {
				require.NotContains(t, err.Error(), "open event log", "a file that is not there")
			}
		}
	})
}

// fuzzLayout reads two files of any content in a layout, twice: the same events come.
func fuzzLayout(f *testing.F, first, second string) {
	f.Add(started("1"), started("2"))
	f.Add([]byte("\x28\xb5\x2f\xfd"), []byte("{\"Event\":\"SparkListenerLogStart\""))
	f.Fuzz(func(t *testing.T, one, two []byte) {
		files := fstest.MapFS{first: &fstest.MapFile{Data: one}, second: &fstest.MapFile{Data: two}}
		logs, err := eventlog.Find(files, ".")
		require.NoError(t, err)
		require.Len(t, logs, 1)
		read := func() (events int, failed bool) {
			_, err := logs[0].Read(t.Context(), func(eventlog.Event) error { events++; return nil })
			return events, err != nil
		}
		events, failed := read()
		again, failedAgain := read()
		require.Equal(t, []any{events, failed}, []any{again, failedAgain})
	})
}

func FuzzRolled(f *testing.F) {
	fuzzLayout(f, "eventlog_v2_a/events_1_a", "eventlog_v2_a/events_2_a.zstd")
}

func FuzzCompacted(f *testing.F) {
	fuzzLayout(f, "eventlog_v2_a/events_2_a.compact", "eventlog_v2_a/events_3_a")
}

func FuzzInProgress(f *testing.F) {
	fuzzLayout(f, "eventlog_v2_a/appstatus_a.inprogress", "eventlog_v2_a/events_1_a")
}

func FuzzDelivered(f *testing.F) {
	fuzzLayout(f, "a/eventlog-2026-11-02--10-00.gz", "a/eventlog")
}
