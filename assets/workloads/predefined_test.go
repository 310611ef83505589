package workloadconfig_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/dashboards"
	"github.com/emr-observatory/emr-observatory/platform"
)

// The real VictoriaMetrics serves the dashboards to its own UI and accepts every
// query in them.
func TestVictoriaMetricsServesItsDashboards(t *testing.T) {
	s := settings()
	var err error
	s.Dashboards, err = dashboards.Predefined()
	require.NoError(t, err)
	c, err := workloadconfig.VictoriaMetrics(workloadRecord(t, platform.WorkloadVictoriaMetrics), s)
	require.NoError(t, err)
	server := start(t, platform.WorkloadVictoriaMetrics, c, t.TempDir())
	server.ready(t, workloadRecord(t, platform.WorkloadVictoriaMetrics).ReadyURL())

	base := platform.Workloads().URLs()[platform.WorkloadVictoriaMetrics]
	status, body := request("GET", base+"/vmui/custom-dashboards", "", "")
	require.Equal(t, http.StatusOK, status, body)
	var served struct {
		DashboardsSettings []struct {
			Filename string
			Rows     []struct {
				Panels []struct {
					Title string
					Expr  []string
				}
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(body), &served))
	require.Len(t, served.DashboardsSettings, len(s.Dashboards))
	queries := 0
	for _, d := range served.DashboardsSettings {
		require.Contains(t, s.Dashboards, d.Filename)
		for _, row := range d.Rows {
			for _, p := range row.Panels {
				for _, expr := range p.Expr {
					status, body := request("GET", base+"/api/v1/query_range?step=10s&start="+
						url.QueryEscape(time.Now().Add(-time.Minute).Format(time.RFC3339))+"&query="+url.QueryEscape(expr), "", "")
					require.Equal(t, http.StatusOK, status, "%s: %s", p.Title, body)
					queries++
				}
			}
		}
	}
	require.Greater(t, queries, 50)
}
