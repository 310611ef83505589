package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/report"
)

// minutes are moments of an application: two minutes without an executor, a gap, then work.
func minutes() (all []report.Moment) {
	add := func(minute int, phase platform.Phase, active, idle, pending float64) {
		all = append(all, report.Moment{
			At: began.Add(time.Duration(minute) * time.Minute), Phase: phase,
			Executors: map[string]float64{"active": active, "idle": idle, "pending": pending},
		})
	}
	add(0, platform.PhaseResourceWait, 0, 0, 4)
	add(1, platform.PhaseResourceWait, 0, 0, 4)
	add(4, platform.PhaseCompute, 3, 1, 0)
	add(5, platform.PhaseCompute, 4, 0, 0)
	return all
}

// The pictures have a text for everything in them, which a reader without them has, too.
func TestOverTime(t *testing.T) {
	page := render(t, report.Application{
		ID: "application_1700000000000_0003", Outcome: "Ended", Started: began, Ended: began.Add(6 * time.Minute), Wall: 6 * time.Minute,
		Moments: minutes(), Every: time.Minute,
	}, "")
	for _, want := range []string{
		"<title>wait: from 0 ms on, for 2 min</title>", "<title>compute: from 4 min on, for 2 min</title>",
		"Executors by state over time, at most 4", "<title>4 min: 3 active, 1 idle, 0 pending</title>",
		"active: 7 min of executor time", "idle: 1 min of executor time", "pending: 8 min of executor time", "By the metrics, every 1 min.",
	} {
		require.Contains(t, page, want)
	}
	drawn := strings.Count(page, `class="phase-resource_wait"`) + strings.Count(page, `class="phase-compute"`)
	require.Equal(t, 2, drawn, "equal moments are one")
	require.Equal(t, 2+5, strings.Count(page, "<rect "))
	require.NotContains(t, render(t, report.Application{ID: "a", Outcome: "Ended"}, ""), "over time</h3>")
}
