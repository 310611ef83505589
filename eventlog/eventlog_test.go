package eventlog_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/eventlog/eventlogtest"
)

// A real Spark wrote this log, on local-cluster; only paths and the configuration
// were cut. The counts are those of grep.
const rolled = "eventlog_v2_app-20261123103508-0000"

func TestRolledLogOfARealSpark(t *testing.T) {
	events, report := readLog(t, "testdata", rolled)
	require.EqualValues(t, 82, report.Events)
	require.Zero(t, report.Skipped)
	require.EqualValues(t, 249558, report.Bytes)
	require.Empty(t, report.Truncated)
	require.Equal(t, &eventlog.LogStart{SparkVersion: "3.5.5"}, events[0])
	require.IsType(t, &eventlog.ApplicationEnd{}, events[len(events)-1])

	require.Len(t, of[*eventlog.TaskStart](events), 18)
	require.Len(t, of[*eventlog.ExecutorAdded](events), 2)
	require.Equal(t, "app-20261123103508-0000", of[*eventlog.ApplicationStart](events)[0].ID)
	require.Contains(t, of[*eventlog.EnvironmentUpdate](events)[0].System["sun.java.command"], "local-cluster[2,1,512]")

	var written, failed int
	for _, task := range of[*eventlog.TaskEnd](events) {
		require.Positive(t, task.Launched)
		require.GreaterOrEqual(t, task.Finished, task.Launched)
		if task.Metrics != nil && task.Metrics.OutputBytes > 0 {
			written++
			require.Equal(t, "ResultTask", task.Type)
		}
		if task.Outcome != eventlog.Success {
			failed++
			require.Contains(t, task.Failure, "ZeroDivisionError")
		}
	}
	require.Positive(t, written)
	require.Positive(t, failed)

	for _, sql := range of[*eventlog.SQLStart](events) {
		require.Contains(t, fmt.Sprint(sql.Plan), "InsertIntoHadoopFsRelationCommand", "both statements write parquet")
		require.Equal(t, sql.ID, *sql.Root)
	}
	jobs := of[*eventlog.JobStart](events)
	require.EqualValues(t, 0, *jobs[0].Properties.Execution)
	require.Nil(t, jobs[len(jobs)-1].Properties.Execution)
	require.Contains(t, of[*eventlog.JobEnd](events)[5].Failure, "ZeroDivisionError")
	require.Contains(t, of[*eventlog.StageCompleted](events)[5].Failure, "ZeroDivisionError")
}

// Spark 4 wrote this log, with its defaults: rolled, zstd. The counts are those of grep.
func TestLogOfSpark4(t *testing.T) {
	log, err := eventlog.Open(os.DirFS("testdata/spark4"), "eventlog_v2_app-20261124085717-0000")
	require.NoError(t, err)
	counts, outcomes := map[string]int{}, map[string]int{}
	var accumulators, failedJobs, operators int
	report, err := log.Read(t.Context(), func(event eventlog.Event) error {
		counts[fmt.Sprintf("%T", event)]++
		switch e := event.(type) {
		case *eventlog.LogStart:
			require.Equal(t, "4.0.1", e.SparkVersion)
		case *eventlog.TaskEnd:
			outcomes[e.Outcome]++
			require.NotEmpty(t, e.Executor)
			require.GreaterOrEqual(t, e.Finished, e.Launched)
			require.Equal(t, e.Outcome == eventlog.Success, e.Metrics != nil && e.Failure == "" && e.Error == "")
			require.Equal(t, e.Outcome == "ExceptionFailure", e.CountsAsFailure && strings.Contains(e.Error, "\n"))
		case *eventlog.StageCompleted:
			accumulators += len(e.Accumulators())
		case *eventlog.JobEnd:
			if e.Failure != "" {
				failedJobs++
			}
		case *eventlog.SQLStart:
			require.Positive(t, e.PlanLength)
			operators += len(e.Plan.Children)
		case *eventlog.StageExecutorMetrics:
			require.NotEmpty(t, e.Executor)
		}
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, eventlog.Report{Events: 1228 - 4, Skipped: 4, Bytes: 4114470}, report)
	require.Equal(t, map[string]int{
		"*eventlog.TaskStart": 517, "*eventlog.TaskEnd": 517, "*eventlog.StageExecutorMetrics": 42 + 31, "*eventlog.StageSubmitted": 19,
		"*eventlog.StageCompleted": 19, "*eventlog.JobStart": 17, "*eventlog.JobEnd": 17, "*eventlog.SQLPlan": 12,
		"*eventlog.DriverAccumulators": 10, "*eventlog.SQLStart": 6, "*eventlog.SQLEnd": 6, "*eventlog.BlockManagerAdded": 3,
		"*eventlog.ExecutorAdded": 2, "*eventlog.ResourceProfileAdded": 1, "*eventlog.LogStart": 1, "*eventlog.ExecutorRemoved": 1,
		"*eventlog.EnvironmentUpdate": 1, "*eventlog.ApplicationStart": 1, "*eventlog.ApplicationEnd": 1,
	}, counts)
	require.Equal(t, map[string]int{eventlog.Success: 508, "ExceptionFailure": 6, "ExecutorLostFailure": 1, "TaskKilled": 2}, outcomes)
	require.Equal(t, 3, failedJobs)
	require.Positive(t, accumulators)
	require.Positive(t, operators)
}

// Spark's own codecs wrote these files, with a flush after every 3000 bytes.
func TestCompressedLogs(t *testing.T) {
	want, _ := readLog(t, "../phases/testdata/logs", "static.jsonl")
	for _, codec := range []string{"zstd", "lz4", "snappy"} {
		events, report := readLog(t, "testdata/codecs", "application_1700000000000_0001."+codec)
		require.Equal(t, want, events, codec)
		require.Empty(t, report.Truncated)
	}
	_, err := open(t, "testdata/codecs", "application_1700000000000_0001.lzf")
	require.ErrorContains(t, err, "application_1700000000000_0001.lzf: compressed with lzf")
	require.ErrorContains(t, err, "spark.eventLog.compression.codec=zstd", "the remedy")
	text, err := os.ReadFile("../phases/testdata/logs/static.jsonl")
	require.NoError(t, err)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err = w.Write(text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	events, _, err := eventlogtest.Read(fstest.MapFS{"archived": {Data: packed.Bytes()}}, "archived")
	require.NoError(t, err)
	require.Equal(t, want, events, "gzip")
}

func TestLogsThatAreCutOff(t *testing.T) {
	text, err := os.ReadFile("../phases/testdata/logs/static.jsonl")
	require.NoError(t, err)
	lines := bytes.SplitAfter(text, []byte("\n"))
	whole := bytes.Join(lines[:4], nil)
	t.Run("in a line", func(t *testing.T) {
		cut := append(bytes.Clone(whole), lines[4][:40]...)
		events, report, err := eventlogtest.Read(fstest.MapFS{"a.inprogress": {Data: cut}}, "a.inprogress")
		require.NoError(t, err)
		require.Len(t, events, 4)
		require.Equal(t, "a.inprogress:5", report.Truncated)
	})
	t.Run("after a line without its line break", func(t *testing.T) {
		events, report, err := eventlogtest.Read(fstest.MapFS{"a": {Data: bytes.TrimSuffix(whole, []byte("\n"))}}, "a")
		require.NoError(t, err)
		require.Len(t, events, 4)
		require.Empty(t, report.Truncated)
	})
	t.Run("in zstd", func(t *testing.T) { // Spark's codec, never closed
		events, report := readLog(t, "testdata/codecs", "killed.zstd.inprogress")
		require.Greater(t, len(events), 4)
		require.True(t, strings.HasPrefix(report.Truncated, "killed.zstd.inprogress:"), report.Truncated)
	})
	t.Run("in an lz4 block", func(t *testing.T) {
		packed, err := os.ReadFile("testdata/codecs/application_1700000000000_0001.lz4")
		require.NoError(t, err)
		_, report, err := eventlogtest.Read(fstest.MapFS{"a": {Data: packed[:len(packed)-100]}}, "a")
		require.NoError(t, err)
		require.NotEmpty(t, report.Truncated)
	})
	t.Run("in the middle", func(t *testing.T) {
		broken := bytes.Join([][]byte{lines[0], []byte("{\"Event\":\"SparkListenerTaskEnd\",\n"), lines[1]}, nil)
		events, report, err := eventlogtest.Read(fstest.MapFS{"a": {Data: broken}}, "a")
		require.NoError(t, err)
		require.Len(t, events, 3)
		require.IsType(t, &eventlog.Lost{}, events[1])
		require.Equal(t, "a:2: no event", report.Damaged)
	})
}

// A changed build of Spark must not make a log unreadable.
func TestEventsOfOtherTypes(t *testing.T) {
	const log = `{"Event":"SparkListenerExecutorAdded","Timestamp":"soon","Executor ID":"1"}` + "\n" +
		`{"Event":"SparkListenerApplicationEnd","Timestamp":5}` + "\n"
	events, report, err := eventlogtest.Read(fstest.MapFS{"a": {Data: []byte(log)}}, "a")
	require.NoError(t, err)
	require.Len(t, events, 2)
	require.IsType(t, &eventlog.Lost{}, events[0])
	require.Contains(t, report.Unread, "a:1: ")
	require.Contains(t, report.Unread, "Timestamp")
}

func TestCompactedLog(t *testing.T) {
	line := func(id string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(`{"Event":"SparkListenerApplicationStart","App ID":"` + id + `","Timestamp":1}` + "\n")}
	}
	files := fstest.MapFS{
		"d/eventlog_v2_a/appstatus_a.inprogress": line("status"),
		"d/eventlog_v2_a/events_1_a":             line("1"), "d/eventlog_v2_a/events_2_a": line("2"),
		"d/eventlog_v2_a/events_2_a.compact": line("2c"), "d/eventlog_v2_a/events_9_a": line("9"),
		"d/eventlog_v2_a/events_10_a": line("10"), "d/eventlog_v2_a/events_9_a.compact.inprogress": line("half"),
	}
	events, _, err := eventlogtest.Read(files, "d/eventlog_v2_a")
	require.NoError(t, err)
	require.IsType(t, &eventlog.Lost{}, events[0])
	var ids []string
	for _, start := range of[*eventlog.ApplicationStart](events) {
		ids = append(ids, start.ID)
	}
	require.Equal(t, []string{"2c", "9", "10"}, ids)
}

func TestRejectsOtherFiles(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"absent":      {"none", "open event log none"},
		"folder":      {"folder", "event log folder: it is a folder"},
		"empty rolls": {"eventlog_v2_x", "no file events_"},
		"other text":  {"text", "text:1: read event"},
		"other json":  {"json", "no field Event"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := eventlogtest.Read(fstest.MapFS{
				"folder/a": {}, "eventlog_v2_x/appstatus_x": {}, "text": {Data: []byte("hello\nworld\n")}, "json": {Data: []byte("{\"a\":1}\n\n")},
			}, c.file)
			require.ErrorContains(t, err, c.want)
		})
	}
}

// Lines of Spark 3.4 (no jobTags, no rootExecutionId before 3.4.0) and 4.0 (exit code,
// error as JSON) differ in fields that are ignored or absent.
func TestLinesOfOtherVersions(t *testing.T) {
	const sql = "org.apache.spark.sql.execution.ui."
	for line, want := range map[string]eventlog.Event{
		`{"Event":"SparkListenerApplicationEnd","Timestamp":5,"ExitCode":1}`: &eventlog.ApplicationEnd{Time: 5, ExitCode: new(int64(1))},
		`{"Event":"` + sql + `SparkListenerSQLExecutionStart","executionId":7,"description":"d","details":"","physicalPlanDescription":"",` +
			`"sparkPlanInfo":{"nodeName":"Execute SaveIntoDataSourceCommand","children":[]},"time":9}`: &eventlog.SQLStart{
			ID: 7, Time: 9, Description: "d", Plan: eventlog.PlanNode{Name: "Execute SaveIntoDataSourceCommand"},
		},
		`{"Event":"` + sql + `SparkListenerSQLExecutionStart","executionId":7,"rootExecutionId":3,"description":"d","sparkPlanInfo":` +
			`{"nodeName":"AdaptiveSparkPlan","children":[{"nodeName":"ReplaceData","children":[]}]},"time":9,"jobGroupId":"g"}`: &eventlog.SQLStart{
			ID: 7, Root: new(int64(3)), Time: 9, Description: "d",
			Plan: eventlog.PlanNode{Name: "AdaptiveSparkPlan", Children: []eventlog.PlanNode{{Name: "ReplaceData"}}},
		},
		`{"Event":"` + sql + `SparkListenerSQLExecutionEnd","executionId":7,"time":9,"errorMessage":null}`: &eventlog.SQLEnd{ID: 7, Time: 9},
		`{"time":9,"executionId":7,"Event":"` + sql + `SparkListenerSQLExecutionEnd"}`:                     &eventlog.SQLEnd{ID: 7, Time: 9},
		`{"Event":"SparkListenerTaskEnd","Stage ID":1,"Stage Attempt ID":2,"Task Type":"ResultTask","Task End Reason":{"Reason":"Resubmitted"},` +
			`"Task Info":{"Task ID":3,"Index":4,"Attempt":5,"Launch Time":6,"Executor ID":"7","Host":"h","Speculative":true,"Finish Time":8},` +
			`"Task Metrics":null}`: &eventlog.TaskEnd{
			Task: eventlog.Task{
				ID: 3, StageID: 1, StageAttempt: 2, Index: 4, Attempt: 5, Launched: 6, Finished: 8, Executor: "7", Host: "h", Speculative: true,
			},
			Type: "ResultTask", Outcome: "Resubmitted", Failure: "Resubmitted", Error: "Resubmitted (resubmitted due to lost executor)",
			CountsAsFailure: true,
		},
	} {
		events, _, err := eventlogtest.Read(fstest.MapFS{"log": {Data: []byte(line + "\n")}}, "log")
		require.NoError(t, err, line)
		require.Equal(t, []eventlog.Event{want}, events, line)
	}
}

func readLog(t *testing.T, folder, name string) ([]eventlog.Event, eventlog.Report) {
	t.Helper()
	events, report, err := eventlogtest.Read(os.DirFS(folder), name)
	require.NoError(t, err)
	return events, report
}

func open(t *testing.T, folder, name string) ([]eventlog.Event, error) {
	t.Helper()
	events, _, err := eventlogtest.Read(os.DirFS(folder), name)
	return events, err
}

// of returns the events of one type.
func of[T eventlog.Event](events []eventlog.Event) (some []T) {
	for _, event := range events {
		if e, ok := event.(T); ok {
			some = append(some, e)
		}
	}
	return some
}
