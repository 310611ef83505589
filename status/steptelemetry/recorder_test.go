package steptelemetry_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/storetest"
	"github.com/emr-observatory/emr-observatory/status"
	"github.com/emr-observatory/emr-observatory/status/recording"
	"github.com/emr-observatory/emr-observatory/status/steptelemetry"
)

// A restart repeats no span, and loses none of a step that ran meanwhile.
func TestRestartRepeatsNothing(t *testing.T) {
	w := newWorld(t)
	cluster := w.cluster(t)
	before := w.add(t, cluster, "before")
	w.run(t, cluster, types.StepStateCompleted, before)
	during := w.add(t, cluster, "during")
	require.NoError(t, w.store.SetStepState(cluster, during, types.StepStateRunning, nil))
	w.recorder(t).Round(t.Context(), afterLogs())
	first := w.received()
	require.Equal(t, []string{before}, stepsOf(first))

	require.NoError(t, w.store.SetStepState(cluster, during, types.StepStateCompleted, nil))
	after := w.add(t, cluster, "after")
	w.run(t, cluster, types.StepStateCompleted, after)
	r := w.recorder(t)
	r.Round(t.Context(), afterLogs())
	require.ElementsMatch(t, []string{during, after}, stepsOf(w.received()))
	r.Round(t.Context(), afterLogs())
	w.recorder(t).Round(t.Context(), afterLogs())
	require.Empty(t, w.received())

	// A file that is lost or broken costs a repetition of the same spans.
	require.NoError(t, os.WriteFile(filepath.Join(w.folder, "steps.json"), []byte(`{"j-1":`), 0o600))
	w.recorder(t).Round(t.Context(), afterLogs())
	again := w.received()
	require.ElementsMatch(t, []string{before, during, after}, stepsOf(again))
	at := slices.IndexFunc(again, func(s span) bool { return s.attributes()["emr.step.id"] == before })
	require.Equal(t, first[0].ids(), again[at].ids())
}

func stepsOf(spans []span) []string {
	var ids []string
	for _, s := range spans {
		ids = append(ids, s.attributes()["emr.step.id"])
	}
	return ids
}

// All pages are read once; after that a reading is one request, and open steps that
// newer ones have pushed off the first page are asked for by id.
func TestManySteps(t *testing.T) {
	w := newWorld(t)
	cluster := w.cluster(t)
	var waiting, ended []string
	for i := range 30 {
		waiting = append(waiting, w.add(t, cluster, fmt.Sprintf("long-%d", i)))
		require.NoError(t, w.store.SetStepState(cluster, waiting[i], types.StepStateRunning, nil))
	}
	add := func(n int) {
		for range n {
			ended = append(ended, w.add(t, cluster, "short"))
		}
		w.run(t, cluster, types.StepStateCompleted, ended[len(ended)-n:]...)
	}
	add(120)
	r := w.recorder(t)
	r.Round(t.Context(), afterLogs())
	require.ElementsMatch(t, ended, stepsOf(w.received()))
	require.Equal(t, 3, w.requests())

	add(60)
	r.Round(t.Context(), afterLogs())
	require.ElementsMatch(t, ended[120:], stepsOf(w.received()))
	require.LessOrEqual(t, w.requests(), 2+2, "two pages, and some of the open ones by id")

	for _, id := range waiting {
		require.NoError(t, w.store.SetStepState(cluster, id, types.StepStateCompleted, nil))
	}
	var got []string
	for range 3 {
		r.Round(t.Context(), afterLogs())
		got = append(got, stepsOf(w.received())...)
	}
	require.ElementsMatch(t, waiting, got)
	w.requests()
	r.Round(t.Context(), afterLogs())
	require.Equal(t, 1, w.requests())
}

// EMR may have steps of months. What ended long before the first reading is left out,
// but not what still runs.
func TestOldStepsAreLeftOut(t *testing.T) {
	w := newWorld(t)
	cluster := w.cluster(t)
	running := w.add(t, cluster, "streaming")
	require.NoError(t, w.store.SetStepState(cluster, running, types.StepStateRunning, nil))
	for range 60 {
		w.run(t, cluster, types.StepStateCompleted, w.add(t, cluster, "old"))
	}
	r := w.recorder(t)
	later := time.Now().Add(25 * time.Hour)
	r.Round(t.Context(), later)
	require.Empty(t, w.received())
	require.NoError(t, w.store.SetStepState(cluster, running, types.StepStateCompleted, nil))
	r.Round(t.Context(), later)
	require.Equal(t, []string{running}, stepsOf(w.received()))
}

// What the collector does not take is sent later.
func TestCollectorThatRefuses(t *testing.T) {
	w := newWorld(t)
	cluster := w.cluster(t)
	id := w.add(t, cluster, "daily")
	w.run(t, cluster, types.StepStateCompleted, id)
	w.down = true
	r := w.recorder(t)
	r.Round(t.Context(), afterLogs())
	require.Contains(t, strings.Join(r.Problems(), "\n"), "send the spans of 1 steps to "+w.otl.URL)
	w.mu.Lock()
	w.down = false
	w.mu.Unlock()
	r = w.recorder(t) // also across a restart
	r.Round(t.Context(), afterLogs())
	require.Empty(t, r.Problems())
	require.Equal(t, []string{id}, stepsOf(w.received()))
	require.Equal(t, map[string]int64{"COMPLETED": 1}, w.sum(cluster))
}

// A cluster of another stack is named once and asked for rarely; others are recorded.
func TestClusterThatIsNotTheStacksOwn(t *testing.T) {
	w := newWorld(t)
	own, other := w.cluster(t), w.cluster(t)
	id := w.add(t, own, "daily")
	w.run(t, own, types.StepStateCompleted, id)
	w.refuse = func(body string) *emrError {
		if strings.Contains(body, other) {
			return &emrError{http.StatusBadRequest, "AccessDeniedException", "not authorized to perform: elasticmapreduce:ListSteps"}
		}
		return nil
	}
	r := w.recorder(t)
	now := afterLogs()
	r.Round(t.Context(), now)
	require.Equal(t, []string{id}, stepsOf(w.received()))
	require.Len(t, r.Problems(), 1)
	require.Contains(t, r.Problems()[0], "read steps of cluster "+other+": it is no cluster of this stack, or lacks the stack's tags")
	require.Equal(t, 2, w.requests())
	page := w.source(t)
	page.Recorders = []status.Recorder{r}
	require.Equal(t, r.Problems(), page.Read(t.Context()).Problems, "once, though the page has asked, too")
	w.requests()
	for range 5 {
		now = now.Add(recording.Interval)
		r.Round(t.Context(), now)
	}
	require.Equal(t, 5, w.requests(), "of its own cluster")
	require.Len(t, r.Problems(), 1)
	w.refuse = nil // the tags were added
	r.Round(t.Context(), now.Add(time.Hour))
	require.Empty(t, r.Problems())
}

// Requests of all clusters together stay within their share of EMR's quota.
func TestRequestsAreLimited(t *testing.T) {
	w := newWorld(t)
	for range 6 {
		w.cluster(t)
	}
	r, err := steptelemetry.New(t.Context(), w.source(t), w.folder)
	require.NoError(t, err)
	began := time.Now()
	r.Round(t.Context(), afterLogs())
	require.Equal(t, 6, w.requests())
	require.Greater(t, time.Since(began), 7900*time.Millisecond, "four at once, then one each 4 s")
}

// A step whose cluster has stopped reporting is recorded all the same.
func TestClusterThatNoLongerReports(t *testing.T) {
	w := newWorld(t)
	cluster := w.cluster(t)
	id := w.add(t, cluster, "last")
	require.NoError(t, w.store.SetStepState(cluster, id, types.StepStateRunning, nil))
	w.recorder(t).Round(t.Context(), afterLogs())
	w.metrics = storetest.DefaultMetrics(t) // knows no cluster
	r := w.recorder(t)
	r.Round(t.Context(), afterLogs())
	require.NoError(t, w.store.SetStepState(cluster, id, types.StepStateCompleted, nil))
	r.Round(t.Context(), afterLogs())
	require.Equal(t, []string{id}, stepsOf(w.received()))
	w.requests()
	r.Round(t.Context(), afterLogs())
	require.Zero(t, w.requests(), "it has no open step")
}

// A throttled or broken EMR is asked less and less often, until it answers.
func TestThrottledEMR(t *testing.T) {
	w := newWorld(t)
	cluster := w.cluster(t)
	id := w.add(t, cluster, "daily")
	w.run(t, cluster, types.StepStateCompleted, id)
	w.refuse = func(string) *emrError {
		return &emrError{http.StatusBadRequest, "ThrottlingException", "Rate exceeded"}
	}
	r := w.recorder(t)
	now := afterLogs()
	for range 90 { // half an hour
		r.Round(t.Context(), now)
		now = now.Add(recording.Interval)
	}
	require.Equal(t, 7, w.requests(), "after 20 s, 40 s … 10 min")
	require.Contains(t, strings.Join(r.Problems(), ""), "Rate exceeded")
	w.refuse = nil
	r.Round(t.Context(), now.Add(10*time.Minute))
	require.Empty(t, r.Problems())
	require.Equal(t, []string{id}, stepsOf(w.received()))
}
