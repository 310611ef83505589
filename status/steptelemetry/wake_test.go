package steptelemetry_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/serve"
	"github.com/emr-observatory/emr-observatory/status"
	"github.com/emr-observatory/emr-observatory/status/steptelemetry"
)

// profiler is a profiler's server, which can be down.
func profiler(t *testing.T, password string) (server *serve.Server, url string, down *atomic.Bool) {
	t.Helper()
	down = &atomic.Bool{}
	server = serve.New(func(context.Context) serve.Report { return serve.Report{} }, time.Hour)
	server.ServeWakes(password, func(context.Context, serve.Wake) (serve.Found, error) { return serve.Found{}, nil })
	served := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if down.Load() {
			rw.WriteHeader(http.StatusBadGateway)
			return
		}
		server.Handler().ServeHTTP(rw, r)
	}))
	t.Cleanup(served.Close)
	return server, served.URL, down
}

// waking starts a recorder whose source knows a profiler, as a new process does.
func (w *world) waking(t *testing.T, url, password string) *steptelemetry.Recorder {
	t.Helper()
	source := w.source(t)
	source.Password, source.Config.Endpoints[platform.WorkloadProfiler] = password, status.Endpoint{URL: url}
	r, err := steptelemetry.New(t.Context(), source, w.folder)
	require.NoError(t, err)
	r.Hurry()
	return r
}

// The end of a step wakes the profiler once, for all applications of its cluster that have ended
// meanwhile: also if the profiler is down for a while, and if this server restarts.
func TestEndsOfStepsWakeTheProfiler(t *testing.T) {
	const password = "the-password-of-the-status"
	w := newWorld(t)
	server, url, down := profiler(t, password)
	cluster := w.cluster(t)
	first, second := w.add(t, cluster, "first"), w.add(t, cluster, "second")
	r := w.waking(t, url, password)
	r.Round(t.Context(), time.Now())
	require.Empty(t, server.State().Woken, "no step has ended")

	w.run(t, cluster, types.StepStateCompleted, first)
	w.sends(t, cluster, first, "application_17_0001", 1)
	down.Store(true)
	r.Round(t.Context(), time.Now())
	require.Contains(t, r.Problems()[0], "wake the profiler: POST "+url)
	w.run(t, cluster, types.StepStateFailed, second)
	w.sends(t, cluster, second, "application_17_0002", 1)
	down.Store(false)
	r.Round(t.Context(), afterLogs())
	require.Empty(t, r.Problems())
	woken := server.State().Woken
	require.Len(t, woken, 1)
	require.Equal(t, serve.Wake{Cluster: cluster, Applications: []string{"application_17_0001", "application_17_0002"}}, woken[0].Wake)

	w.sends(t, cluster, "", "application_17_0009", 1)
	w.sends(t, cluster, "", "application_17_0010", 0)
	for range 2 {
		r.Round(t.Context(), afterLogs())
		require.Equal(t, []string{"application_17_0001", "application_17_0002", "application_17_0009"}, server.State().Woken[0].Applications,
			"one of a notebook has ended, another runs")
	}

	restarted, again, _ := profiler(t, password)
	r = w.waking(t, again, password)
	r.Round(t.Context(), afterLogs())
	require.Equal(t, []string{"application_17_0009"}, restarted.State().Woken[0].Applications, "the profiler knows what it has read")
	third := w.add(t, cluster, "third")
	w.run(t, cluster, types.StepStateCompleted, third)
	w.sends(t, cluster, third, "application_17_0003", 1)
	r = w.waking(t, again, password)
	r.Round(t.Context(), afterLogs())
	require.Equal(t, []string{"application_17_0003", "application_17_0009"}, restarted.State().Woken[0].Applications,
		"it ended while nobody looked")
}
