package status_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/dashboards"
	"github.com/emr-observatory/emr-observatory/internal/browser"
	"github.com/emr-observatory/emr-observatory/internal/storetest"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
)

// crowded returns a status with more of everything, and longer texts, than most
// platforms have.
func crowded() status.Status {
	now := time.Now().UTC()
	word := strings.Repeat("quarterlyreconciliation", 4)
	s := status.Status{
		SchemaVersion: status.SchemaVersion, S3Paths: platform.NewS3Paths("observatory-dev-data-" + strings.Repeat("0", 40)),
		Control:  status.Control{PrivateIP: "10.0.0.4", OTLP: "10.0.0.4:4317"},
		Problems: []string{"read steps of cluster j-2ABCDEFGHIJKL: " + word + ": AccessDeniedException"},
	}
	ago := func(d time.Duration) *time.Time { at := now.Add(-d); return &at }
	for i, state := range types.StepState("").Values() {
		step := status.Step{
			Cluster: "j-2ABCDEFGHIJKL", ID: fmt.Sprintf("s-0%dABCDEFGHIJK", i), Name: fmt.Sprintf("orders.py %d <script>x</script> %s", i, word),
			State: state, Created: *ago(time.Duration(i) * time.Hour),
		}
		if state != types.StepStatePending && state != types.StepStateCancelled {
			step.Started, step.TraceID = ago(time.Duration(i)*time.Hour-time.Minute), strings.Repeat("ab", 16)
			step.ApplicationIDs = []string{fmt.Sprintf("application_1700000000000_%04d", i), fmt.Sprintf("application_1700000000000_1%04d", i)}
			for _, app := range step.ApplicationIDs {
				step.Phases = append(step.Phases, status.ApplicationPhases{
					ApplicationID: app, Approximate: true,
					Line: "wait 31 % · compute 34 % · write 20 % · driver 5 % · submit 3 % · idle 7 % (approximate)",
				})
			}
		}
		if state == types.StepStateCompleted || state == types.StepStateFailed || state == types.StepStateInterrupted {
			step.Ended = ago(time.Duration(i)*time.Hour - 5*time.Minute)
		}
		if state == types.StepStateFailed {
			step.Cause = "exit code 3 without an exception; the job's last lines:\n  " + word
			step.Reason = "Unknown Error.: Exception in thread \"main\" org.apache.spark.SparkException: " + word
		}
		s.Steps = append(s.Steps, step)
	}
	for _, w := range platform.Workloads() {
		workload := status.Workload{Name: w.Name, Ready: w.Name != platform.WorkloadPyroscope && w.Name != platform.WorkloadYACE}
		if !workload.Ready {
			workload.Reason = "GET http://" + string(w.Name) + ":4040/ready: 503 Service Unavailable: " + word
		}
		s.Workloads = append(s.Workloads, workload)
	}
	s.Schedules = []status.Schedule{{
		Key: "nightly", Cluster: "etl", Expression: "cron(0 2 * * ? *)", Timezone: "Europe/Berlin", Enabled: true, Next: ago(-time.Hour),
		Last: &status.ScheduledRun{Scheduled: now, State: "FAILED", Delivered: 2},
		Lost: []status.LostRun{{Schedule: "nightly", Scheduled: now, Reason: "ValidationException: <b>" + word, Told: now}},
	}, {Key: strings.Repeat("k", 32), Cluster: "etl", Expression: "rate(1 hour)"}}
	s.Clusters = []status.Cluster{{
		ID: "j-2ABCDEFGHIJKL", Name: "etl <script>x</script> " + word, State: types.ClusterStateWaiting, Release: "emr-7.13.0", Own: true,
		Nodes: map[string]int{"master": 1, "core": 40}, Bootstrap: status.BootstrapCurrent,
	}, {
		ID: "j-3ABCDEFGHIJKL", Name: "of-airflow", State: types.ClusterStateTerminatedWithErrors, Ended: ago(time.Hour), Release: "emr-6.15.0",
		Reason: "On the master instance (i-0123456789abcdef0), application provisioning failed: " + word, Bootstrap: status.BootstrapOutdated,
	}}
	for i := range 41 {
		node := status.Node{
			Cluster: "j-2ABCDEFGHIJKL", Role: "core", Host: fmt.Sprintf("ip-10-101-112-%d", i), LastSeen: *ago(time.Duration(i) * time.Second),
		}
		b := status.Bootstrap{Cluster: node.Cluster, Role: node.Role, Host: node.Host, Result: status.BootstrapComplete}
		if i%20 == 0 {
			b.Result, b.Failed = status.BootstrapPartial, platform.NodeComponents()
		}
		s.Nodes, s.Bootstrap = append(s.Nodes, node), append(s.Bootstrap, b)
	}
	return s
}

// A crowded page is as usable as an empty one: at the width of a laptop's window and of
// a phone, by keyboard, and with every link.
func TestPageInABrowser(t *testing.T) {
	chromium := browser.Start(t)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(elsewhere.Close)
	services := map[string]string{}
	for _, name := range []string{"victoria-metrics", "victoria-logs", "tempo", "pyroscope", "history", "resourcemanager", "status"} {
		services[name] = elsewhere.URL + "/" + name
	}
	for name, shown := range map[string]status.Status{"crowded": crowded(), "empty": {}} {
		c := status.Config{Region: "us-east-1"}
		shown.Control.GrafanaURL = elsewhere.URL
		for _, target := range dashboards.Links() {
			c.Dashboards = append(c.Dashboards, status.Link(target))
		}
		for _, target := range dashboards.StepLinks() {
			c.StepLinks = append(c.StepLinks, status.Link(target))
		}
		server := httptest.NewServer(status.HandlerOf(shown, c, password))
		t.Cleanup(server.Close)
		header := loggedIn()
		header.Set(platform.ServicesHeader, platform.EncodeServices(services))
		header.Set(platform.AbsentHeader, platform.EncodeAbsent(map[string]string{"yace": "the local cloud has no CloudWatch"}))
		var links []browser.Link
		for _, width := range []int64{900, 360} {
			for _, link := range chromium.Examine(t, server.URL+status.ApplicationsPath, width, header) {
				answers(t, link.URL, header)
			}
			links = chromium.Examine(t, server.URL+status.Path, width, header)
		}
		require.Greater(t, len(links), len(services), name)
		for _, link := range links {
			answers(t, link.URL, header)
		}
	}
}

// The logs' own UI understands the link to a step's logs.
func TestLinksOfAStepOpenWhatTheyName(t *testing.T) {
	chromium := browser.Start(t)
	logs := storetest.Logs(t)
	importLogs(t, logs, "s-1", "the step's own line", "Submitted application application_17_0002")
	importLogs(t, logs, "s-2", "another step's line")
	started, ended := time.Now().Add(-time.Minute), time.Now()
	shown := status.Status{Steps: []status.Step{{Cluster: "j-1", ID: "s-1", Name: "etl.py", Started: &started, Ended: &ended,
		ApplicationIDs: []string{"application_17_0002"}}}}
	c := status.Config{Region: "us-east-1"}
	for _, target := range dashboards.StepLinks() {
		c.StepLinks = append(c.StepLinks, status.Link(target))
	}
	server := httptest.NewServer(status.HandlerOf(shown, c, password))
	t.Cleanup(server.Close)
	header := loggedIn()
	header.Set(platform.ServicesHeader, platform.EncodeServices(map[string]string{"victoria-logs": logs}))
	opened := 0
	for _, link := range chromium.Examine(t, server.URL+status.Path, 900, header) {
		if link.Text == "logs" {
			chromium.Shows(t, link.URL, "the step's own line")
			opened++
		}
	}
	require.Equal(t, 1, opened)
}

func loggedIn() http.Header {
	return http.Header{"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte(platform.StatusUser+":"+password))}}
}

// answers requires a response to a link. A fragment stays in the browser.
func answers(t *testing.T, link string, header http.Header) {
	t.Helper()
	_, err := url.Parse(link)
	require.NoError(t, err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, link, nil)
	require.NoError(t, err)
	request.Header = header
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusOK, response.StatusCode, link)
}
