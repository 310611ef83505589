package check_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/dashboards"
	"github.com/emr-observatory/emr-observatory/dashboards/check"
	"github.com/emr-observatory/emr-observatory/dashboards/links"
	"github.com/emr-observatory/emr-observatory/internal/storetest"
	"github.com/emr-observatory/emr-observatory/platform"
)

// history is a VictoriaMetrics that is given a past: of applications, or of the profiler.
type history struct {
	url   string
	until time.Time
	body  bytes.Buffer
}

// exported writes the value of a series at each export from a time before the end of
// the history to another.
func (h *history) exported(series string, value float64, from, to time.Duration) {
	for ago := from; ago >= to; ago -= platform.CollectionInterval {
		fmt.Fprintf(&h.body, "%s %g %d\n", series, value, h.until.Add(-ago).UnixMilli())
	}
}

func labels(app, host, name, trace string) string {
	text := fmt.Sprintf(`{cluster=%q,spark_app_id=%q,host_name=%q,spark_executor_id="driver"`, clusterID, app, host)
	if name != "" {
		text += fmt.Sprintf(`,application_name=%q,trace_id=%q`, name, trace)
	}
	return text + "}"
}

// driver writes what a driver reports of itself.
func (h *history) driver(app, host, name, trace string, wall float64, from, to time.Duration) {
	h.exported("spark_application_info"+labels(app, host, name, trace), 1, from, to)
	h.exported("spark_wall_seconds"+labels(app, host, "", ""), wall, from, to)
	h.exported("spark_phase_state"+labels(app, host, "", ""), 3, from, to)
	for _, phase := range []string{"resource_wait", "phase_compute", "phase_io_write", "phase_submit", "phase_driver", "phase_idle"} {
		h.exported("spark_"+phase+"_seconds"+labels(app, host, "", ""), wall/6, from, to)
	}
}

// shown returns what a panel's query has at some time before the end of the history.
func (h *history) shown(t *testing.T, r check.Report, panel, query string, ago time.Duration) []storetest.Series {
	t.Helper()
	result := resultOf(t, r, panel, query)
	require.Equal(t, check.Data, result.State, "%+v", result)
	return storetest.Ask(t, h.url, result.Expr, h.until.Add(-ago))
}

// check runs the queries of a dashboard: those of the timeline with the newest
// application of a name.
func (h *history) check(t *testing.T, uid string) check.Report {
	t.Helper()
	storetest.Post(t, h.url+"/api/v1/import/prometheus", "text/plain", h.body.Bytes())
	storetest.Get(t, h.url+"/internal/force_flush")
	board := slices.DeleteFunc(suite(t), func(d dashboards.Dashboard) bool { return d.UID != uid })
	require.Len(t, board, 1)
	stores := unreachable()
	stores.Metrics = h.url
	report, err := check.Run(context.Background(), check.Options{
		Dashboards: board, Endpoints: stores, Since: h.until.Add(-10 * time.Minute), Until: h.until,
	})
	require.NoError(t, err)
	return report
}

// The timeline shows an application that has ended, whose driver was restarted on
// another host with another trace, and whose first export held all of its tasks; and
// beside it only the runs of its name.
func TestTimelineOfAnEndedApplication(t *testing.T) {
	h := &history{url: storetest.Metrics(t), until: time.Now().Truncate(time.Second)}
	const earlier, other, restarted = "application_1_0001", "application_1_0002", "application_1_0003"
	h.driver(earlier, "ip-1", "orders", "trace-0", 60, 9*time.Minute, 8*time.Minute)
	h.driver(other, "ip-1", "customers", "trace-9", 60, 9*time.Minute, 7*time.Minute)
	h.driver(restarted, "ip-1", "orders", "trace-1", 300, 7*time.Minute, 5*time.Minute)
	// Less than the first had: its compute time is lost, and counts as submission.
	h.driver(restarted, "ip-2", "orders", "trace-2", 240, 5*time.Minute+30*time.Second, 3*time.Minute)
	for le, count := range map[string]float64{"1": 19, "2": 20, "+Inf": 20} {
		series := fmt.Sprintf(`spark_task_duration_seconds_bucket{cluster=%q,spark_app_id=%q,host_name="ip-2",kind="write",le=%q}`,
			clusterID, restarted, le)
		h.exported(series, count, 4*time.Minute, 3*time.Minute)
	}
	written := fmt.Sprintf(`spark_task_io_bytes_total{cluster=%q,spark_app_id=%q,host_name="ip-2",direction="output"}`, clusterID, restarted)
	h.exported(written, 4000, 4*time.Minute, 3*time.Minute)
	h.exported(written, 4100, 90*time.Second, time.Minute) // nothing arrived in between
	report := h.check(t, links.Timeline)

	listed := resultOf(t, report, check.VariablePanel, "$app")
	require.Equal(t, check.Data, listed.State)
	require.Equal(t, 3, listed.Samples)

	for ago, trace := range map[time.Duration]string{6 * time.Minute: "trace-1", 4 * time.Minute: "trace-2"} {
		lines := h.shown(t, report, "Phase over time", "A", ago)
		require.Len(t, lines, 1)
		require.Equal(t, restarted, lines[0].Metric["spark_app_id"], "the newest is chosen")
		require.Equal(t, trace, lines[0].Metric["trace_id"])
		require.InDelta(t, 3, lines[0].Number, 0)
	}
	require.Len(t, h.shown(t, report, "Phase over time", "A", 5*time.Minute+10*time.Second), 1, "while both drivers report")

	wall := h.shown(t, report, "Application and its caller", "A", 0)
	require.Len(t, wall, 1)
	require.Equal(t, "trace-2", wall[0].Metric["trace_id"])
	require.InDelta(t, 240, wall[0].Number, 0)
	require.InDelta(t, 40, h.shown(t, report, "Time by phase", "C", 0)[0].Number, 0)
	require.InDelta(t, 1.0/6, h.shown(t, report, "Compute efficiency", "A", 0)[0].Number, 1e-9)
	require.InDelta(t, 102.5, h.shown(t, report, "S3 write throughput", "A", 0)[0].Number, 1e-9)
	for ago, rate := range map[time.Duration]float64{3*time.Minute + 50*time.Second: 100, 3 * time.Minute: 0, 80 * time.Second: 2.5} {
		require.InDelta(t, rate, h.shown(t, report, "Input and output", "A", ago)[0].Number, 1e-9, "bytes per second, %s ago", ago)
	}
	require.InDelta(t, 1, h.shown(t, report, "Task p95, write", "A", 0)[0].Number, 1e-9, "of 20 tasks, 19 took up to a second")

	rows := map[string]float64{}
	for _, row := range h.shown(t, report, "Runs of the same name", "B", 0) {
		require.Equal(t, "orders", row.Metric["application_name"])
		rows[row.Metric["spark_app_id"]] = row.Number
	}
	require.Equal(t, map[string]float64{earlier: 60, restarted: 240}, rows)
}
