package check_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/dashboards/links"
	"github.com/emr-observatory/emr-observatory/internal/storetest"
	"github.com/emr-observatory/emr-observatory/profiler/serve"
)

// The overview shows the time since the profiler's last successful run even if the profiler
// has restarted since, or is down; and nothing before the first one.
func TestOverviewOfOverdueRuns(t *testing.T) {
	h := &history{url: storetest.Metrics(t), until: time.Now().Truncate(time.Second)}
	// Down for longer than the 5 minutes for which VictoriaMetrics repeats a last value.
	const success, down = 9 * time.Minute, 6 * time.Minute
	h.exported(serve.MetricInterval, (2 * time.Minute).Seconds(), 10*time.Minute, down)
	h.exported(serve.MetricSuccess, 0, 10*time.Minute, success+time.Second)
	h.exported(serve.MetricSuccess, float64(h.until.Add(-success).Unix()), success, down+time.Minute)
	h.exported(serve.MetricSuccess, 0, down+30*time.Second, down)
	report := h.check(t, links.Overview)
	for ago, want := range map[time.Duration]struct{ seconds, intervals float64 }{
		8 * time.Minute: {60, 0}, down: {180, 1}, 4 * time.Minute: {300, 2}, 0: {540, 4},
	} {
		for panel, value := range map[string]float64{"Time since last success": want.seconds, "Runs overdue": want.intervals} {
			shown := h.shown(t, report, panel, "A", ago)
			require.Len(t, shown, 1, "%s, %s ago", panel, ago)
			require.InDelta(t, value, shown[0].Number, 0, "%s, %s ago", panel, ago)
		}
	}
	require.Empty(t, h.shown(t, report, "Time since last success", "A", success+30*time.Second))
	require.Empty(t, h.shown(t, report, "Runs overdue", "A", success+30*time.Second))
}
