package phases_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/dashboards"
	"github.com/emr-observatory/emr-observatory/dashboards/check"
	"github.com/emr-observatory/emr-observatory/dashboards/contract"
	"github.com/emr-observatory/emr-observatory/dashboards/links"
	"github.com/emr-observatory/emr-observatory/internal/storetest"
	"github.com/emr-observatory/emr-observatory/platform"
)

// panelTolerance is how far a panel may be from the job's own clock.
const panelTolerance = 2 * time.Second

// requirePanels requires that the timeline shows the phases as the job's own clock has
// them: its own queries, which the real store answers from what the driver sent.
func (r *run) requirePanels(t *testing.T, own account) {
	t.Helper()
	store := r.storeMetrics(t)
	suite, err := dashboards.Suite()
	require.NoError(t, err)
	until := time.Now().Truncate(time.Second).Add(time.Second) // not before the last point
	report, err := check.Run(t.Context(), check.Options{
		Dashboards: slices.DeleteFunc(suite, func(d dashboards.Dashboard) bool { return d.UID != links.Timeline }),
		Endpoints:  check.Endpoints{Metrics: store, Logs: store, Traces: store, Profiles: store}, // the others' queries fail
		Since:      r.submitted, Until: until,
	})
	require.NoError(t, err)
	shown := map[string]float64{} // seconds by panel and phase
	for _, result := range report.Results {
		if result.Selection != check.SelectionAll {
			continue
		}
		switch result.Panel {
		case "Time by phase":
			series := instant(t, store, result, until)
			require.Len(t, series, 1, result.Expr)
			for _, phase := range platform.Phases() {
				if strings.Contains(result.Expr, phase.Metric()+"{") {
					shown[result.Panel+" "+string(phase)] = series[0].Number
				}
			}
		case "Share of the wall time":
			for _, s := range instant(t, store, result, until) {
				shown[result.Panel+" "+s.Metric["phase"]] = s.Number * float64(own.end-own.begin) / 1000
			}
		}
	}
	sums := own.phases()
	require.Len(t, shown, 2*len(platform.Phases()))
	for _, phase := range platform.Phases() {
		for _, panel := range []string{"Time by phase ", "Share of the wall time "} {
			seconds, found := shown[panel+string(phase)]
			require.True(t, found, "%s%s: %v", panel, phase, shown)
			require.InDelta(t, float64(sums[phase])/1000, seconds, panelTolerance.Seconds(), "%s%s: %v", panel, phase, shown)
		}
	}
	t.Logf("%s: the panels show %v", r.name, shown)
}

// storeMetrics gives a store of its own what the application's driver sent, at the times
// at which it arrived, and returns its address. The collector's part is another test's.
func (r *run) storeMetrics(t *testing.T) string {
	t.Helper()
	id := r.application(t)
	var body bytes.Buffer
	for _, m := range contract.Metrics() {
		if m.Source != contract.SourceSpark || m.Type == contract.Histogram {
			continue
		}
		for _, p := range r.received.pointsOf(id, m.Emitted) {
			labels := fmt.Sprintf(`cluster="j-PHASES",host_name="ip-10-0-0-1",spark_executor_id=%q,spark_app_id=%q`, platform.DriverID, id)
			for label, value := range p.values {
				labels += fmt.Sprintf(",%s=%q", platform.Label(label).Metric(), value)
			}
			fmt.Fprintf(&body, "%s{%s} %g %d\n", m.Name, labels, p.value, p.at.UnixMilli())
		}
	}
	store := storetest.Metrics(t)
	storetest.Post(t, store+"/api/v1/import/prometheus", "text/plain", body.Bytes())
	storetest.Get(t, store+"/internal/force_flush")
	return store
}

// instant returns the answer to a panel's query at a time.
func instant(t *testing.T, store string, r check.Result, at time.Time) []storetest.Series {
	t.Helper()
	require.Equal(t, check.Data, r.State, "%+v", r)
	return storetest.Ask(t, store, r.Expr, at)
}
