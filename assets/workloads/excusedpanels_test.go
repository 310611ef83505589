package workloadconfig_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/emr-observatory/emr-observatory/assets/node"
	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/dashboards"
	"github.com/emr-observatory/emr-observatory/dashboards/check"
	"github.com/emr-observatory/emr-observatory/dashboards/links"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
)

// TestExcusedPanelsShowTheirFaults injects the fault of every panel that is empty while
// the platform is healthy, each at the part that reports it:
//
//   - a node's bootstrap action whose downloads fail,
//   - samples, log records and profiles that their stores reject,
//   - a Tempo whose limit is too low for a trace,
//   - and one that is restarted without its ingestion path, so that neither the
//     collector nor the redelivery can deliver.
//
// `dashboards check` must then find data for each query of these panels, and
// each metric query must be above zero.
func TestExcusedPanelsShowTheirFaults(t *testing.T) {
	excused := excusedPanels(t)
	require.Len(t, excused, 4, "describe the fault of the new panel above and inject it here")
	testenv.RequireLong(t, "dashboards/check runs the queries of these panels on stores that it fills")
	began := time.Now()
	l := newFaultyLab(t)
	failBootstrap(t)

	f := faults{t: t}
	killed := false
	report := func() check.Report {
		f.inject()
		options := check.Options{Dashboards: allDashboards(t), Since: began, Endpoints: storeEndpoints()}
		report, err := check.Run(context.Background(), options)
		require.NoError(t, err)
		return report
	}
	require.Truef(t, waitFor(testenv.Job, func() bool {
		r := report()
		if !killed && isAboveZero(t, r, excused, "tempo_discarded_spans_total") {
			killed = true
			l.restartTempoWithoutIngestion()
		}
		return len(queriesWithoutFault(t, r, excused)) == 0
	}), "no data after the fault: %s", queriesWithoutFault(t, report(), excused))
	require.True(t, killed)
}

// excusedPanels returns the titles of the panels that may be empty while the platform is
// healthy. Those of Spark Profiling show faults of jobs: dashboards/check finds data for them in
// stores that it fills, and tests/phases asks the queries of their rules about jobs with faults.
func excusedPanels(t *testing.T) map[string]bool {
	t.Helper()
	titles := map[string]bool{}
	for _, d := range allDashboards(t) {
		if d.UID == links.Profiling {
			continue
		}
		var board struct {
			Panels []struct{ Title, Description string }
		}
		require.NoError(t, json.Unmarshal(d.JSON, &board))
		for _, p := range board.Panels {
			if panel.EmptyWhenHealthy(p.Description) != "" {
				titles[p.Title] = true
			}
		}
	}
	return titles
}

func allDashboards(t *testing.T) []dashboards.Dashboard {
	t.Helper()
	suite, err := dashboards.Suite()
	require.NoError(t, err)
	return suite
}

func storeEndpoints() check.Endpoints {
	urls := platform.Workloads().URLs()
	return check.Endpoints{
		Metrics: urls[platform.WorkloadVictoriaMetrics], Logs: urls[platform.WorkloadVictoriaLogs],
		Traces: urls[platform.WorkloadTempo], Profiles: urls[platform.WorkloadPyroscope],
	}
}

// queriesWithoutFault lists the queries of excused panels that do not show their
// fault.
func queriesWithoutFault(t *testing.T, r check.Report, excused map[string]bool) []string {
	t.Helper()
	var found []string
	for _, result := range r.Results {
		if !excused[result.Panel] {
			continue
		}
		if result.State != check.Data || result.Datasource == panel.PluginMetrics && !aboveZero(t, result.Expr) {
			found = append(found, fmt.Sprintf("%s / %s (%s): %s: %s %s",
				result.Panel, result.Query, result.Selection, result.State, result.Expr, result.Error))
		}
	}
	return found
}

// isAboveZero reports whether the query of an excused panel for a metric was above
// zero.
func isAboveZero(t *testing.T, r check.Report, excused map[string]bool, metric string) bool {
	t.Helper()
	for _, result := range r.Results {
		if excused[result.Panel] && strings.Contains(result.Expr, metric) {
			return aboveZero(t, result.Expr)
		}
	}
	require.Failf(t, "no such query", "no excused panel reads %s", metric)
	return false
}

// aboveZero reports whether a query was above zero at any time of the test.
func aboveZero(t *testing.T, expr string) bool {
	t.Helper()
	query := url.Values{"query": {"max_over_time((" + expr + ")[10m:5s]) > 0"}, "latency_offset": {"1ms"}}
	status, body := request("GET", platform.Workloads().URLs()[platform.WorkloadVictoriaMetrics]+"/api/v1/query?"+query.Encode(), "", "")
	require.Equal(t, 200, status, body)
	return strings.Contains(body, `"value"`)
}

// faultyLab is a lab whose Tempo can be broken.
type faultyLab struct{ *lab }

// newFaultyLab starts the whole control node, scraped more often than in
// production, with a Tempo that takes only small traces.
func newFaultyLab(t *testing.T) faultyLab {
	t.Helper()
	l := faultyLab{newLab(t)}
	l.startWith(platform.WorkloadVictoriaMetrics, configWith(t, platform.WorkloadVictoriaMetrics,
		"scrape_interval: 30s, scrape_timeout: 10s", "scrape_interval: 2s, scrape_timeout: 2s"))
	l.startWith(platform.WorkloadTempo, configWith(t, platform.WorkloadTempo, "max_bytes_per_trace: 50000000", "max_bytes_per_trace: 1000"))
	l.start(platform.WorkloadVictoriaLogs)
	l.start(platform.WorkloadPyroscope)
	l.startCollector()
	for w, s := range l.running {
		s.ready(t, workloadRecord(t, w).ReadyURL())
	}
	return l
}

// restartTempoWithoutIngestion kills Tempo with a request that the redelivery
// still keeps, and starts it with its ingestion at another path.
func (l faultyLab) restartTempoWithoutIngestion() {
	l.t.Helper()
	sendTrace(l.t, time.Now(), "small")
	eventually(l.t, testenv.Arrival, "GET", platform.Workloads().URLs()[platform.WorkloadRedelivery]+"/metrics", func(_ int,
		body string) bool {
		return strings.Contains(body, `observatory_redelivery_kept_bytes{store="tempo"}`) &&
			!strings.Contains(body, `observatory_redelivery_kept_bytes{store="tempo"} 0`)
	})
	l.running[platform.WorkloadTempo].kill()
	l.startWith(platform.WorkloadTempo, configWith(l.t, platform.WorkloadTempo,
		"http: {endpoint: ", "http: {traces_url_path: /elsewhere, endpoint: "))
	l.running[platform.WorkloadTempo].ready(l.t, workloadRecord(l.t, platform.WorkloadTempo).ReadyURL())
}

// configWith returns a workload's configuration with a setting in its files
// replaced, which must occur.
func configWith(t *testing.T, w platform.Workload, setting, replacement string) workloadconfig.Config {
	t.Helper()
	c, found := config(t, w), false
	for name, body := range c.Files {
		found = found || strings.Contains(body, setting)
		c.Files[name] = strings.ReplaceAll(body, setting, replacement)
	}
	require.True(t, found, "no file of %s has %q", w, setting)
	return c
}

// failBootstrap runs the real bootstrap action of a core node whose downloads fail.
// Without a collector on the node, the action itself reports to the control node.
func failBootstrap(t *testing.T) {
	t.Helper()
	for _, dir := range []string{"/opt", "/mnt", platform.NodeUnitDir} {
		require.NoError(t, unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=0755"), dir)
		t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	}
	writeFile(t, filepath.Join(platform.EMRInfoDir, "job-flow.json"), `{"jobFlowId":"j-LAB"}`)
	writeFile(t, filepath.Join(platform.EMRInfoDir, "extraInstanceData.json"), `{"jobFlowId":"j-LAB","instanceRole":"CORE"}`)
	writeFile(t, filepath.Join(platform.EMRInfoDir, "instance.json"), `{"isMaster":false}`)
	var jar bytes.Buffer
	archive := zip.NewWriter(&jar)
	_, err := archive.Create("empty")
	require.NoError(t, err)
	require.NoError(t, archive.Close())
	missing := strings.Repeat("0", 64)
	script, hash, err := node.Bootstrap(node.BootstrapInput{LauncherJar: jar.Bytes(), Artifacts: []node.Installed{
		{Name: platform.ArtifactProfiler, SHA256: missing},
		{Name: platform.ArtifactPlugin, SHA256: missing},
		{Name: platform.ArtifactConnect, SHA256: missing},
		{Name: platform.ArtifactCollector(runtime.GOARCH), Arch: runtime.GOARCH, SHA256: missing},
	}})
	require.NoError(t, err)
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "bootstrap.sh"), string(script))
	writeFile(t, filepath.Join(dir, "sudo"), "#!/bin/sh\nexec \"$@\"\n") // the test's user is root already
	require.NoError(t, os.Chmod(filepath.Join(dir, "sudo"), 0o755))
	bash := exec.Command("bash", filepath.Join(dir, "bootstrap.sh"), "127.0.0.1", "s3://nowhere/artifacts/", hash)
	bash.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	out, err := bash.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "not installed")
	require.NotContains(t, string(out), "cannot send", "the control node did not take the report")
}

// faults sends data that the stores reject, and the metric by which the dashboard
// lists the node.
type faults struct{ t *testing.T }

func (f *faults) inject() {
	f.t.Helper()
	now, old := time.Now(), time.Now().Add(-2*month)
	host, err := os.Hostname()
	require.NoError(f.t, err)
	short, _, _ := strings.Cut(host, ".")
	count := gauge("system.cpu.logical.count", "{cpu}", now)
	send(f.t, "metrics", strings.Replace(count, "ip-10-0-1-7", short, 1))
	send(f.t, "metrics", gauge("lab.old", "", old))
	send(f.t, "logs", resource(`"scopeLogs":[{"logRecords":[{"timeUnixNano":"%d","body":{"stringValue":"too old"}}]}]`, old.UnixNano()))
	f.largeTrace(now)
	f.rejectedProfile(now)
}

func gauge(name, unit string, at time.Time) string {
	return resource(`"scopeMetrics":[{"metrics":[{"name":"%s","unit":"%s","gauge":{"dataPoints":[{"timeUnixNano":"%d","asInt":"2"}]}}]}]`,
		name, unit, at.UnixNano())
}

// largeTrace exceeds the limit of newFaultyLab.
func (f *faults) largeTrace(now time.Time) {
	f.t.Helper()
	sendTrace(f.t, now, strings.Repeat("x", 2000))
}

func sendTrace(t *testing.T, now time.Time, name string) {
	t.Helper()
	send(t, "traces", resource(`"scopeSpans":[{"spans":[{"traceId":"%032x","spanId":"00000000000000ff","name":"%s","kind":1,`+
		`"startTimeUnixNano":"%d","endTimeUnixNano":"%d"}]}]`, now.UnixNano(), name, now.Add(-time.Second).UnixNano(), now.UnixNano()))
}

// rejectedProfile sends a profile with more labels than Pyroscope allows (30).
func (f *faults) rejectedProfile(now time.Time) {
	f.t.Helper()
	var labels []string
	for i := range 40 {
		labels = append(labels, fmt.Sprintf(`label_%d="x"`, i))
	}
	q := url.Values{
		"name": {"spark-executor{" + strings.Join(labels, ",") + "}"}, "format": {"groups"}, "sampleRate": {"100"},
		"from": {fmt.Sprint(now.Add(-10 * time.Second).Unix())}, "until": {fmt.Sprint(now.Unix())},
	}
	status, body := request("POST", platform.Workloads().URLs()[platform.WorkloadPyroscope]+"/ingest?"+q.Encode(), "text/plain", "main 40\n")
	require.NotEqual(f.t, 200, status, body)
}
