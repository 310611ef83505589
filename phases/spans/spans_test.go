package spans_test

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/platform"
)

const (
	application = "application_1700000000000_0001"
	begin       = 1700000000000
)

// The tree of a write: SQL execution, job, its two stages, their tasks.
func TestSpansOfAWrite(t *testing.T) {
	s := spansOf(t, "static")
	require.Equal(t, hexOf(platform.TraceID(application, "")), s.trace.ID)
	root := s.named(t, "application static")
	require.Empty(t, root.ParentSpanId)
	require.Equal(t, platform.SpanID(application, "", platform.SpanApplication, "0"), [8]byte(root.SpanId))
	require.EqualValues(t, begin*1_000_000, root.StartTimeUnixNano)
	require.EqualValues(t, (begin+21_000)*1_000_000, root.EndTimeUnixNano)
	require.Equal(t, map[string]string{
		"spark.kind": "application", "spark.application.name": "static", "spark.phases.approximate": "false",
		"spark.phase.driver.seconds": "3.5", "spark.phase.submit.seconds": "0", "spark.phase.resource_wait.seconds": "4",
		"spark.phase.compute.seconds": "6", "spark.phase.io_write.seconds": "7.5", "spark.phase.idle.seconds": "0",
		"observatory.spans.dropped": "0",
	}, attributes(root))
	require.Nil(t, root.Status)

	var names []string
	for _, span := range s.children(root) {
		names = append(names, span.Name)
	}
	require.ElementsMatch(t, []string{
		"sql 0", "phase resource_wait", "phase driver", "phase compute", "phase driver", "phase io_write", "phase driver",
	}, names)

	sql := s.named(t, "sql 0")
	require.Equal(t, map[string]string{
		"spark.kind": "sql", "spark.sql.execution.id": "0", "spark.description": "save at job.py:1",
	}, attributes(sql))
	job := only(t, s.children(sql))
	require.Equal(t, "job 0", job.Name)
	stages := s.children(job)
	require.Len(t, stages, 2)
	last := s.named(t, "stage 1.0")
	require.Equal(t, platform.SpanID(application, "", platform.SpanStage, "1.0"), [8]byte(last.SpanId))
	require.EqualValues(t, (begin+12_500)*1_000_000, last.StartTimeUnixNano)
	tasks := s.children(last)
	require.Len(t, tasks, 2)
	require.Equal(t, "spark-executor 1", s.resources[s.named(t, "task 2")])
	require.Equal(t, "spark-executor 2", s.resources[s.named(t, "task 3")])
	require.Equal(t, "spark-driver driver", s.resources[last])
}

// A job outlives what started its thread: the execution that is named as the root of
// its own, or as its own, has ended.
func TestSpansOfThreadsThatKeepAnID(t *testing.T) {
	s := spansOf(t, "kept-id")
	require.Equal(t, "job 0", only(t, s.children(s.named(t, "sql 0"))).Name)
	require.Equal(t, "job 1", only(t, s.children(s.named(t, "sql 1"))).Name)
	application := s.named(t, "application kept-id")
	for _, name := range []string{"sql 0", "sql 1", "job 2"} {
		require.Equal(t, application.SpanId, s.named(t, name).ParentSpanId, name)
	}
}

// Executions within another, failures, attempts, and what a killed driver left open.
func TestSpansOfUnusualLogs(t *testing.T) {
	t.Run("nested execution", func(t *testing.T) {
		s := spansOf(t, "nested")
		require.Len(t, s.children(s.named(t, "sql 0")), 2, "both jobs")
		require.Empty(t, s.find("sql 1"))
	})
	t.Run("failures", func(t *testing.T) {
		s := spansOf(t, "null-metrics")
		for _, name := range []string{"job 1", "stage 1.0", "sql 0"} {
			require.Equal(t, tracepb.Status_STATUS_CODE_ERROR, s.named(t, name).Status.Code, name)
			require.Equal(t, "Job aborted due to stage failure", attributes(s.named(t, name))["exception.message"])
		}
		require.Equal(t, "java.lang.IllegalStateException: no such column", s.named(t, "task 1").Status.Message)
		require.Equal(t, "Job aborted due to stage failure", s.named(t, "application null-metrics").Status.Message, "its last job failed")
		require.Nil(t, s.named(t, "task 0").Status)
	})
	t.Run("attempts", func(t *testing.T) {
		s := spansOf(t, "retries")
		require.Len(t, s.children(s.named(t, "job 0")), 4)
		require.Equal(t, "FetchFailed: Connection refused", s.named(t, "task 1").Status.Message)
		require.Nil(t, s.named(t, "task 4").Status, "killed because another attempt succeeded")
	})
	t.Run("killed driver", func(t *testing.T) {
		s := spansOf(t, "killed-write")
		for _, name := range []string{"application killed-write", "sql 0", "job 0", "stage 1.0"} {
			require.EqualValues(t, (begin+30_000)*1_000_000, s.named(t, name).EndTimeUnixNano, name)
		}
		require.Contains(t, s.named(t, "application killed-write").Status.Message, "no end of the application")
	})
	t.Run("attempt of YARN", func(t *testing.T) {
		s := spansOf(t, "cluster-submit")
		require.Equal(t, hexOf(platform.TraceID(application, "1")), s.trace.ID)
		require.Equal(t, platform.SpanID(application, "1", platform.SpanJob, "0"), [8]byte(s.named(t, "job 0").SpanId))
	})
}

// Every log makes one tree, whatever the order of its events, and no span twice.
func TestEveryLogMakesOneTree(t *testing.T) {
	logs, err := filepath.Glob("../testdata/logs/*.jsonl")
	require.NoError(t, err)
	for _, log := range logs {
		name := strings.TrimSuffix(filepath.Base(log), ".jsonl")
		if name == "no-start" {
			continue // it has no application id
		}
		t.Run(name, func(t *testing.T) {
			events := read(t, os.DirFS("../testdata/logs"), name+".jsonl")
			first := build(events)
			requireTree(t, first)
			random := rand.New(rand.NewPCG(3, 4))
			random.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
			require.ElementsMatch(t, first.texts(), build(events).texts())
		})
	}
	t.Run("a real one", func(t *testing.T) {
		s := build(read(t, os.DirFS("../../eventlog/testdata"), "eventlog_v2_app-20261123103508-0000"))
		requireTree(t, s)
		require.Len(t, s.find("sql "), 2)
		require.Len(t, s.find("job "), 6)
		require.Len(t, s.find("stage "), 6)
		require.Contains(t, s.named(t, "job 5").Status.Message, "ZeroDivisionError")
	})
}

// Operations of Spark Connect are in their caller's trace or in that of their session; a job
// that keeps the tag of an operation stays below it.
func TestSpansOfConnect(t *testing.T) {
	s := spansOf(t, "connect")
	sessions := s.find("session ")
	require.Len(t, sessions, 2, "it is begun again")
	session, again := sessions[0], sessions[1]
	require.Equal(t, session.TraceId, again.TraceId)
	require.EqualValues(t, (begin+70_000)*1_000_000, again.StartTimeUnixNano)
	last := only(t, s.children(again))
	require.EqualValues(t, (begin+75_000)*1_000_000, last.EndTimeUnixNano, "with its session")
	require.Contains(t, texts(last), `SELECT 'ü\n' OPTIONS (password *********(redacted))`)
	require.Empty(t, session.ParentSpanId)
	require.Equal(t, s.trace.ID, hex.EncodeToString(session.Links[0].TraceId), "to the server")
	require.Equal(t, map[string]string{
		"spark.kind": "session", "spark.connect.session.id": "aaaaaaaa-0000-4000-8000-000000000001", "spark.connect.user": "ann",
	}, attributes(session))
	require.EqualValues(t, (begin+5_000)*1_000_000, session.StartTimeUnixNano)
	require.EqualValues(t, (begin+60_000)*1_000_000, session.EndTimeUnixNano)

	own := s.children(session)
	require.Len(t, own, 2)
	require.Contains(t, texts(own[0]), `CREATE VIEW v AS SELECT "x"`)
	require.Equal(t, "sql 0", only(t, s.children(own[0])).Name)
	require.Equal(t, map[string]string{
		"spark.kind": "operation", "spark.connect.session.id": "aaaaaaaa-0000-4000-8000-000000000001", "spark.connect.user": "ann",
		"spark.connect.operation.id": "00000002-1111-4111-8111-111111111111", "spark.description": "SELECT 1",
		"airflow.dag_id": "nightly", "airflow.task_id": "load",
	}, attributes(own[1]))
	require.EqualValues(t, (begin+31_000)*1_000_000, own[1].EndTimeUnixNano, "finished, not closed")
	below := s.children(own[1])
	require.Len(t, below, 2)
	require.Equal(t, []string{"sql 1", "job 2"}, []string{below[0].Name, below[1].Name})

	failed, canceled := s.named(t, "operation 00000003"), s.named(t, "operation 00000004")
	for span, want := range map[*tracepb.Span]string{failed: "c", canceled: "d"} {
		require.Equal(t, strings.Repeat(want, 32), hex.EncodeToString(span.TraceId))
		require.Equal(t, strings.Repeat(want, 16), hex.EncodeToString(span.ParentSpanId))
		require.Len(t, span.Links, 1)
	}
	require.Equal(t, "[TABLE_OR_VIEW_NOT_FOUND] no such table", failed.Status.Message)
	require.Equal(t, "canceled", canceled.Status.Message)
	require.Equal(t, "job 1", only(t, s.children(canceled)).Name)
	require.Empty(t, s.named(t, "job 1").Links, "its operation has one")
}

func TestParentOfTheApplication(t *testing.T) {
	const given = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	step := "s-0123456789ABCDEFGHIJ"
	for name, c := range map[string]struct {
		properties    map[string]string
		folder        string
		trace, parent string
	}{
		"configured": {
			map[string]string{platform.SparkTraceparent: given}, "/mnt/var/lib/hadoop/steps/" + step,
			"0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331",
		},
		"step": {
			nil, "/mnt/var/lib/hadoop/steps/" + step, hexOf(platform.TraceID(step)), hexOf(platform.StepSpanID(step)),
		},
		"cluster mode has no step's folder": {
			map[string]string{"spark.submit.deployMode": "cluster"}, "/mnt/yarn/" + step, hexOf(platform.TraceID("a", "")), "",
		},
		"a parent that is not kept": {
			map[string]string{platform.SparkTraceparent: strings.TrimSuffix(given, "1") + "0"}, "/home", hexOf(platform.TraceID("a", "")), "",
		},
		"no valid parent": {
			map[string]string{platform.SparkTraceparent: "00-00000000000000000000000000000000-b7ad6b7169203331-01"}, "/home",
			hexOf(platform.TraceID("a", "")), "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := build([]eventlog.Event{
				&eventlog.EnvironmentUpdate{Spark: c.properties, System: map[string]string{"user.dir": c.folder}},
				&eventlog.ApplicationStart{ID: "a", Name: "n", Time: 1}, &eventlog.ApplicationEnd{Time: 2},
			})
			require.Equal(t, c.trace, s.trace.ID)
			require.Equal(t, c.parent, hex.EncodeToString(s.named(t, "application n").ParentSpanId))
		})
	}
}

// What belongs to another trace links to the application.
func TestJobsOfOtherTraces(t *testing.T) {
	const given = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	s := build([]eventlog.Event{
		&eventlog.ApplicationStart{ID: "a", Name: "n", Time: 1},
		&eventlog.JobStart{ID: 0, Time: 2, Properties: eventlog.JobProperties{ThreadParent: given}}, &eventlog.JobEnd{ID: 0, Time: 3},
		&eventlog.SQLStart{ID: 7, Time: 4},
		&eventlog.JobStart{ID: 1, Time: 5, Properties: eventlog.JobProperties{Execution: new(int64(7)), SessionParent: given}},
		&eventlog.JobEnd{ID: 1, Time: 6}, &eventlog.SQLEnd{ID: 7, Time: 7},
		&eventlog.SQLStart{ID: 8, Time: 8},
		&eventlog.JobStart{ID: 2, Time: 9, Properties: eventlog.JobProperties{Execution: new(int64(8)), Query: "q", Batch: "41"}},
		&eventlog.JobEnd{ID: 2, Time: 10}, &eventlog.SQLEnd{ID: 8, Time: 11},
		&eventlog.JobStart{ID: 3, Time: 12, Properties: eventlog.JobProperties{Query: "q", Batch: "41"}},
		&eventlog.JobEnd{ID: 3, Time: 14, Failure: "f"},
		&eventlog.JobStart{ID: 4, Time: 15, Properties: eventlog.JobProperties{ThreadParent: strings.TrimSuffix(given, "1") + "0"}},
		&eventlog.JobEnd{ID: 4, Time: 16},
		&eventlog.ApplicationEnd{Time: 20},
	})
	require.Equal(t, s.named(t, "application n").SpanId, s.named(t, "job 4").ParentSpanId, "its parent never arrives")
	for _, name := range []string{"job 0", "sql 7"} {
		span := s.named(t, name)
		require.Equal(t, "0af7651916cd43dd8448eb211c80319c", hex.EncodeToString(span.TraceId))
		require.Equal(t, "b7ad6b7169203331", hex.EncodeToString(span.ParentSpanId))
		require.Equal(t, s.named(t, "application n").SpanId, only(t, span.Links).SpanId)
	}
	batch := s.named(t, "batch 41")
	require.Equal(t, hexOf(platform.TraceID("a", "", "batch", "q.41")), hex.EncodeToString(batch.TraceId))
	require.Equal(t, platform.SpanID("a", "", platform.SpanBatch, "q.41"), [8]byte(batch.SpanId))
	require.Empty(t, batch.ParentSpanId)
	require.Equal(t, []uint64{8e6, 14e6}, []uint64{batch.StartTimeUnixNano, batch.EndTimeUnixNano})
	require.Equal(t, "f", batch.Status.Message)
	require.Equal(t, s.named(t, "application n").SpanId, only(t, batch.Links).SpanId)
	require.Len(t, s.children(batch), 2)
	require.Equal(t, s.named(t, "sql 8").SpanId, s.named(t, "job 2").ParentSpanId)
}

func TestTextsAreRedactedAndCut(t *testing.T) {
	text := func(properties map[string]string, text string) string {
		s := build([]eventlog.Event{
			&eventlog.EnvironmentUpdate{Spark: properties}, &eventlog.ApplicationStart{ID: "a", Name: "n", Time: 1},
			&eventlog.JobStart{ID: 0, Time: 2, Properties: eventlog.JobProperties{Description: text}}, &eventlog.ApplicationEnd{Time: 3},
		})
		return attributes(s.named(t, "job 0"))["spark.description"]
	}
	const hidden = "*********(redacted)"
	require.Equal(t, "connect(user=me, password="+hidden+", port=1)", text(nil, "connect(user=me, password=hunter, port=1)"))
	require.Equal(t, "card "+hidden, text(map[string]string{"spark.redaction.string.regex": "[0-9]{4}-[0-9]{4}"}, "card 1234-5678"))
	require.Equal(t, "salt: "+hidden, text(map[string]string{"spark.redaction.regex": "(?i)salt"}, "salt: 99"))
	require.Equal(t, hidden, text(map[string]string{"spark.redaction.regex": "(?<!x)y"}, "anything"), "a pattern that Go does not know")
	require.Equal(t, strings.Repeat("ä", 256), text(nil, strings.Repeat("ä", 300)))
	require.NotContains(t, text(nil, strings.Repeat("a", 250)+" password=hunter"), "hunter")

	s := build([]eventlog.Event{&eventlog.ApplicationStart{ID: "a", Name: "token=hunter " + strings.Repeat("n", 300), Time: 1}})
	name := ("token=" + hidden + " " + strings.Repeat("n", 300))[:256]
	require.Equal(t, name, attributes(s.named(t, "application "+name))["spark.application.name"])
}

// What exceeds the budget is counted on the root, and leaves no span without its parent.
func TestBudgetOfATrace(t *testing.T) {
	const jobs = 15_000
	events := []eventlog.Event{&eventlog.ApplicationStart{ID: "a", Name: "n", Time: 1}}
	for i := range int64(jobs) {
		at := 10 + 10*i
		stage := eventlog.Stage{ID: i, Tasks: 1, Submitted: at, Completed: at + 5}
		events = append(events, &eventlog.JobStart{ID: i, Time: at, Stages: []eventlog.Stage{{ID: i}}},
			&eventlog.StageCompleted{Stage: stage}, &eventlog.JobEnd{ID: i, Time: at + 6},
			&eventlog.TaskEnd{Task: eventlog.Task{ID: i, StageID: i, Launched: at, Finished: at + 4}, Outcome: eventlog.Success})
	}
	s := build(append(events, &eventlog.ApplicationEnd{Time: 10 * jobs}))
	require.LessOrEqual(t, len(s.all), platform.SpanBudget)
	require.Greater(t, len(s.all), platform.SpanBudget*9/10)
	require.LessOrEqual(t, s.bytes(), platform.SpanBudgetBytes)
	requireTree(t, s)
	require.Equal(t, fmt.Sprint(s.trace.Dropped), attributes(s.named(t, "application n"))["observatory.spans.dropped"])
	require.Positive(t, s.trace.Dropped)
	require.Len(t, s.find("job "), jobs, "jobs go before stages")
}

func TestTasksOfAStage(t *testing.T) {
	const tasks = 10_000
	stage := eventlog.Stage{ID: 0, Tasks: tasks, Submitted: 1, Completed: tasks}
	events := []eventlog.Event{
		&eventlog.ApplicationStart{ID: "a", Name: "n", Time: 1}, &eventlog.JobStart{ID: 0, Time: 1, Stages: []eventlog.Stage{{ID: 0}}},
		&eventlog.StageCompleted{Stage: stage},
	}
	for i := range int64(tasks) {
		end := &eventlog.TaskEnd{Task: eventlog.Task{ID: i, Launched: i, Finished: i + 10 + i%7}, Outcome: eventlog.Success}
		switch {
		case i == 5000 || i == 77:
			end.Finished += 5000
		case i%1000 == 3:
			end.Outcome, end.Failure = "ExceptionFailure", "e"
		}
		events = append(events, end)
	}
	s := build(append(events, &eventlog.ApplicationEnd{Time: tasks}))
	for _, name := range []string{"task 5000", "task 77", "task 3", "task 9003"} {
		s.named(t, name)
	}
	require.InDelta(t, 5+10+tasks/100, len(s.find("task ")), tasks/400)
	requireTree(t, s)
}

// The longest tasks of 5,000 stages are more than a trace may have. One that fails after
// them has its span.
func TestFailedTasksGoBeforeTheOthers(t *testing.T) {
	const stages, tasks = 5_000, 5
	job := &eventlog.JobStart{ID: 0, Time: 1}
	events := []eventlog.Event{&eventlog.ApplicationStart{ID: "a", Name: "n", Time: 1}}
	for stage := range int64(stages) {
		job.Stages = append(job.Stages, eventlog.Stage{ID: stage})
		events = append(events, &eventlog.StageCompleted{Stage: eventlog.Stage{ID: stage, Tasks: tasks, Submitted: 1, Completed: 100}})
		for i := range int64(tasks) {
			task := eventlog.Task{ID: stage*tasks + i, StageID: stage, Launched: 1, Finished: 90}
			events = append(events, &eventlog.TaskEnd{Task: task, Outcome: eventlog.Success})
		}
	}
	failed := eventlog.Task{ID: stages * tasks, StageID: stages - 1, Launched: 1, Finished: 90}
	events = append(events, job, &eventlog.TaskEnd{Task: failed, Outcome: "ExceptionFailure", Failure: "e"})
	s := build(append(events, &eventlog.ApplicationEnd{Time: 100}))
	s.named(t, fmt.Sprintf("task %d", stages*tasks))
	require.LessOrEqual(t, len(s.all), platform.SpanBudget)
	requireTree(t, s)
}
