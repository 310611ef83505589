package status_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/storetest"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
)

// referenceCase is a split of 100 s.
func referenceCase() map[string]float64 {
	return map[string]float64{
		platform.PhaseResourceWait.Metric(): 31.25, platform.PhaseCompute.Metric(): 43.75, platform.PhaseWrite.Metric(): 20,
		platform.PhaseDriver.Metric(): 5, platform.PhaseSubmit.Metric(): 0, platform.PhaseIdle.Metric(): 0,
		platform.MetricSparkWall: 100, platform.MetricPhaseApproximate: 0, platform.MetricApplicationEnded: 1,
	}
}

const referenceLine = "wait 31 % · compute 44 % · write 20 % · driver 5 %"

// importPhases imports what a driver on a host has sent at an age.
func importPhases(t *testing.T, metrics string, age time.Duration, application, host string, values map[string]float64) {
	t.Helper()
	var series []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		series = append(series, fmt.Sprintf(`%s{cluster="j-1",node_role="master",host_name=%q,spark_app_id=%q,spark_executor_id="driver"} %v`,
			name, host, application, values[name]))
	}
	importSamples(t, metrics, age, series...)
}

// with returns a split with one value replaced, or left out if it is negative.
func with(split map[string]float64, name string, value float64) map[string]float64 {
	split = maps.Clone(split)
	split[name] = value
	if value < 0 {
		delete(split, name)
	}
	return split
}

// started returns a step that started this long ago, with its applications.
func started(ago time.Duration, applications ...string) status.Step {
	at := time.Now().Add(-ago)
	return status.Step{Cluster: "j-1", ID: "s-1", Started: &at, ApplicationIDs: applications}
}

// A reading is the last of a driver, also of one that ended hours ago or a second ago:
// VictoriaMetrics forgets series after five minutes, and hides the newest 30 s. What is
// not whole is no reading.
func TestPhasesOfAStep(t *testing.T) {
	metrics := storetest.DefaultMetrics(t)
	const app = "application_17_00"
	early := with(with(referenceCase(), platform.PhaseWrite.Metric(), 0), platform.MetricSparkWall, 80)
	importPhases(t, metrics, 3*time.Hour+10*time.Second, app+"01", "ip-1", early)
	importPhases(t, metrics, 3*time.Hour, app+"01", "ip-1", referenceCase())
	importPhases(t, metrics, 2*time.Second, app+"02", "ip-1", with(referenceCase(), platform.MetricPhaseApproximate, 1))
	importPhases(t, metrics, time.Minute, app+"03", "ip-9", referenceCase())
	importPhases(t, metrics, time.Hour, app+"03", "ip-1", early)
	importPhases(t, metrics, time.Minute, app+"04", "ip-1", with(referenceCase(), platform.PhaseCompute.Metric(), -1))
	importPhases(t, metrics, time.Minute, app+"05", "ip-1", with(referenceCase(), platform.MetricSparkWall, 110))
	importPhases(t, metrics, time.Minute, app+"06", "ip-1", with(referenceCase(), platform.MetricSparkWall, -1))
	importPhases(t, metrics, time.Minute, app+"07", "ip-1", with(referenceCase(), platform.MetricPhaseApproximate, -1))
	importPhases(t, metrics, time.Minute, app+"08", "ip-1", with(referenceCase(), platform.PhaseIdle.Metric(), -1))
	importPhases(t, metrics, time.Minute, app+"09", "ip-1", referenceCase())
	importPhases(t, metrics, 5*time.Hour, app+"10", "ip-1", referenceCase())
	importPhases(t, metrics, time.Minute, app+"11", "ip-1", referenceCase())
	importPhases(t, metrics, time.Minute, app+"13", "ip-1", with(referenceCase(), platform.MetricApplicationEnded, 0))
	importSamples(t, metrics, time.Minute,
		`spark_application_info{cluster="j-1",host_name="ip-1",spark_app_id="application_17_0009",step_id="s-2"} 1`,
		`spark_application_info{cluster="j-1",host_name="ip-1",spark_app_id="application_17_0011",step_id="s-1"} 1`)

	url, access := serve(t, config(t, metrics))
	for id, want := range map[string]string{
		"01": referenceLine, "02": referenceLine + " (approximate)", "03": referenceLine, "08": referenceLine, "11": referenceLine,
		"04": "", "05": "", "06": "", "07": "", // not whole
		"09": "", // of another step
		"10": "", // of another time
		"12": "", // of no plugin
	} {
		step := started(4*time.Hour, app+id)
		found, err := status.FetchPhases(t.Context(), url, access, step)
		require.NoError(t, err)
		if want == "" {
			require.Empty(t, found, id)
			continue
		}
		require.Len(t, found, 1, id)
		require.Equal(t, want, found[0].Line, id)
		require.Equal(t, app+id, found[0].ApplicationID)
		require.InDelta(t, 31.25, found[0].Seconds[platform.PhaseResourceWait], 1e-9)
		require.Equal(t, id == "02", found[0].Approximate)
		require.True(t, found[0].Ended)
	}
	killed := started(4*time.Hour, app+"13")
	for _, want := range []string{referenceLine, referenceLine + " (approximate)"} { // as long as its step runs, and then
		found, err := status.FetchPhases(t.Context(), url, access, killed)
		require.NoError(t, err)
		require.Len(t, found, 1)
		require.Equal(t, want, found[0].Line)
		require.False(t, found[0].Ended)
		at := time.Now()
		killed.Ended = &at
	}
	found, err := status.FetchPhases(t.Context(), url, access, started(4*time.Hour, app+"01", "application_|.*", app+"12", app+"02"))
	require.NoError(t, err)
	require.Len(t, found, 2, "in the step's order; what is no id is not asked for")
	require.Equal(t, []string{app + "01", app + "02"}, []string{found[0].ApplicationID, found[1].ApplicationID})

	found, err = status.FetchPhases(t.Context(), url, access, started(4*time.Hour))
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, app+"11", found[0].ApplicationID, "its driver names the step")
}

// The page, its JSON and the terminal show the phases of each of a step's applications,
// which the step's log names, and lead to its timeline.
func TestPhasesInTheListOfSteps(t *testing.T) {
	metrics, logs := storetest.DefaultMetrics(t), storetest.Logs(t)
	store, reader, _ := startEMR(t)
	cluster, ids := addSteps(t, store, "two.py", "running.py", "without.py")
	for _, id := range ids {
		require.NoError(t, store.SetStepState(cluster, id, types.StepStateRunning, nil))
	}
	require.NoError(t, store.SetStepState(cluster, ids[0], types.StepStateCompleted, nil))
	seen(t, metrics, cluster)
	importLogs(t, logs, ids[0], "Submitted application application_17_0001", "Submitted application application_17_0002")
	importLogs(t, logs, ids[1], "Submitted application application_17_0003")
	importLogs(t, logs, ids[2], "Submitted application application_17_0004")
	for _, app := range []string{"application_17_0001", "application_17_0002", "application_17_0003"} {
		importPhases(t, metrics, 2*time.Second, app, "ip-1", referenceCase())
	}
	grafana := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(grafana.Close)
	c := config(t, metrics)
	c.Endpoints[platform.WorkloadVictoriaLogs] = status.Endpoint{URL: logs, ReadyURL: logs + "/health"}
	c.StepLinks = []status.Link{
		{Title: platform.TimelineLink, Service: platform.WorkloadGrafana, Path: "/d/t?var-application=${application}&from=${__from}"},
		{Title: platform.TimelineLink, Service: platform.WorkloadVictoriaMetrics, Path: "/vmui/#/dashboards?g0.end_input=${end}"},
		{Title: "logs", Service: platform.WorkloadGrafana, Path: "/logs"},
	}
	from := source(t, c)
	from.Steps = reader
	read := from.Read(t.Context())
	require.Empty(t, read.Problems)
	require.Len(t, read.Steps, 3)
	without, running, two := read.Steps[0], read.Steps[1], read.Steps[2]
	require.Empty(t, without.Phases)
	require.Len(t, running.Phases, 1)
	require.Len(t, two.Phases, 2)
	var text strings.Builder
	require.NoError(t, read.Render(&text, time.Now()))
	require.Contains(t, text.String(), "│ application_17_0002: "+referenceLine+" ")

	forwarded := []string{platform.ServicesHeader, platform.EncodeServices(map[string]string{"victoria-metrics": "http://metrics"})}
	all := openSource(t, from, forwarded...)
	require.Contains(t, texts(all, "p"), "application_17_0001 : "+referenceLine+" timeline")
	require.Contains(t, texts(all, "p"), "application_17_0002 : "+referenceLine+" timeline")
	require.Contains(t, texts(all, "p"), "so far "+referenceLine+" timeline")
	require.Equal(t, 3, strings.Count(strings.Join(texts(all, "p"), "\n"), "compute"))
	require.Contains(t, links(all)["timeline"], "http://metrics/vmui/#/dashboards?g0.end_input=")
	require.NotContains(t, texts(all, "a"), "logs", "Grafana does not run")

	from.Config.Endpoints[platform.WorkloadGrafana] = status.Endpoint{URL: grafana.URL, ReadyURL: grafana.URL}
	address, access := serveSource(t, from)
	fetched, err := status.Fetch(t.Context(), address, access)
	require.NoError(t, err)
	two = fetched.Steps[2]
	for i, app := range []string{"application_17_0001", "application_17_0002"} {
		require.Equal(t, app, two.Phases[i].ApplicationID)
		require.Equal(t, fmt.Sprintf("https://10.0.0.4:3000/d/t?var-application=%s&from=%d", app, two.Started.Add(-time.Minute).UnixMilli()),
			two.Phases[i].Timeline)
	}
	require.Equal(t, c.Control.StatusURL+"/status/applications/application_17_0001", two.Phases[0].Page)
	alone, err := status.FetchPhases(t.Context(), address, access,
		status.Step{Cluster: cluster, ID: two.ID, Started: two.Started, Ended: two.Ended})
	require.NoError(t, err)
	require.Equal(t, two.Phases, alone, "as the list of steps has them")
	for _, item := range texts(openSource(t, from), "li") {
		for name, want := range map[string]int{"two.py": 2, "running.py": 1, "without.py": 1} { // each application's; or the step's own
			if strings.Contains(item, name) {
				require.Equal(t, want, strings.Count(item, "timeline"), item)
			}
		}
	}
}

// Requests that describe no step are refused with all that is wrong; a store that does
// not answer is named.
func TestPhasesThatCannotBeRead(t *testing.T) {
	address, access := serve(t, config(t, "http://127.0.0.1:1"))
	for query, want := range map[string][]string{
		"": {`cluster: "": must be`, `step: "": must be`, `started: "": must be a time`},
		"?cluster=j-1&step=s-1&started=2026-01-02T03:04:05Z&ended=now": {`ended: "now": must be a time`},
		"?cluster=j-1&step=1&started=2026-01-02T03:04:05Z":             {`step: "1": must be an EMR step id`},
	} {
		response, body := get(t, access, address+"/status/phases"+query, platform.StatusUser, password)
		require.Equal(t, http.StatusBadRequest, response.StatusCode)
		for _, part := range want {
			require.Contains(t, body, part)
		}
	}
	step := started(time.Minute, "application_17_0001")
	_, err := status.FetchPhases(t.Context(), address, access, step)
	require.ErrorContains(t, err, "read the phases of step s-1: ")
	require.ErrorContains(t, err, "connection refused")
	_, err = status.FetchPhases(t.Context(), address, access, status.Step{ID: "s-1"})
	require.ErrorContains(t, err, "step s-1 has not started")
	response, _ := get(t, access, address+"/status/phases?"+url.Values{"step": {"s-1"}}.Encode(), "", "")
	require.Equal(t, http.StatusUnauthorized, response.StatusCode)
}
