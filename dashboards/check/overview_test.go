package check_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/dashboards/links"
	"github.com/emr-observatory/emr-observatory/internal/storetest"
	"github.com/emr-observatory/emr-observatory/profiler/serve"
)

// The overview tells when a run of the profiler succeeded last, though the profiler has
// started again since and knows of none; and nothing before the first.
func TestOverviewOfOverdueRuns(t *testing.T) {
	h := &history{url: storetest.Metrics(t), until: time.Now().Truncate(time.Second)}
	const success = 5 * time.Minute
	h.exported(serve.MetricInterval, (2 * time.Minute).Seconds(), 9*time.Minute, 0)
	h.exported(serve.MetricSuccess, 0, 9*time.Minute, success+time.Second)
	h.exported(serve.MetricSuccess, float64(h.until.Add(-success).Unix()), success, 2*time.Minute)
	h.exported(serve.MetricSuccess, 0, time.Minute, 0)
	report := h.check(t, links.Overview)
	for ago, want := range map[time.Duration]struct{ seconds, intervals float64 }{
		4 * time.Minute: {60, 0}, 2 * time.Minute: {180, 1}, 0: {300, 2},
	} {
		require.InDelta(t, want.seconds, h.shown(t, report, "Time since a run", "A", ago)[0].number(t), 0, "%s ago", ago)
		require.InDelta(t, want.intervals, h.shown(t, report, "Runs overdue", "A", ago)[0].number(t), 0, "%s ago", ago)
	}
	require.Empty(t, h.shown(t, report, "Time since a run", "A", 6*time.Minute))
	require.Empty(t, h.shown(t, report, "Runs overdue", "A", 6*time.Minute))
}
