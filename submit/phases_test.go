package submit_test

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
	"github.com/emr-observatory/emr-observatory/submit"
	"github.com/emr-observatory/emr-observatory/toolchain/servers"
)

// statusPage is the real status page on an own VictoriaMetrics.
type statusPage struct {
	metrics  string
	page     submit.StatusPage
	requests atomic.Int64
}

func newStatusPage(t *testing.T) *statusPage {
	t.Helper()
	const password = "correct-horse-battery"
	s := &statusPage{metrics: startVictoriaMetrics(t)}
	client, err := status.NewClient(nil, "")
	require.NoError(t, err)
	handler := status.Handler(status.Source{Client: client, Config: status.Config{
		Control: status.Control{GrafanaURL: "https://10.0.0.4:3000"},
		Endpoints: map[platform.Workload]status.Endpoint{
			platform.WorkloadVictoriaMetrics: {URL: s.metrics},
			platform.WorkloadGrafana:         {ReadyURL: s.metrics + "/health"},
		},
		StepLinks: []status.Link{{Title: platform.TimelineLink, Service: platform.WorkloadGrafana, Path: "/d/t?app=${application}&c=${cluster}"}},
	}}, password)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.page = submit.StatusPage{URL: server.URL + status.Path, Settle: time.Second, Access: status.Access{
		Password: password, CACertificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
	}}
	return s
}

func startVictoriaMetrics(t *testing.T) string {
	t.Helper()
	found, err := servers.Find(t.Context(), string(platform.WorkloadVictoriaMetrics))
	testenv.Require(t, err == nil, fmt.Sprint(err))
	address := testenv.Address(t)
	server := exec.Command(found, "-httpListenAddr="+address, "-storageDataPath="+t.TempDir(), "-loggerLevel=ERROR")
	var output bytes.Buffer
	server.Stdout, server.Stderr = &output, &output
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		_ = server.Wait()
		if t.Failed() {
			t.Logf("VictoriaMetrics: %s", output.String())
		}
	})
	require.Eventually(t, func() bool {
		response, err := http.Get("http://" + address + "/health")
		if err == nil {
			response.Body.Close()
		}
		return err == nil
	}, testTimeout, 20*time.Millisecond, "VictoriaMetrics answers")
	return "http://" + address
}

// send imports the phases of the application that jobs in world have.
func (s *statusPage) send(t *testing.T, cluster string, age time.Duration, wait, write float64) {
	t.Helper()
	var lines strings.Builder
	for name, value := range map[string]float64{
		platform.PhaseResourceWait.Metric(): wait, platform.PhaseWrite.Metric(): write,
		platform.MetricSparkWall: wait + write, platform.MetricPhaseApproximate: 0,
	} {
		fmt.Fprintf(&lines, "%s{cluster=%q,host_name=\"ip-10-0-0-5\",spark_app_id=\"application_1700000000000_0007\"} %v %d\n",
			name, cluster, value, time.Now().Add(-age).UnixMilli())
	}
	response, err := http.Post(s.metrics+"/api/v1/import/prometheus", "text/plain", strings.NewReader(lines.String()))
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusNoContent, response.StatusCode)
}

// The driver's last metrics arrive a moment after the step's end; until then there are
// those of an earlier interval.
func TestSubmitTellsThePhasesAfterTheEnd(t *testing.T) {
	w, page := newWorld(t), newStatusPage(t)
	o := w.options(t, "job.py")
	o.Status, o.PhasesWait = page.page, testTimeout
	o.Status.Settle = 3 * time.Second // two until VictoriaMetrics shows what came last
	o.Progress = &progress{react: map[string]func(){
		"added to cluster": func() { page.send(t, w.cluster, 10*time.Second, 9, 1) },
		"is COMPLETED":     func() { page.send(t, w.cluster, 0, 60, 40) },
	}}
	result, err := submit.Submit(t.Context(), o)
	require.NoError(t, err)
	require.Empty(t, result.Warnings)
	require.Equal(t, []status.ApplicationPhases{{
		ApplicationID: "application_1700000000000_0007", Line: "wait 60 % · compute 0 % · S3 write 40 % · driver 0 %",
		Seconds:  map[platform.Phase]float64{platform.PhaseResourceWait: 60, platform.PhaseWrite: 40},
		Timeline: "https://10.0.0.4:3000/d/t?app=application_1700000000000_0007&c=" + w.cluster,
	}}, result.Phases)
}

func TestSubmitWithoutPhases(t *testing.T) {
	w, page := newWorld(t), newStatusPage(t)
	const hint = "where its time went"
	for name, c := range map[string]struct {
		job      string
		change   func(*submit.Options)
		says     string // "" = nothing of phases
		requests int64  // at most
	}{
		"no plugin":        {"job.py", func(*submit.Options) {}, "", 5},
		"not asked":        {"job.py", func(o *submit.Options) { o.PhasesWait = 0 }, "", 0},
		"not waited":       {"job.py", func(o *submit.Options) { o.Wait = false }, "", 0},
		"never an attempt": {"mute.py", func(*submit.Options) {}, "", 1},
		"no page":          {"job.py", func(o *submit.Options) { o.Status.URL = "" }, "the status page (stack output statusUrl)", 0},
		"no server":        {"job.py", func(o *submit.Options) { o.Status.URL = "https://" + testenv.Address(t) }, "connection refused", 0},
		"wrong password":   {"job.py", func(o *submit.Options) { o.Status.Access.Password = "wrong" }, "401 Unauthorized", 1},
		"another CA":       {"job.py", func(o *submit.Options) { o.Status.Access.CACertificate = nil }, "unknown authority", 0},
	} {
		t.Run(name, func(t *testing.T) {
			o, log := w.options(t, c.job), &progress{}
			o.Status, o.PhasesWait, o.Progress = page.page, 4*time.Second, log
			o.Status.Settle = time.Millisecond
			c.change(&o)
			before := page.requests.Load()
			result, err := submit.Submit(t.Context(), o)
			require.Equal(t, c.job == "mute.py", err != nil)
			require.Empty(t, result.Phases)
			require.Empty(t, result.Warnings)
			require.Equal(t, c.says != "", strings.Contains(log.text.String(), hint), log.text.String())
			require.Contains(t, log.text.String(), c.says)
			require.LessOrEqual(t, page.requests.Load()-before, c.requests)
		})
	}
}
