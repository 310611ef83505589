package stacks

import (
	"fmt"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/schema"
)

const (
	shownRuns   = 3  // of each schedule
	lookedRuns  = 20 // of which the shortest time between two is taken
	shownLayout = "Mon 2006-01-02 15:04 MST"
	aYear       = 365 * 24 * time.Hour
)

// schedulesText says when each schedule starts next, and what of it may surprise: local times that a
// change of the clock skips or shows twice within a year, and a cluster that ends between two runs.
// It returns "" without schedules.
func schedulesText(cfg schema.Config, now time.Time) string {
	var out strings.Builder
	for _, key := range cfg.ScheduleKeys() {
		s := cfg.Schedules[key]
		times, err := s.Times(now)
		if err != nil {
			continue // of no valid configuration
		}
		var runs []string
		for next, found := times.Next(now); found && len(runs) < shownRuns; next, found = times.Next(next) {
			runs = append(runs, next.In(times.Zone).Format(shownLayout))
		}
		switch {
		case !s.Enabled:
			runs = []string{"not enabled"}
		case len(runs) == 0:
			runs = []string{"never again"}
		}
		fmt.Fprintf(&out, "schedule %s starts %s\n", key, strings.Join(runs, ", "))
		for _, change := range times.ClockChanges(now, now.Add(aYear)) {
			what := "shows twice; it starts at the first"
			if change.Skipped {
				what = "skips; nothing starts then"
			}
			fmt.Fprintf(&out, "  warning: schedules.%s.timezone: %s has %s, which the clock %s\n", key, s.Timezone, change.Local, what)
		}
		idle := time.Duration(cfg.Clusters[s.Cluster].IdleTimeoutMinutes) * time.Minute
		if interval := times.Interval(now, lookedRuns); idle > 0 && (interval == 0 || interval > idle) {
			fmt.Fprintf(&out, "  warning: schedules.%s.cluster: %s ends after %d minutes without work, before the next run, which is then lost: "+
				"set clusters.%s.idleTimeoutMinutes to 0\n", key, s.Cluster, cfg.Clusters[s.Cluster].IdleTimeoutMinutes, s.Cluster)
		}
	}
	return strings.TrimSuffix(out.String(), "\n")
}
