package status_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/storetest"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/command"
	profiler "github.com/emr-observatory/emr-observatory/profiler/serve"
	"github.com/emr-observatory/emr-observatory/report"
	"github.com/emr-observatory/emr-observatory/rules"
	"github.com/emr-observatory/emr-observatory/status"
)

// profilerOf runs the profiler over an event log until the test ends, and returns its address
// once it has read it.
func profilerOf(t *testing.T, log string) string {
	t.Helper()
	logs, address := t.TempDir(), testenv.Address(t)
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(logs, "log"), text, 0o600))
	secret := filepath.Join(t.TempDir(), "password")
	require.NoError(t, os.WriteFile(secret, []byte(password), 0o600))
	root := &cobra.Command{Use: "observatory-profiler", SilenceUsage: true, SilenceErrors: true}
	command.AddTo(root)
	root.SetArgs([]string{"serve", "--logs", logs, "--output", t.TempDir(), "--listen-address", address, "--password-file", secret})
	root.SetErr(t.Output())
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { _ = root.ExecuteContext(ctx); close(ended) }()
	t.Cleanup(func() { stop(); <-ended })
	require.NoError(t, testenv.Poll(t.Context(), testenv.Arrival, 10*time.Millisecond, func(context.Context) error {
		response, err := http.Get("http://" + address + profiler.Path)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		var state profiler.State
		if err := json.NewDecoder(response.Body).Decode(&state); err != nil || state.Last == nil {
			return fmt.Errorf("no run has ended: %w", err)
		}
		return nil
	}))
	return "http://" + address
}

// The page of an application comes from the profiler's tables, for people and for programs.
func TestPageOfAnApplication(t *testing.T) {
	c := config(t, storetest.DefaultMetrics(t))
	const id = "application_1700000000000_0001"
	url, access := serve(t, c)
	url += status.ApplicationsPath + "/"
	response, text := get(t, access, url+id, platform.StatusUser, password)
	require.Equal(t, http.StatusNotFound, response.StatusCode, text)
	require.Contains(t, text, "neither its history nor its metrics are known")

	c.Endpoints[platform.WorkloadProfiler] = status.Endpoint{URL: profilerOf(t, "../phases/testdata/logs/reference.jsonl")}
	url, access = serve(t, c)
	url += status.ApplicationsPath + "/"
	response, text = get(t, access, url+id, platform.StatusUser, password, "Accept", "text/html")
	require.Equal(t, http.StatusOK, response.StatusCode, text)
	require.Equal(t, report.Policy(), response.Header.Get("Content-Security-Policy"))
	require.Contains(t, text, "Waiting for resources cost up to")
	require.Contains(t, text, platform.SourceURL+"docs/recipes/troubleshoot/resource-wait-long.md")
	response, text = get(t, access, url+id, platform.StatusUser, password)
	require.Equal(t, http.StatusOK, response.StatusCode, text)
	var page report.Application
	require.NoError(t, json.Unmarshal([]byte(text), &page))
	require.Equal(t, id, page.ID)
	require.NotEmpty(t, page.Findings)

	for path, want := range map[string]int{
		"application_1700000000000_0009": http.StatusNotFound, "app": http.StatusBadRequest, "..%2flast": http.StatusBadRequest,
	} {
		response, text = get(t, access, url+path, platform.StatusUser, password)
		require.Equal(t, want, response.StatusCode, text)
	}
	response, _ = get(t, access, url+id, platform.StatusUser, "")
	require.Equal(t, http.StatusUnauthorized, response.StatusCode)
}

// Until the tables have an application, its metrics make the page: while it runs, and after.
func TestPageFromMetrics(t *testing.T) {
	metrics := storetest.DefaultMetrics(t)
	c := config(t, metrics)
	c.Endpoints[platform.WorkloadProfiler] = status.Endpoint{URL: profilerOf(t, "../phases/testdata/logs/reference.jsonl")}
	url, access := serve(t, c)
	const id = "application_1700000000000_0007"
	importPhases(t, metrics, 3*time.Hour, id, "ip-1", with(referenceCase(), platform.MetricApplicationEnded, 0))
	importSamples(t, metrics, 3*time.Hour,
		`spark_application_info{cluster="j-1",host_name="ip-1",spark_app_id="`+id+`",application_name="<b>etl</b>",spark_version="3.5.5"} 1`,
		`spark_stage_cost_seconds_total{cluster="j-1",host_name="ip-1",spark_app_id="`+id+`",rule="spill"} 40`)
	url += status.ApplicationsPath + "/" + id
	response, text := get(t, access, url, platform.StatusUser, password, "Accept", "text/html")
	require.Equal(t, http.StatusOK, response.StatusCode, text)
	for _, want := range []string{
		"&lt;b&gt;etl&lt;/b&gt;", "Running, or its driver was killed after 1 min 40 s. Spill to disk cost up to 40 s (40 %).",
		"This is what the metrics say.", "The history is not in the tables yet; `observatory profile report` makes a page",
		"Not checked yet:", "spark.sql.shuffle.partitions", "wait: 31.3 s (31.3 %)",
	} {
		require.Contains(t, text, want)
	}
	require.NotContains(t, text, "Stages by cost")
	importPhases(t, metrics, 2*time.Hour, id, "ip-1", referenceCase())
	response, text = get(t, access, url, platform.StatusUser, password)
	require.Equal(t, http.StatusOK, response.StatusCode, text)
	var page report.Application
	require.NoError(t, json.Unmarshal([]byte(text), &page))
	require.True(t, page.Live)
	require.Equal(t, "Ended", page.Outcome)
	require.Contains(t, page.Missing[0], "the profiler: last run complete")

	read := source(t, c)
	read.Password = "another-password"
	wake := profiler.Wake{Cluster: "j-1", Applications: []string{id}}
	require.ErrorContains(t, read.Wake(t.Context(), wake), "wake the profiler: POST "+c.Endpoints[platform.WorkloadProfiler].URL)
	read.Password = password
	require.NoError(t, read.Wake(t.Context(), wake))
	_, text = get(t, access, url, platform.StatusUser, password)
	require.NoError(t, json.Unmarshal([]byte(text), &page))
	require.Regexp(t, `the profiler: reads cluster j-1 (now|in \d+s)`, page.Missing[0])
	require.Equal(t, rules.Critical, page.Findings[0].Severity)
}

// A stream, which never ends, has a page of its last day.
func TestPageOfAStream(t *testing.T) {
	metrics := storetest.DefaultMetrics(t)
	const id, day, earlier = "application_1700000000000_0008", 24 * time.Hour, 240 * time.Hour
	const labels = `{cluster="j-1",host_name="ip-1",spark_app_id="` + id + `"}`
	var lines []string
	for ago := 26 * time.Hour; ago >= 0; ago -= 5 * time.Minute {
		at, wait := time.Now().Add(-ago).UnixMilli(), max(0, day-ago)/4
		all := map[string]float64{
			platform.MetricSparkWall: (earlier + 26*time.Hour - ago).Seconds(), platform.MetricPhaseApproximate: 0,
			platform.MetricApplicationEnded: 0, platform.PhaseResourceWait.Metric(): wait.Seconds(), "spark_resource_wait_seconds": wait.Seconds(),
			platform.PhaseCompute.Metric(): (earlier + 26*time.Hour - ago - wait).Seconds(),
		}
		for name, value := range all {
			lines = append(lines, fmt.Sprintf("%s%s %v %d", name, labels, value, at))
		}
	}
	storetest.Post(t, metrics+"/api/v1/import/prometheus", "text/plain", []byte(strings.Join(lines, "\n")+"\n"))
	storetest.Get(t, metrics+"/internal/force_flush")
	url, access := serve(t, config(t, metrics))
	_, text := get(t, access, url+status.ApplicationsPath+"/"+id, platform.StatusUser, password)
	var page report.Application
	require.NoError(t, json.Unmarshal([]byte(text), &page), text)
	require.InDelta(t, day.Hours(), page.Wall.Hours(), 0.1)
	require.WithinDuration(t, time.Now().Add(-day), page.Since, 10*time.Minute)
	require.WithinDuration(t, time.Now().Add(-earlier-26*time.Hour), page.Started, 10*time.Minute)
	require.Regexp(t, `^Running, or its driver was killed; of the last 24 h. Waiting for resources cost up to 5 h 59 min \(24.9 %\)`,
		page.Verdict())
	shares := map[platform.Phase]float64{}
	for _, phase := range page.Phases {
		shares[phase.Phase] = phase.Share
	}
	require.InDelta(t, 0.25, shares[platform.PhaseResourceWait], 0.01)
	require.InDelta(t, 0.75, shares[platform.PhaseCompute], 0.01)
}

// The tables may have an application as it was while it ran: they were read for another's sake. Until
// they have its end, the page is that of its metrics, unless its driver was killed.
func TestPageOfAnApplicationThatWasReadTooSoon(t *testing.T) {
	metrics := storetest.DefaultMetrics(t)
	c := config(t, metrics)
	c.Endpoints[platform.WorkloadProfiler] = status.Endpoint{URL: profilerOf(t, "../phases/testdata/logs/killed-driver.jsonl")}
	url, access := serve(t, c)
	const id = "application_1700000000000_0001"
	page := func() (page report.Application) {
		_, text := get(t, access, url+status.ApplicationsPath+"/"+id, platform.StatusUser, password)
		require.NoError(t, json.Unmarshal([]byte(text), &page), text)
		return page
	}
	require.False(t, page().Live)
	require.Zero(t, page().Ended)
	importPhases(t, metrics, time.Hour, id, "ip-1", with(referenceCase(), platform.MetricApplicationEnded, 0))
	require.False(t, page().Live, "a silent driver was killed: the tables know more")
	importPhases(t, metrics, 45*time.Second, id, "ip-1", with(referenceCase(), platform.MetricApplicationEnded, 0))
	require.True(t, page().Live)
	importPhases(t, metrics, 40*time.Second, id, "ip-1", referenceCase())
	require.True(t, page().Live)
	require.Equal(t, "Ended", page().Outcome)
}
