package stacks

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/schedule"
	"github.com/emr-observatory/emr-observatory/schema"
)

const (
	shownRuns   = 3 // of each schedule
	shownLayout = "Mon 2006-01-02 15:04 MST"
	lookAhead   = 14 * 24 * time.Hour // for times without a run
	aYear       = 365 * 24 * time.Hour
)

// schedulesText says when each schedule starts next, and what of it may surprise: local times that a
// change of the clock skips or shows twice within a year, and clusters that end between two runs. It
// returns "" without schedules.
func schedulesText(cfg schema.Config, now time.Time) string {
	var out strings.Builder
	of := map[string][]schedule.Schedule{} // by cluster
	for _, key := range cfg.ScheduleKeys() {
		s := cfg.Schedules[key]
		times, err := s.Times(now)
		if err != nil {
			continue // of no valid configuration
		}
		starts := nextRuns(s, times, now)
		fmt.Fprintf(&out, "schedule %s %s\n", key, starts)
		if !s.Enabled {
			continue
		}
		if cfg.Clusters[s.Cluster].OfSchedules() {
			fmt.Fprintf(&out, "  each run starts its own cluster, as clusters.%s says\n", s.Cluster)
		}
		if _, found := times.Next(now); found {
			of[s.Cluster] = append(of[s.Cluster], times)
		}
		for _, change := range times.ClockChanges(now, now.Add(aYear)) {
			what := "shows twice; it starts at the first"
			if change.Skipped {
				what = "skips; nothing starts then"
			}
			fmt.Fprintf(&out, "  warning: schedules.%s.timezone: %s has %s, which the clock %s\n", key, s.Timezone, change.Local, what)
		}
	}
	for _, cluster := range slices.Sorted(maps.Keys(of)) {
		minutes := cfg.Clusters[cluster].IdleTimeoutMinutes
		gap := schedule.LongestGap(of[cluster], now, now.Add(lookAhead))
		if minutes > 0 && gap > time.Duration(minutes)*time.Minute {
			fmt.Fprintf(&out, "  warning: clusters.%s.idleTimeoutMinutes: %d ends the cluster in the %s that pass without a scheduled run, "+
				"unless other work keeps it; later runs are then lost: set it to 0\n", cluster, minutes, gap.Round(time.Minute))
		}
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// nextRuns says when a schedule starts.
func nextRuns(s schema.Schedule, times schedule.Schedule, now time.Time) string {
	if !s.Enabled {
		return "is not enabled"
	}
	var runs []string
	if times.Expression.Rate() && (times.End.IsZero() || times.End.After(now)) {
		runs = append(runs, "at once, if this update creates or changes it")
	}
	for next, found := times.Next(now); found && len(runs) < shownRuns; next, found = times.Next(next) {
		runs = append(runs, next.In(times.Zone).Format(shownLayout))
	}
	if len(runs) == 0 {
		return "does not start again"
	}
	return "starts " + strings.Join(runs, ", ")
}
