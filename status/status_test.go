package status_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/storetest"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
)

// importSamples imports series with one sample each, of a given age.
func importSamples(t *testing.T, url string, age time.Duration, series ...string) {
	t.Helper()
	var lines strings.Builder
	for _, one := range series {
		fmt.Fprintf(&lines, "%s %d\n", one, time.Now().Add(-age).UnixMilli())
	}
	response, err := http.Post(url+"/api/v1/import/prometheus", "text/plain", strings.NewReader(lines.String()))
	require.NoError(t, err)
	response.Body.Close()
	require.Equal(t, http.StatusNoContent, response.StatusCode)
	storetest.Get(t, url+"/internal/force_flush")
}

// metric returns a line of Prometheus text.
func metric(name, cluster, role, host, extra string, value int) string {
	return fmt.Sprintf(`%s{cluster=%q,node_role=%q,host_name=%q%s} %d`, name, cluster, role, host, extra, value)
}

// config returns a configuration with VictoriaMetrics at a URL, a workload that is
// ready and one that is not.
func config(t *testing.T, victoriaMetrics string) status.Config {
	t.Helper()
	workloads := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/ready" {
			http.Error(w, "Ingester not ready: waiting for 15s\nmore", http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(workloads.Close)
	return status.Config{
		Region: "us-east-1", Stack: "dev", BootstrapHash: "now", S3Paths: platform.NewS3Paths("data"),
		Control: status.Control{PrivateIP: "10.0.0.4", OTLP: "10.0.0.4:4317", GrafanaURL: "https://10.0.0.4:3000",
			StatusURL: "https://10.0.0.4:8080"},
		Endpoints: map[platform.Workload]status.Endpoint{
			platform.WorkloadVictoriaMetrics: {URL: victoriaMetrics, ReadyURL: victoriaMetrics + "/health"},
			platform.WorkloadTempo:           {URL: workloads.URL, ReadyURL: workloads.URL + "/ready"},
			platform.WorkloadPyroscope:       {URL: workloads.URL, ReadyURL: workloads.URL + "/other"},
			platform.WorkloadGrafana:         {URL: "http://grafana:3000", ReadyURL: "http://" + testenv.Address(t) + "/api/health"},
		},
	}
}

func TestStatusFromMetrics(t *testing.T) {
	metrics := storetest.DefaultMetrics(t)
	importSamples(t, metrics, 2*time.Second,
		metric(platform.MetricHostSeen, "j-1", "core", "ip-10-0-0-12", `,state="used"`, 7),
		metric(platform.MetricHostSeen, "j-1", "core", "ip-10-0-0-12", `,state="free"`, 9),
		metric(platform.MetricHostSeen, "j-1", "master", "ip-10-0-0-99", `,state="used"`, 7))
	importSamples(t, metrics, time.Minute, metric(platform.MetricHostSeen, "j-1", "core", "ip-10-0-0-14", "", 7))
	importSamples(t, metrics, time.Second, metric(platform.MetricHostSeen, "dev", platform.RoleControl, "ip-10-0-0-4", "", 7))
	importSamples(t, metrics, time.Minute, metric(platform.MetricHostSeen, "j-1", "task", "ip-10-0-0-13", "", 7))
	importSamples(t, metrics, 10*time.Minute, metric(platform.MetricHostSeen, "j-0", "core", "ip-10-0-0-50", "", 7))
	importSamples(t, metrics, 26*time.Hour,
		metric(platform.MetricBootstrapUp, "j-1", "core", "ip-10-0-0-12", `,component="collector"`, 1),
		metric(platform.MetricBootstrapUp, "j-1", "core", "ip-10-0-0-12", `,component="profiler"`, 0),
		metric(platform.MetricBootstrapUp, "j-1", "master", "ip-10-0-0-99", `,component="collector"`, 1))
	// A node without a collector sends only its bootstrap report.
	importSamples(t, metrics, 3*time.Hour,
		metric(platform.MetricBootstrapUp, "j-2", "core", "ip-10-0-0-60", `,component="collector"`, 0),
		metric(platform.MetricBootstrapUp, "j-2", "core", "ip-10-0-0-60", `,component="profiler"`, 1),
		metric(platform.MetricBootstrapUp, "j-2", "core", "ip-10-0-0-60", `,component="added"`, 0), // of no part that this program has
		metric(platform.MetricBootstrapUp, "j-1", "task", "ip-10-0-0-13", `,component="collector"`, 0))
	importSamples(t, metrics, 25*time.Hour, metric(platform.MetricBootstrapUp, "j-2", "core", "ip-10-0-0-61", `,component="collector"`, 0))

	url, access := serve(t, config(t, metrics))
	got, err := status.Fetch(t.Context(), url, access)
	require.NoError(t, err)
	require.Empty(t, got.Problems)
	require.Equal(t, platform.NewS3Paths("data"), got.S3Paths)
	require.Equal(t, config(t, metrics).Control, got.Control)

	require.Len(t, got.Nodes, 6, "the host that was silent for ten minutes is gone")
	require.Equal(t, platform.RoleControl, got.Nodes[0].Role)
	got.Nodes = got.Nodes[1:]
	hosts := make([]string, 0, len(got.Nodes))
	for _, n := range got.Nodes {
		hosts = append(hosts, n.Host)
	}
	require.Equal(t, []string{"ip-10-0-0-99", "ip-10-0-0-12", "ip-10-0-0-14", "ip-10-0-0-13", "ip-10-0-0-60"}, hosts)
	require.Equal(t, "master", got.Nodes[0].Role)
	require.Equal(t, []status.Cluster{
		{ID: "j-1", Name: "j-1", Nodes: map[string]int{"master": 1, "core": 2, "task": 1}, Bootstrap: status.BootstrapNotKnown},
		{ID: "j-2", Name: "j-2", Nodes: map[string]int{"core": 1}, Bootstrap: status.BootstrapNotKnown},
	}, got.Clusters)
	require.Equal(t, []status.Bootstrap{
		{Cluster: "j-1", Role: "master", Host: "ip-10-0-0-99", Result: status.BootstrapComplete, Failed: []platform.NodeComponent{}},
		{Cluster: "j-1", Role: "core", Host: "ip-10-0-0-12", Result: status.BootstrapPartial,
			Failed: []platform.NodeComponent{platform.ComponentProfiler}},
		{Cluster: "j-1", Role: "core", Host: "ip-10-0-0-14", Result: status.BootstrapUnknown, Failed: []platform.NodeComponent{}},
		{Cluster: "j-1", Role: "task", Host: "ip-10-0-0-13", Result: status.BootstrapPartial,
			Failed: []platform.NodeComponent{platform.ComponentCollector}},
		{Cluster: "j-2", Role: "core", Host: "ip-10-0-0-60", Result: status.BootstrapPartial,
			Failed: []platform.NodeComponent{"added", platform.ComponentCollector}},
	}, got.Bootstrap)
	require.Equal(t, "http://grafana:3000", got.Endpoints[platform.WorkloadGrafana])
	require.Len(t, got.Endpoints, 4)
	require.WithinDuration(t, time.Now().Add(-2*time.Second), got.Nodes[1].LastSeen, 30*time.Second)
	require.WithinDuration(t, time.Now().Add(-time.Minute), got.Nodes[3].LastSeen, 30*time.Second)
	require.WithinDuration(t, time.Now().Add(-3*time.Hour), got.Nodes[4].LastSeen, 30*time.Second)
	require.Equal(t, map[platform.NodeComponent]bool{platform.ComponentCollector: true, platform.ComponentProfiler: false},
		got.Nodes[1].Components)

	require.Len(t, got.Workloads, 4)
	for i, want := range []struct {
		name   platform.Workload
		ready  bool
		reason string
	}{
		{platform.WorkloadGrafana, false, "connection refused"},
		{platform.WorkloadPyroscope, false, "/other: 503 Service Unavailable: Ingester not ready: waiting for 15s"},
		{platform.WorkloadTempo, true, ""},
		{platform.WorkloadVictoriaMetrics, true, ""},
	} {
		require.Equal(t, want.name, got.Workloads[i].Name)
		require.Equal(t, want.ready, got.Workloads[i].Ready)
		require.Contains(t, got.Workloads[i].Reason, want.reason)
		require.Equal(t, want.ready, got.Workloads[i].Reason == "")
	}

	var text bytes.Buffer
	require.NoError(t, got.Render(&text, got.Nodes[1].LastSeen.Add(30*time.Second)))
	require.Regexp(t, `core +│ ip-10-0-0-12 │ 30s ago +│ partial, without profiler`, text.String())
	require.Regexp(t, `master │ ip-10-0-0-99 │ 30s ago +│ complete`, text.String())
	require.Regexp(t, `core +│ ip-10-0-0-14 │ 1m\d+s ago +│ no report`, text.String())
	require.Regexp(t, `task +│ ip-10-0-0-13 │ 1m\d+s ago +│ partial, without collector`, text.String())
	require.Regexp(t, `pyroscope +│ no +│ GET .*Ingester not ready`, text.String())
	require.Regexp(t, `\A(problem: .*\n)*problem: pyroscope is not ready: GET .*Ingester not ready`, text.String())
	require.Regexp(t, `its bootstrap action is partial, without profiler\n(problem: .*\n)*\ncontrol node `, text.String())
	require.Len(t, got.Down(), 2)
}

func TestStatusWithoutMetrics(t *testing.T) {
	c := config(t, "http://"+testenv.Address(t))
	got := source(t, c).Read(t.Context())
	require.Empty(t, got.Nodes)
	require.Len(t, got.Problems, 1)
	require.Contains(t, got.Problems[0], "read nodes: ")
	var text bytes.Buffer
	require.NoError(t, got.Render(&text, time.Now()))
	require.Contains(t, text.String(), "no node has sent metrics in the last 5m0s")
	require.Regexp(t, `(?m)^not known: read nodes: `, text.String())
	before, _, found := strings.Cut(text.String(), "\n\ncontrol node ")
	require.True(t, found, "what is not as it should be comes before everything else")
	require.Contains(t, before, "not known: read nodes: ")
}

func TestSections(t *testing.T) {
	url, access := serve(t, config(t, "http://"+testenv.Address(t)))
	for _, section := range status.Sections() {
		_, body := get(t, access, url+"/status?section="+section, platform.StatusUser, password)
		var part, whole any
		require.NoError(t, json.Unmarshal([]byte(body), &part))
		_, body = get(t, access, url+"/status", platform.StatusUser, password)
		require.NoError(t, json.Unmarshal([]byte(body), &whole))
		require.Equal(t, whole.(map[string]any)[section], part, section)
	}
	response, body := get(t, access, url+"/status?section=secrets", platform.StatusUser, password)
	require.Equal(t, http.StatusBadRequest, response.StatusCode)
	require.Contains(t, body, "no such section")
	require.Contains(t, body, "workloads")

	client, err := status.NewClient(access.CACertificate, "")
	require.NoError(t, err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/status", nil)
	require.NoError(t, err)
	request.SetBasicAuth(platform.StatusUser, password)
	posted, err := client.Do(request)
	require.NoError(t, err)
	defer posted.Body.Close()
	require.Equal(t, http.StatusMethodNotAllowed, posted.StatusCode)
}

func TestFetchRejectsOtherSchemaVersions(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"schemaVersion": 99}`)
	}))
	t.Cleanup(server.Close)
	_, err := status.Fetch(t.Context(), server.URL+"/status/", status.Access{})
	require.ErrorContains(t, err, "answers schema version 99, this program reads 1")
	server.Close()
	_, err = status.Fetch(t.Context(), server.URL, status.Access{})
	require.ErrorContains(t, err, "fetch status: ")
}

func TestLoadConfig(t *testing.T) {
	file := filepath.Join(t.TempDir(), "status.json")
	want := config(t, "http://victoria-metrics:8428")
	data, err := json.Marshal(want)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, data, 0o600))
	got, err := status.LoadConfig(file)
	require.NoError(t, err)
	require.Equal(t, want, got)

	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"unknown key": {`{"s3paths2": {}}`, []string{`unknown field "s3paths2"`}},
		"every violation": {
			`{"s3Paths":{"data":"data"},"control":{"privateIp":"ip-10-0-0-4"},"endpoints":{"tempo":{"url":"tempo:3200","readyUrl":"ready"}},` +
				`"dashboards":[{"path":"//evil/d/x"}],"stepLinks":[{"title":"trace","path":"/x"}]}`,
			[]string{
				"region: empty", "stack: empty", "bootstrapHash: empty",
				`s3Paths.data: "data"`, `s3Paths.lake: ""`, `control.privateIp: "ip-10-0-0-4"`, `control.otlp: ""`,
				`control.grafanaUrl: ""`, "endpoints.victoria-metrics: missing", "dashboards[0].title: empty", "dashboards[0].service: empty",
				"stepLinks[0].service: empty",
				`dashboards[0].path: "//evil/d/x": must be a path below the server's URL`, `endpoints.tempo.url: "tempo:3200"`,
				`endpoints.tempo.readyUrl: "ready"`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(file, []byte(test.text), 0o600))
			_, err := status.LoadConfig(file)
			for _, part := range test.want {
				require.ErrorContains(t, err, part)
			}
		})
	}
	_, err = status.LoadConfig(file + ".absent")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestSectionsListAllPartsButTheVersion(t *testing.T) {
	require.Equal(t, []string{
		"s3Paths", "control", "clusters", "steps", "schedules", "nodes", "bootstrap", "workloads", "endpoints", "history", "problems",
	}, status.Sections())
	_, err := status.Status{}.Section("schemaVersion")
	require.ErrorIs(t, err, status.ErrSection)
}
