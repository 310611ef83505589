package tools_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/history"
	"github.com/emr-observatory/emr-observatory/profiler/source"
	"github.com/emr-observatory/emr-observatory/profiler/tools"
)

// restAnswers are what a history server has of one application, by the last part of the path.
// All other lists are empty.
var restAnswers = map[string]string{
	"applications": `[{"id":"application_1700000000000_0001","name":"etl","attempts":[{"attemptId":"1","startTimeEpoch":1700000000000,` +
		`"endTimeEpoch":1700000060000,"completed":true,"sparkUser":"hadoop","appSparkVersion":"3.5.5"}]}]`,
	"environment": `{}`,
	"stages": `[{"status":"COMPLETE","stageId":3,"attemptId":0,"numTasks":2,"numCompleteTasks":2,"name":"collect at job.py:1",` +
		`"submissionTime":"2023-11-14T22:13:21.000GMT","completionTime":"2023-11-14T22:13:31.000GMT"},` +
		`{"status":"SKIPPED","stageId":2,"attemptId":0,"numTasks":1,"name":"map at job.py:1"}]`,
	"taskList": `[{"taskId":1}]`,
}

// The tools read a history server through its REST API.
func TestToolsReadAHistoryServer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		last := path.Base(r.URL.Path)
		if last == "taskSummary" {
			http.Error(w, "No tasks reported metrics for 3 / 0 yet.", http.StatusNotFound)
			return
		}
		answer, ok := restAnswers[last]
		if !ok {
			answer = "[]"
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, answer)
	}))
	t.Cleanup(server.Close)
	from, err := source.NewServer(server.URL, "team-a", history.Options{Pause: time.Millisecond})
	require.NoError(t, err)
	s := connect(t, fromSource(t, from))

	found, failed := call[tools.Answer[tools.Application]](t, s, "getappid", map[string]any{"from": "2023-11-14", "to": "2023-11-14"})
	require.Empty(t, failed)
	require.Len(t, found.Rows, 1)
	require.Equal(t, "application_1700000000000_0001", found.Rows[0].ApplicationID)
	require.Equal(t, "2023-11-14T22:13:20Z", found.Rows[0].StartTime)

	which := map[string]any{"id": found.Rows[0].ApplicationID}
	stages, failed := call[tools.Answer[tools.Stage]](t, s, "getsloweststages", which)
	require.Empty(t, failed)
	require.Len(t, stages.Rows, 1)
	require.EqualValues(t, 3, stages.Rows[0].StageID)
	require.Equal(t, "«collect at job.py:1»", stages.Rows[0].Name)
	require.EqualValues(t, 10_000, *stages.Rows[0].DurationMillis)
}
