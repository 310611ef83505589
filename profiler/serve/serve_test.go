package serve

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// get fetches a page of the server.
func get(t *testing.T, s *Server, path string) string {
	t.Helper()
	served := httptest.NewServer(s.Handler())
	defer served.Close()
	response, err := http.Get(served.URL + path)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return string(body)
}

// Runs do not overlap; each starts an interval after the start of the last.
func TestRunsRepeatAtTheInterval(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	running := make(chan struct{})
	release := make(chan Report)
	s := New(func(context.Context) Report {
		running <- struct{}{}
		return <-release
	}, 50*time.Millisecond)
	ended := make(chan struct{})
	go func() { s.Run(ctx); close(ended) }()
	<-running
	require.True(t, s.State().Running)
	require.Nil(t, s.State().Last)
	release <- Report{Result: Complete, ClustersFound: 3, Applications: 20, Objects: 7}
	<-running
	first := *s.State().Last
	require.Equal(t, 20, first.Applications)
	require.Equal(t, first.Ended, *s.State().Success)
	require.Nil(t, s.State().Next, "a run is in progress")
	stop()
	release <- Report{Result: Failed, Error: "the context has ended"}
	<-ended
	require.Equal(t, first, *s.State().Last, "a run that was stopped is not a failure")
}

func TestFailedRunsAreRepeatedSooner(t *testing.T) {
	s := New(nil, time.Hour)
	now := time.Now()
	for _, want := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute} {
		require.Equal(t, now.Add(want).UTC(), s.finish(Report{Started: now, Ended: now, Result: Failed}, now))
	}
	require.Nil(t, s.State().Success)
	require.Equal(t, now.Add(time.Hour).UTC(), s.finish(Report{Started: now, Ended: now, Result: Incomplete, ClustersFound: 1}, now))
	require.Equal(t, now.Add(time.Minute).UTC(), s.finish(Report{Started: now, Ended: now, Result: Failed}, now))
	late := now.Add(2 * time.Hour)
	outlasting := Report{Started: now, Ended: late, Result: Complete, ClustersFound: 1}
	require.Equal(t, late.UTC(), s.finish(outlasting, late), "a run that outlasts the interval")
	for _, want := range []time.Duration{time.Minute, 2 * time.Minute} {
		require.Equal(t, now.Add(want).UTC(), s.finish(Report{Started: now, Ended: now, Result: Complete}, now), "no cluster yet")
	}
	for range 100 {
		require.LessOrEqual(t, s.finish(Report{Started: now, Ended: now, Result: Failed}, now).Sub(now), time.Hour)
	}
}

func TestLastRunIsServed(t *testing.T) {
	s := New(nil, time.Hour)
	require.Equal(t, "ok\n", get(t, s, "/healthz"))
	require.JSONEq(t, `{"running":false}`, get(t, s, Path))
	require.Contains(t, get(t, s, "/metrics"), `observatory_profiler_runs_total{result="failed"} 0`)
	now := time.Date(2026, 11, 24, 9, 0, 0, 0, time.UTC)
	report := Report{Started: now, Ended: now.Add(90 * time.Second), Result: Incomplete, ClustersFound: 37, Applications: 4, Objects: 61}
	for range MaxMissing + 3 {
		report.Add(Missing{Cluster: "j-1", Reason: "its UI is not ready"})
	}
	s.finish(report, report.Ended)
	var state State
	require.NoError(t, json.Unmarshal([]byte(get(t, s, Path)), &state))
	require.Equal(t, report, *state.Last)
	require.Len(t, state.Last.Incomplete, MaxMissing)
	require.Equal(t, now.Add(time.Hour), *state.Next)
	for _, line := range []string{
		`observatory_profiler_runs_total{result="incomplete"} 1`, "observatory_profiler_written_objects_total 61",
		"observatory_profiler_last_success_timestamp_seconds 1795510890", "observatory_profiler_run_duration_seconds 90",
		"observatory_profiler_interval_seconds 3600",
		"observatory_profiler_clusters 37", "observatory_profiler_applications 4", "observatory_profiler_incomplete 53",
	} {
		require.Contains(t, strings.Split(get(t, s, "/metrics"), "\n"), line)
	}
}
