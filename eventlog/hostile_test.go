package eventlog_test

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/eventlog"
)

// repeated is a text, so often, without being in memory.
type repeated struct {
	text   string
	copies int
	at     int
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.copies == 0 {
		return 0, io.EOF
	}
	n := 0
	for n < len(p) && r.copies > 0 {
		copied := copy(p[n:], r.text[r.at:])
		n, r.at = n+copied, r.at+copied
		if r.at == len(r.text) {
			r.at, r.copies = 0, r.copies-1
		}
	}
	return n, nil
}

// A line of any length is read in little memory. What is before and after it is read,
// its own event, too.
func TestLongLines(t *testing.T) {
	const sql = `{"Event":"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart","executionId":7,"description":"d",`
	for name, c := range map[string]struct {
		size                int // bytes of the repeated part
		begin, repeat, rest string
		check               func(*testing.T, eventlog.Event, int64)
	}{
		"text of a plan": {
			512 << 20, sql + `"physicalPlanDescription":"`, `== Physical ä Plan \n(1) \"Scan\" `, `","sparkPlanInfo":{"nodeName":"Scan"},"time":9}`,
			func(t *testing.T, event eventlog.Event, copies int64) {
				start := event.(*eventlog.SQLStart)
				require.Equal(t, copies*int64(len([]rune("== Physical ä Plan _(1) _Scan_ "))), start.PlanLength)
				require.Equal(t, "Scan", start.Plan.Name)
				require.EqualValues(t, 9, start.Time)
			},
		},
		"description": {
			64 << 20, sql[:len(sql)-len(`"d",`)] + `"`, `SELECT ä, "\n`[:9], `","time":9}`,
			func(t *testing.T, event eventlog.Event, _ int64) {
				start := event.(*eventlog.SQLStart)
				require.True(t, strings.HasPrefix(start.Description, "SELECT ä"))
				require.LessOrEqual(t, len(start.Description), 16<<10)
				require.Greater(t, len(start.Description), 15<<10)
				require.EqualValues(t, 9, start.Time)
			},
		},
		"many operators": {
			64 << 20, sql + `"sparkPlanInfo":{"nodeName":"Union","children":[{"nodeName":"Scan"}`,
			`,{"nodeName":"Scan parquet","simpleString":"x","metrics":[{"name":"rows","accumulatorId":4,"metricType":"sum"}]}`,
			`],"metrics":[]},"time":9}`,
			func(t *testing.T, event eventlog.Event, copies int64) {
				start := event.(*eventlog.SQLStart)
				require.Greater(t, len(start.Plan.Children), 10_000)
				require.Less(t, int64(len(start.Plan.Children)), copies)
				require.EqualValues(t, 9, start.Time)
			},
		},
		"operators in operators": {
			64 << 20, sql + `"sparkPlanInfo":`, `{"nodeName":"Project","children":[`, `"time":9}`,
			nil, // it does not end
		},
		"accumulables": {
			64 << 20, `{"Event":"SparkListenerTaskEnd","Stage ID":3,"Task Info":{"Task ID":4,"Accumulables":[{}`,
			`,{"ID":1,"Name":"a]","Update":[{"Block ID":"b"}]}`, `]},"Task Metrics":{"Executor Run Time":5}}`,
			func(t *testing.T, event eventlog.Event, _ int64) {
				require.EqualValues(t, 4, event.(*eventlog.TaskEnd).ID)
				require.EqualValues(t, 5, event.(*eventlog.TaskEnd).Metrics.RunTime)
			},
		},
		"properties": {
			64 << 20, `{"Event":"SparkListenerEnvironmentUpdate","Spark Properties":{"spark.app.name":"x"`,
			`,"spark.other":"` + strings.Repeat("y", 1000) + `"`, `}}`,
			func(t *testing.T, event eventlog.Event, _ int64) {
				require.Equal(t, "x", event.(*eventlog.EnvironmentUpdate).Spark["spark.app.name"])
			},
		},
		"a field of no use": {
			64 << 20, `{"Event":"SparkListenerJobEnd","Job ID":5,"Future":"`, `\\`, `","Completion Time":9,"Job Result":{"Result":"JobSucceeded"}}`,
			func(t *testing.T, event eventlog.Event, _ int64) {
				require.Equal(t, &eventlog.JobEnd{ID: 5, Time: 9}, event)
			},
		},
		"name of a field": {
			64 << 20, `{"Event":"SparkListenerJobEnd","Job ID":5,"`, `name\n`, `":1,"Completion Time":9,"Job Result":{"Result":"JobSucceeded"}}`,
			func(t *testing.T, event eventlog.Event, _ int64) {
				require.Equal(t, &eventlog.JobEnd{ID: 5, Time: 9}, event)
			},
		},
		"no event": {64 << 20, `{"Event":"SparkListenerBlockUpdated","x":"`, `x`, `"}`, nil},
		"number":   {64 << 20, `{"Event":"SparkListenerApplicationEnd","Timestamp":`, `1`, `}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			copies := c.size / len(c.repeat)
			text := io.MultiReader(strings.NewReader(string(started("before"))+c.begin), &repeated{text: c.repeat, copies: copies},
				strings.NewReader(c.rest+"\n"+string(started("after"))))
			var ids []string
			read, shortened := false, false
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			report, err := eventlog.Lines(t.Context(), text, "log", func(event eventlog.Event) error {
				switch e := event.(type) {
				case *eventlog.ApplicationStart:
					ids = append(ids, e.ID)
				case *eventlog.Lost:
					shortened = strings.Contains(e.Reason, "log:2: elements of lists beyond 8 MiB")
				default:
					require.NotNil(t, c.check, "%T", event)
					c.check(t, event, int64(copies))
					read = true
				}
				return nil
			})
			runtime.ReadMemStats(&after)
			require.NoError(t, err)
			require.Equal(t, c.check != nil, read)
			require.Equal(t, name == "properties" || name == "many operators", shortened, "what is left out is reported")
			require.Equal(t, []string{"before", "after"}, ids)
			require.Greater(t, report.Bytes, int64(c.size-len(c.repeat)))
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(96<<20), "bytes allocated in all")
		})
	}
}

// Data that unpacks into much more than any log does is not read to its end.
func TestDecompressionBombs(t *testing.T) {
	var packed bytes.Buffer
	w, err := zstd.NewWriter(&packed)
	require.NoError(t, err)
	_, err = io.Copy(w, &repeated{text: strings.Repeat(" ", 1<<20), copies: 64})
	require.NoError(t, err)
	require.NoError(t, w.Close())
	const copies = 1 << 20 // 64 TiB
	for _, line := range []string{"", string(started("a"))} {
		files := streamed{name: "a", open: func() io.Reader {
			return io.MultiReader(strings.NewReader(zstdOf(t, line+"\n")), &repeated{text: packed.String(), copies: copies})
		}}
		log, err := eventlog.Open(files, "a")
		require.NoError(t, err)
		report, err := log.Read(t.Context(), func(eventlog.Event) error { return nil })
		require.ErrorContains(t, err, "as large as its compressed data")
		require.Less(t, report.Bytes, int64(2<<30))
	}
}

func zstdOf(t *testing.T, text string) string {
	t.Helper()
	var packed bytes.Buffer
	w, err := zstd.NewWriter(&packed)
	require.NoError(t, err)
	_, err = w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return packed.String()
}

// streamed is a file system of one file that is not in memory.
type streamed struct {
	name string
	open func() io.Reader
}

type streamedFile struct {
	fs.File
	io.Reader
}

func (s streamedFile) Read(p []byte) (int, error) { return s.Reader.Read(p) }

func (s streamed) Open(name string) (fs.File, error) {
	file, err := fstest.MapFS{s.name: {}}.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	return streamedFile{file, s.open()}, nil
}

// A log that names a path outside its folder is not followed.
func TestNamesOutsideTheFolder(t *testing.T) {
	for _, name := range []string{"../a", "/etc/passwd", "a/../../b", ""} {
		_, err := eventlog.Open(fstest.MapFS{"a": {}}, name)
		require.ErrorIs(t, err, fs.ErrNotExist, name)
		_, err = eventlog.Find(fstest.MapFS{"a": {}}, name)
		require.Error(t, err, name)
	}
}
