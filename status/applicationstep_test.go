package status_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/dashboards"
	"github.com/emr-observatory/emr-observatory/internal/storetest"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/report"
	"github.com/emr-observatory/emr-observatory/status"
)

// The page of an application has what EMR and the logs say of its step: how it ended, and the
// exception of one that failed. Its links lead to what else is known of both.
func TestPagesHaveTheirStep(t *testing.T) {
	metrics, logs := storetest.DefaultMetrics(t), storetest.Logs(t)
	store, reader, requests := startEMR(t)
	cluster, ids := addSteps(t, store, "failing.py", "running.py")
	for _, id := range ids {
		require.NoError(t, store.SetStepState(cluster, id, types.StepStateRunning, nil))
	}
	require.NoError(t, store.SetStepState(cluster, ids[0], types.StepStateFailed, nil))
	importLogs(t, logs, ids[0], "Submitted application application_17_0001",
		"Traceback (most recent call last):\n  File \"/tmp/job.py\", line 4, in <module>\n    orders[key]\nKeyError: '<b>day</b>'")
	importLogs(t, logs, ids[1], "Submitted application application_17_0002")
	for i, app := range []string{"application_17_0001", "application_17_0002"} {
		labels := fmt.Sprintf("cluster=%q,host_name=\"ip-1\",spark_app_id=%q", cluster, app)
		samples := []string{fmt.Sprintf("%s{%s,step_id=%q,application_name=\"etl\",dag_id=\"nightly\",try_number=\"2\"} 1",
			platform.MetricApplicationInfo, labels, ids[i])}
		for name, value := range with(referenceCase(), platform.MetricApplicationEnded, float64(1-i)) {
			samples = append(samples, fmt.Sprintf("%s{%s} %v", name, labels, value))
		}
		importSamples(t, metrics, 2*time.Second, samples...)
	}
	c := config(t, metrics)
	c.Endpoints[platform.WorkloadVictoriaLogs] = status.Endpoint{URL: logs, ReadyURL: logs + "/health"}
	for _, target := range dashboards.StepLinks() {
		c.StepLinks = append(c.StepLinks, status.Link(target))
	}
	from := source(t, c)
	from.Steps = reader
	url, access := serveSource(t, from)
	page := func(id string) (page report.Application) {
		response, text := get(t, access, url+status.ApplicationsPath+"/"+id, platform.StatusUser, password, platform.ServicesHeader,
			platform.EncodeServices(map[string]string{"history": "http://history", "tempo": "http://tempo", "victoria-logs": "http://logs"}))
		require.Equal(t, http.StatusOK, response.StatusCode, text)
		require.NoError(t, json.Unmarshal([]byte(text), &page))
		return page
	}
	failed := page("application_17_0001")
	require.Equal(t, "Failed after 1 min 40 s: KeyError: '<b>day</b>'\n  at job.py:4, in <module>: orders[key]", failed.Verdict())
	titles := map[string]string{}
	for _, link := range failed.Links {
		titles[link.Title] = link.URL
	}
	require.Equal(t, status.ApplicationsPath, titles["all applications"])
	require.Equal(t, "http://history/history/application_17_0001/", titles["Spark history"])
	require.Equal(t, "http://tempo/api/traces/"+traceID, titles["trace"])
	require.Contains(t, titles["logs"], ids[0])
	require.NotContains(t, titles, platform.TimelineLink, "it is this page")
	require.Equal(t, report.NewAirflowTask("nightly", "", "", 2), failed.Airflow)
	require.Equal(t, "Running", page("application_17_0002").Outcome)
	seen(t, metrics, cluster)
	failing := from.Read(t.Context()).Steps[1]
	require.Len(t, failing.Phases, 1)
	require.Regexp(t, `^failed: KeyError: '<b>day</b>' at job.py:4, in <module>: orders\[key\]; wait 31 % .*; waiting for resources cost`,
		failing.Phases[0].String())
	c.Endpoints[platform.WorkloadGrafana] = status.Endpoint{URL: "http://grafana", ReadyURL: grafanaAsked(t)}
	_, text := get(t, access, url+status.ApplicationsPath+"/application_17_0001", platform.StatusUser, password, platform.AbsentHeader,
		platform.EncodeAbsent(map[string]string{string(platform.WorkloadGrafana): "not here"}))
	require.Contains(t, text, "application_17_0001")
	delete(c.Endpoints, platform.WorkloadGrafana)
	asked := requests.Load()
	page("application_17_0001")
	require.Equal(t, asked, requests.Load(), "reloading asks EMR nothing")
	_, text = get(t, access, url+status.ApplicationsPath+"/application_17_0001", platform.StatusUser, password, "Accept", "text/html")
	require.Contains(t, text, "KeyError: &#39;&lt;b&gt;day&lt;/b&gt;&#39;")
	require.Contains(t, text, `<nav aria-label="More about it">`)
}

// grafanaAsked is an address of Grafana that must not be asked.
func grafanaAsked(t *testing.T) string {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("an absent server was asked whether it is ready")
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// What an application did over its time comes from its metrics: each moment's phase, and its
// executors by state.
func TestPagesShowMoments(t *testing.T) {
	metrics := storetest.DefaultMetrics(t)
	const id, labels = "application_17_0005", `cluster="j-1",host_name="ip-1",spark_app_id="application_17_0005"`
	for ago := 100; ago >= 0; ago -= 10 {
		state, active := slices.Index(platform.Phases(), platform.PhaseResourceWait), 0
		if ago < 50 {
			state, active = slices.Index(platform.Phases(), platform.PhaseCompute), 2
		}
		importSamples(t, metrics, time.Duration(ago)*time.Second, fmt.Sprintf("%s{%s} %d", platform.MetricPhaseState, labels, state),
			fmt.Sprintf("%s{%s,state=\"active\"} %d", platform.MetricExecutorCount, labels, active),
			fmt.Sprintf("%s{%s,state=\"pending\"} %d", platform.MetricExecutorCount, labels, 2-active))
	}
	importPhases(t, metrics, time.Second, id, "ip-1", referenceCase())
	url, access := serve(t, config(t, metrics))
	_, text := get(t, access, url+status.ApplicationsPath+"/"+id, platform.StatusUser, password)
	var page report.Application
	require.NoError(t, json.Unmarshal([]byte(text), &page), text)
	require.InDelta(t, 10, len(page.Moments), 2)
	require.Equal(t, 10*time.Second, page.Every)
	first, last := page.Moments[0], page.Moments[len(page.Moments)-1]
	require.Equal(t, platform.PhaseResourceWait, first.Phase)
	require.Equal(t, map[string]float64{"active": 0, "pending": 2}, first.Executors)
	require.Equal(t, platform.PhaseCompute, last.Phase)
	require.Equal(t, map[string]float64{"active": 2, "pending": 0}, last.Executors)
}

// The list has what runs first, then what ended last, with or without a step. A driver that was
// killed runs no more once it is silent.
func TestListOfApplications(t *testing.T) {
	metrics := storetest.DefaultMetrics(t)
	running := with(referenceCase(), platform.MetricApplicationEnded, 0)
	for id, of := range map[string]struct {
		age    time.Duration
		values map[string]float64
		info   string
	}{
		"application_17_0001": {5 * time.Second, running, `application_name="<script>etl</script>",step_id="s-1"`},
		"application_17_0002": {3 * time.Hour, running, `application_name="killed"`},
		"application_17_0003": {time.Minute, referenceCase(), `application_name="notebook"`},
		"application_17_0004": {48 * time.Hour, referenceCase(), `application_name="of the day before yesterday"`},
		"local-17":            {time.Minute, referenceCase(), `application_name="on a laptop"`},
	} {
		importPhases(t, metrics, of.age, id, "ip-1", of.values)
		importSamples(t, metrics, of.age, platform.MetricApplicationInfo+`{cluster="j-1",host_name="ip-1",spark_app_id="`+id+`",`+of.info+`} 1`)
	}
	importSamples(t, metrics, time.Minute,
		`spark_stage_cost_seconds_total{cluster="j-1",host_name="ip-1",spark_app_id="application_17_0003",rule="spill"} 40`)
	url, access := serve(t, config(t, metrics))
	url += status.ApplicationsPath
	response, text := get(t, access, url, platform.StatusUser, password)
	require.Equal(t, http.StatusOK, response.StatusCode, text)
	var list status.ApplicationList
	require.NoError(t, json.Unmarshal([]byte(text), &list))
	var ids []string
	for _, item := range list.Applications {
		ids = append(ids, item.ApplicationID)
	}
	require.Equal(t, []string{"application_17_0001", "application_17_0003", "application_17_0002"}, ids)
	require.True(t, list.Applications[0].Running)
	require.False(t, list.Applications[2].Running, "it is silent")
	require.Contains(t, list.Applications[1].String(), "spill to disk cost up to 40 s (40 %)")
	require.WithinDuration(t, time.Now().Add(-160*time.Second), list.Applications[1].Started, 5*time.Second)

	response, text = get(t, access, url, platform.StatusUser, password, "Accept", "text/html")
	require.Equal(t, http.StatusOK, response.StatusCode, text)
	require.NotContains(t, text, "<script")
	for _, want := range []string{
		"&lt;script&gt;etl", `href="/status/applications/application_17_0002"`, "SILENT", "without a step", "step <code>s-1</code>",
	} {
		require.Contains(t, text, want)
	}
	response, _ = get(t, access, url, platform.StatusUser, "")
	require.Equal(t, http.StatusUnauthorized, response.StatusCode)
	var many []string
	for n := range 60 {
		id := fmt.Sprintf("application_1700000000000_%04d", n)
		importPhases(t, metrics, time.Hour, id, "ip-1", referenceCase())
		many = append(many, `spark_stage_cost_seconds_total{cluster="j-1",host_name="ip-1",spark_app_id="`+id+`",rule="spill"} 40`)
	}
	importSamples(t, metrics, time.Hour, many...)
	response, text = get(t, access, url, platform.StatusUser, password)
	require.Equal(t, http.StatusOK, response.StatusCode, text)
	require.NoError(t, json.Unmarshal([]byte(text), &list))
	require.Len(t, list.Applications, 50)
	require.Equal(t, 13, list.Omitted)
	require.Contains(t, list.Applications[20].String(), "spill to disk cost up to 40 s (40 %)")
	empty, access := serve(t, config(t, storetest.Metrics(t)))
	_, text = get(t, access, empty+status.ApplicationsPath, platform.StatusUser, password)
	require.JSONEq(t, `{"applications": [], "omitted": 0}`, text)
}
