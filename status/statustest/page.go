// Package statustest serves the real status page for tests, over TLS and with a
// password, on a VictoriaMetrics of its own. It has no cluster: tests send the metrics
// that a driver would.
package statustest

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/storetest"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
)

// Page is a status page.
type Page struct {
	URL      string // as the stack output statusUrl
	Access   status.Access
	Requests atomic.Int64 // that it has answered
	Failing  atomic.Int64 // how many of the next requests it answers as if a store did not respond

	metrics string
}

// New serves a page until the test ends. Its applications' timelines are at
// /d/timeline of Grafana, with the application and the cluster.
func New(t testing.TB) *Page {
	t.Helper()
	const password = "correct-horse-battery"
	p := &Page{metrics: storetest.DefaultMetrics(t)}
	client, err := status.NewClient(nil, "")
	require.NoError(t, err)
	handler := status.Handler(status.Source{Client: client, Config: status.Config{
		Control: status.Control{GrafanaURL: "https://10.0.0.4:3000", StatusURL: "https://10.0.0.4:3443"},
		Endpoints: map[platform.Workload]status.Endpoint{
			platform.WorkloadVictoriaMetrics: {URL: p.metrics},
			platform.WorkloadGrafana:         {ReadyURL: p.metrics + "/health"}, // stands for a ready one
		},
		StepLinks: []status.Link{{
			Title: platform.TimelineLink, Service: platform.WorkloadGrafana,
			Path: "/d/timeline?app=${" + platform.LinkApplication + "}&cluster=${" + platform.LinkCluster + "}",
		}},
	}}, password)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.Requests.Add(1)
		if p.Failing.Add(-1) >= 0 {
			http.Error(w, "the store does not respond", http.StatusBadGateway)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	p.URL = server.URL
	p.Access = status.Access{
		Password: password, CACertificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
	}
	return p
}

// Send stores what an application's driver has sent some time ago: seconds by phase,
// final if the age is 0. The driver of a step other than "" names it.
func (p *Page) Send(t testing.TB, cluster, step, application string, age time.Duration, seconds map[platform.Phase]float64) {
	t.Helper()
	var lines strings.Builder
	send := func(metric, label string, value float64) {
		fmt.Fprintf(&lines, "%s{cluster=%q,host_name=\"ip-10-0-0-5\",spark_app_id=%q%s} %v %d\n",
			metric, cluster, application, label, value, time.Now().Add(-age).UnixMilli())
	}
	wall := 0.0
	for phase, value := range seconds {
		send(phase.Metric(), "", value)
		wall += value
	}
	send(platform.MetricSparkWall, "", wall)
	send(platform.MetricPhaseApproximate, "", 0)
	if age == 0 {
		send(platform.MetricApplicationEnded, "", 1)
	}
	if step != "" {
		send(platform.MetricApplicationInfo, fmt.Sprintf(",%s=%q", platform.ApplicationInfoStep, step), 1)
	}
	response, err := http.Post(p.metrics+"/api/v1/import/prometheus", "text/plain", strings.NewReader(lines.String()))
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusNoContent, response.StatusCode)
}
