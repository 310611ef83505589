package run

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/history"
	"github.com/emr-observatory/emr-observatory/profiler/source"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// server is a history server with one application, which ran no jobs as far as REST knows.
type server struct {
	url    string
	status map[string]int    // by endpoint, other than 200
	logs   []byte            // zip
	end    int64             // seconds that the application took, besides 60
	json   map[string]string // answers by endpoint, other than none
}

func startServer(t *testing.T) *server {
	t.Helper()
	text, err := os.ReadFile("../../phases/testdata/logs/static.jsonl")
	require.NoError(t, err)
	var zipped bytes.Buffer
	archive := zip.NewWriter(&zipped)
	file, err := archive.Create(applicationID(1))
	require.NoError(t, err)
	_, err = file.Write(text)
	require.NoError(t, err)
	require.NoError(t, archive.Close())
	s := &server{status: map[string]int{}, json: map[string]string{}, logs: zipped.Bytes()}
	served := httptest.NewServer(s)
	t.Cleanup(served.Close)
	s.url = served.URL
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	endpoint := path.Base(r.URL.Path)
	w.Header().Set("Content-Type", "application/json")
	switch status := s.status[endpoint]; {
	case status != 0:
		w.WriteHeader(status)
	case endpoint == "applications" && s.json[endpoint] == "":
		fmt.Fprintf(w, `[{"id":%q,"name":"static","attempts":[{"startTimeEpoch":1700000000000,"endTimeEpoch":%d,`+
			`"completed":true,"appSparkVersion":"3.5.5"}]}]`, applicationID(1), 1700000060000+1000*s.end)
	case endpoint == string(history.Logs):
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(s.logs)
	case s.json[endpoint] != "":
		fmt.Fprint(w, s.json[endpoint])
	case endpoint == string(history.Env):
		fmt.Fprint(w, "{}")
	default:
		fmt.Fprint(w, "[]")
	}
}

// run reads the server into a lake.
func (s *server) run(t *testing.T, out string) Summary {
	t.Helper()
	from, err := source.NewServer(s.url, "team-a", history.Options{Pause: time.Millisecond})
	require.NoError(t, err)
	summary, _, err := runSource(t.Context(), t, nil, from, out)
	require.NoError(t, err)
	return summary
}

// An event log that the server failed to send is asked for by the next run. One that the
// server does not have is not: the rows of REST stay.
func TestEventLogThatCouldNotBeSent(t *testing.T) {
	for status, again := range map[int]bool{http.StatusInternalServerError: true, http.StatusNotFound: false} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			s, out := startServer(t), t.TempDir()
			s.status[string(history.Logs)] = status
			first := s.run(t, out)
			require.Equal(t, 1, first.ApplicationsRead)
			require.Equal(t, tables.SourceREST, onlyRow[tables.Application](t, out).Source)

			delete(s.status, string(history.Logs))
			second := s.run(t, out)
			if !again {
				require.Equal(t, 1, second.ApplicationsCurrent)
				return
			}
			require.Equal(t, 1, second.ApplicationsRead)
			require.Equal(t, tables.SourceLogs, onlyRow[tables.Application](t, out).Source)
			third := s.run(t, out)
			require.Equal(t, 1, third.ApplicationsCurrent)
		})
	}
}

// An application of which nothing can be read has a row of table completeness, until it is
// read or has left the server's list.
func TestApplicationThatCannotBeRead(t *testing.T) {
	s, out := startServer(t), t.TempDir()
	fails := []string{"environment", "allexecutors", "sql", "jobs", "stages", "logs"}
	for _, endpoint := range fails {
		s.status[endpoint] = http.StatusInternalServerError
	}
	first := s.run(t, out)
	require.Equal(t, []int{0, 1}, []int{first.ApplicationsRead, first.ApplicationsFailed})
	row := onlyRow[tables.Completeness](t, out)
	require.Equal(t, []string{applicationID(1), "applications", "unavailable"}, []string{row.ApplicationID, row.Endpoint, row.Reason})
	require.EqualValues(t, 1, *row.Missing)
	require.Contains(t, row.Detail, "500")
	again := s.run(t, out)
	require.Zero(t, again.Objects)
	clear(s.status)
	s.json["applications"] = "[]"
	gone := s.run(t, out)
	require.Empty(t, gone.Incomplete, "it is no damage of the lake")
	require.Zero(t, onlyRow[tables.ClusterSummary](t, out).ReadApplications)
	delete(s.json, "applications")
	last := s.run(t, out)
	require.Equal(t, 1, last.ApplicationsRead)
	require.Equal(t, tables.SourceLogs, onlyRow[tables.Application](t, out).Source)
}

// A server that never sends the event log is asked in a few runs, and read by REST in each of
// them. Then nothing is read until something is new.
func TestEventLogThatIsNeverSent(t *testing.T) {
	s, out := startServer(t), t.TempDir()
	s.status[string(history.Logs)] = http.StatusBadGateway
	for range logRuns {
		require.Equal(t, 1, s.run(t, out).ApplicationsRead)
	}
	last := s.run(t, out)
	require.Equal(t, 1, last.ApplicationsCurrent)
	require.Equal(t, tables.SourceREST, onlyRow[tables.Application](t, out).Source)
}

// A server that does not have the endpoint of SQL executions is read once.
func TestServerWithoutSQL(t *testing.T) {
	s, out := startServer(t), t.TempDir()
	s.status[string(history.Logs)], s.status[string(history.SQL)] = http.StatusNotFound, http.StatusNotFound
	first := s.run(t, out)
	require.Equal(t, 1, first.ApplicationsRead)
	require.Empty(t, first.Incomplete)
	require.Equal(t, map[string]int{string(fold.Unsupported): 1}, first.Lost)
	second := s.run(t, out)
	require.Equal(t, 1, second.ApplicationsCurrent)
}

// If the server does not list tasks, nothing says whether it has evicted some: the quantiles
// may cover only the rest.
func TestServerWithoutTasks(t *testing.T) {
	s, out := startServer(t), t.TempDir()
	s.status["logs"], s.status["taskList"] = http.StatusNotFound, http.StatusInternalServerError
	s.json["stages"] = `[{"status":"COMPLETE","stageId":0,"attemptId":0,"numTasks":2,"numCompleteTasks":2,"name":"collect at job.py:1",` +
		`"submissionTime":"2023-11-14T22:13:21.000GMT","completionTime":"2023-11-14T22:13:31.000GMT"}]`
	one := "[1,1,1,1,1,1]"
	s.json["taskSummary"] = `{"quantiles":[0,0.25,0.5,0.75,0.95,1],"duration":` + one + `,"executorRunTime":` + one + `}`
	first := s.run(t, out)
	require.Equal(t, 1, first.ApplicationsRead)
	require.Len(t, first.Incomplete, 1)
	require.Contains(t, first.Incomplete[0].Reason, "task_summaries: tasks cannot be listed")
	s.status["taskList"], s.json["taskList"] = 0, `[{"taskId":1}]`
	require.Empty(t, s.run(t, out).Incomplete)
}

// Rows of an event log are not replaced by those of REST, nor whole ones by fewer, because a
// later run could not read as much.
func TestLaterRunsDoNotReplaceBetterRows(t *testing.T) {
	for name, c := range map[string]struct {
		first, later history.Endpoint // that fails
		source       tables.Source
	}{
		"rows of a log":       {"", history.Logs, tables.SourceLogs},
		"rows of all of REST": {history.Logs, history.Stages, tables.SourceREST},
	} {
		t.Run(name, func(t *testing.T) {
			s, out := startServer(t), t.TempDir()
			if c.first != "" {
				s.status[string(c.first)] = http.StatusNotFound
			}
			require.Equal(t, 1, s.run(t, out).ApplicationsRead)
			before, phases := clusterRow(t, out), len(rowsOf[tables.Phase](t, out))
			s.end++ // it has run on
			s.status[string(c.later)] = http.StatusInternalServerError
			second := s.run(t, out)
			require.Equal(t, 1, second.ApplicationsFailed)
			require.Contains(t, second.Incomplete[0].Reason, "the rows of an earlier run stay")
			require.Equal(t, c.source, onlyRow[tables.Application](t, out).Source)
			require.Len(t, rowsOf[tables.Phase](t, out), phases)
			after := clusterRow(t, out)
			require.Equal(t, []int64{before.TotalApplications, before.TotalJobs, before.TotalStages},
				[]int64{after.TotalApplications, after.TotalJobs, after.TotalStages})

			delete(s.status, string(c.later))
			third := s.run(t, out)
			require.Equal(t, 1, third.ApplicationsRead)
			require.Empty(t, third.Incomplete)
		})
	}
}

// A number without an executor is of a container that never started, unless the server may
// have evicted it.
func TestNumbersWithoutAnExecutor(t *testing.T) {
	executors := func(step, n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`{"id":"%d","isActive":false}`, 1+step*i))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	for name, c := range map[string]struct{ executors, env, reason string }{
		"few":                   {executors(2, 50), `{}`, ""},
		"as many as are kept":   {executors(2, 100), `{}`, string(fold.Retention)},
		"fewer are kept":        {executors(2, 10), `{"sparkProperties":[["spark.ui.retainedDeadExecutors","10"]]}`, string(fold.Retention)},
		"many, but all of them": {executors(1, 200), `{}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, out := startServer(t), t.TempDir()
			s.status[string(history.Logs)] = http.StatusNotFound
			s.json = map[string]string{string(history.Executors): c.executors, string(history.Env): c.env}
			s.run(t, out)
			for _, row := range rowsOf[tables.Completeness](t, out) {
				if row.Endpoint == fold.Executors {
					require.Equal(t, c.reason, row.Reason, "%+v", row)
				}
			}
		})
	}
}
