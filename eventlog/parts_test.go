package eventlog_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/eventlog"
)

// databricks is a part of a log as Databricks writes it, with an application's start.
func databricks(context, number int, id string) []byte {
	const first = `{"Event":"DBCEventLoggingListenerMetadata","Spark Version":"3.5.2","Timestamp":1,"Rollover Number":%d,"SparkContext Id":%d}`
	return fmt.Appendf(nil, first+"\n%s", number, context, started(id))
}

// The parts of a log that Databricks delivers say which they are; their names do not.
func TestPartsOfSparkContexts(t *testing.T) {
	const one, two, three = "eventlog-2026-01-01--10-00.gz", "eventlog-2026-01-01--11-00.gz", "eventlog"
	const four = "eventlog-2026-01-01--12-00.gz"
	a := func(number int) []byte { return databricks(3100000000000000001, number, fmt.Sprintf("a%d", number)) }
	b := func(number int) []byte { return databricks(3100000000000000002, number, fmt.Sprintf("b%d", number)) }
	const ofA, ofB = "d (SparkContext 3100000000000000001)", "d (SparkContext 3100000000000000002)"
	spaced := []byte(strings.NewReplacer(`":`, `": `, "3100000000000000001", `"3100000000000000001"`).Replace(string(a(0))))
	zip := func(text []byte) []byte { return gzipped(t, text) }
	for name, c := range map[string]struct {
		files map[string][]byte
		want  map[string]string // what each log has: ids of applications, and what is lost
	}{
		"whole":                  {map[string][]byte{one: zip(a(0)), two: zip(a(1)), three: a(2)}, map[string]string{ofA: "a0 a1 a2"}},
		"names in another order": {map[string][]byte{one: zip(a(2)), two: zip(a(0)), three: a(1)}, map[string]string{ofA: "a0 a1 a2"}},
		"other names": {map[string][]byte{"first.json": a(0), "notes.txt": []byte("hello\n"), "second": zip(a(1))},
			map[string]string{ofA: "a0 a1"}},
		"with spaces, and the id as text": {map[string][]byte{three: spaced}, map[string]string{ofA: "a0"}},
		"plain and compressed":            {map[string][]byte{one: a(0), two: zip(a(1)), three: zip(a(2))}, map[string]string{ofA: "a0 a1 a2"}},
		"a part missing": {map[string][]byte{one: zip(a(0)), three: a(2)},
			map[string]string{ofA: "a0 [" + ofA + ": part 1 of 0 to 2 is missing] a2"}},
		"parts missing": {map[string][]byte{one: zip(a(0)), three: a(4)},
			map[string]string{ofA: "a0 [" + ofA + ": parts 1 to 3 of 0 to 4 are missing] a4"}},
		"the first missing": {map[string][]byte{three: a(1)}, map[string]string{ofA: "[" + ofA + ": part 0 of 0 to 1 is missing] a1"}},
		"a driver that restarted": {map[string][]byte{one: zip(a(0)), two: zip(a(1)), three: b(0)},
			map[string]string{ofA: "a0 a1; then " + ofA + ": part 2 of 0 to 2 is missing", ofB: "b0"}},
		"drivers in turn": {map[string][]byte{one: zip(b(0)), two: zip(a(0)), four: zip(b(1)), three: a(1)},
			map[string]string{ofA: "a0 a1", ofB: "b0 b1; then " + ofB + ": part 2 of 0 to 2 is missing"}},
		"a part twice": {map[string][]byte{one: zip(a(0)), "eventlog-2026-01-01--10-00": a(0), two: zip(append(a(1), started("end")...)),
			three: a(1)}, map[string]string{ofA: "a0 a1 end"}},
		"a part twice, one copy older": {map[string][]byte{one: a(0), three: append(a(0), started("end")...)},
			map[string]string{ofA: "a0 end"}},
		"without metadata": {map[string][]byte{one: zip(started("x")), three: started("y")}, map[string]string{"d": "x y"}},
		"some without metadata": {map[string][]byte{one: zip(a(0)), three: started("y")},
			map[string]string{ofA: "a0; then " + ofA + ": part 1 of 0 to 1 is missing", "d": "y"}},
		"one without text yet": {map[string][]byte{one: zip(a(0)), three: nil},
			map[string]string{ofA: "a0; then " + ofA + ": part 1 of 0 to 1 is missing"}},
	} {
		t.Run(name, func(t *testing.T) {
			files := fstest.MapFS{}
			for name, text := range c.files {
				files["d/"+name] = &fstest.MapFile{Data: text}
			}
			logs, err := eventlog.Find(files, ".")
			require.NoError(t, err)
			got := map[string]string{}
			for _, log := range logs {
				got[log.Name] = contentOf(t, log)
			}
			require.Equal(t, c.want, got)
			opened, err := eventlog.Open(files, "d")
			if len(logs) > 1 {
				require.ErrorContains(t, err, "d: it has files of 2 logs: "+logs[0].Name)
				return
			}
			require.NoError(t, err)
			require.Equal(t, logs[0], opened)
		})
	}
}

// contentOf lists the applications of a log and, in brackets, what it lacks.
func contentOf(t *testing.T, log *eventlog.Log) string {
	t.Helper()
	var parts []string
	report, err := log.Read(t.Context(), func(event eventlog.Event) error {
		switch e := event.(type) {
		case *eventlog.ApplicationStart:
			parts = append(parts, e.ID)
		case *eventlog.Lost:
			parts = append(parts, "["+e.Reason+"]")
		}
		return nil
	})
	require.NoError(t, err)
	text := strings.Join(parts, " ")
	if report.Following != "" {
		text += "; then " + report.Following
	}
	return text
}

// A file that has been decompressed or compressed beside its original is read once.
func TestCopiesOfRolledFiles(t *testing.T) {
	log, err := eventlog.Open(fstest.MapFS{
		"eventlog_v2_a/events_1_a": {Data: started("1")}, "eventlog_v2_a/events_1_a.gz": {Data: gzipped(t, started("1"))},
		"eventlog_v2_a/events_2_a.gz": {Data: gzipped(t, started("2"))},
		"eventlog_v2_a/events_4_a":    {Data: started("4")}, "eventlog_v2_a/events_4_b": {Data: started("b")},
	}, "eventlog_v2_a")
	require.NoError(t, err)
	require.Equal(t, "1 2 [eventlog_v2_a: files events_3 to events_3 are missing] 4 b", contentOf(t, log))
}

// strict fails the test if a file is opened that must not be.
type strict struct {
	fs.FS
	t       *testing.T
	forbids string
}

func (s strict) Open(name string) (fs.File, error) {
	if filepath.Base(name) == s.forbids {
		s.t.Errorf("%s was opened", name)
		return nil, fs.ErrInvalid
	}
	return s.FS.Open(name)
}

func (s strict) Stat(name string) (fs.FileInfo, error)      { return fs.Stat(s.FS, name) }
func (s strict) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(s.FS, name) }

// Links that lead nowhere, pipes, and links to a folder above cost no other log.
func TestWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.WriteFile(at("good"), started("good"), 0o600))
	require.NoError(t, os.Mkdir(at("eventlog_v2_a"), 0o700))
	require.NoError(t, os.WriteFile(at("eventlog_v2_a/events_1_a"), started("1"), 0o600))
	require.NoError(t, os.Symlink("nowhere", at("eventlog_v2_a/events_2_a")))
	require.NoError(t, os.WriteFile(at("eventlog_v2_a/events_3_a"), started("3"), 0o600))
	require.NoError(t, os.Symlink("nowhere", at("broken")))
	require.NoError(t, os.Symlink("nowhere", at("application_1_0001")))
	require.NoError(t, os.Symlink("turning", at("turning")))
	require.NoError(t, os.Symlink(".", at("above")))
	require.NoError(t, os.Symlink("good", at("again")))
	require.NoError(t, syscall.Mkfifo(at("pipe"), 0o600))
	require.NoError(t, os.Symlink("pipe", at("application_1_0002")))
	logs, err := eventlog.Find(strict{strict{os.DirFS(dir), t, "pipe"}, t, "application_1_0002"}, ".")
	require.NoError(t, err)
	got := map[string]string{}
	for _, log := range logs {
		_, err := log.Read(t.Context(), func(eventlog.Event) error { return nil })
		if err != nil {
			got[log.Name] = err.Error()
			continue
		}
		got[log.Name] = contentOf(t, log)
	}
	require.Equal(t, map[string]string{
		"good": "good", "again": "good", "eventlog_v2_a": "1 [eventlog_v2_a: files events_2 to events_2 are missing] 3",
		"application_1_0001": "open event log application_1_0001: open application_1_0001: no such file or directory",
		"turning":            "open event log turning: open turning: too many levels of symbolic links",
	}, got)
}

// refusing are files of which some may not be opened.
type refusing struct {
	fstest.MapFS
	refused string
}

func (r refusing) Open(name string) (fs.File, error) {
	if strings.Contains(name, r.refused) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return r.MapFS.Open(name)
}

func (r refusing) ReadDir(name string) ([]fs.DirEntry, error) {
	if strings.Contains(name, r.refused) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return r.MapFS.ReadDir(name)
}

// A file of several that may not be opened costs only its own events.
func TestDeniedFilesOfALog(t *testing.T) {
	files := refusing{fstest.MapFS{
		"eventlog_v2_a/events_1_a": {Data: started("1")}, "eventlog_v2_a/events_2_a": {Data: started("2")},
		"eventlog_v2_a/events_3_a": {Data: started("3")},
	}, "events_2"}
	log, err := eventlog.Open(files, "eventlog_v2_a")
	require.NoError(t, err)
	require.Equal(t, "1 [open event log eventlog_v2_a/events_2_a: open eventlog_v2_a/events_2_a: permission denied] 3", contentOf(t, log))
	files.refused = "events_"
	log, err = eventlog.Open(files, "eventlog_v2_a")
	require.NoError(t, err)
	_, err = log.Read(t.Context(), func(eventlog.Event) error { return nil })
	require.ErrorIs(t, err, fs.ErrPermission)
	require.ErrorContains(t, err, "events_3_a: permission denied")
}
