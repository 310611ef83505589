package status

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"github.com/emr-observatory/emr-observatory/localcloud/scheduler"
	"github.com/emr-observatory/emr-observatory/platform"
)

func TestSchedulesWithTheirRuns(t *testing.T) {
	now := time.Date(2027, 1, 4, 12, 0, 0, 0, time.UTC) // a Monday
	run := func(name, key string, at time.Time, state types.StepState) Step {
		return Step{Name: platform.ScheduledStep(name, key, at.Format(time.RFC3339)), State: state}
	}
	monday, sunday := time.Date(2027, 1, 4, 1, 0, 0, 0, time.UTC), time.Date(2027, 1, 3, 1, 0, 0, 0, time.UTC)
	steps := []Step{ // the newest first
		run("report", "nightly", monday, types.StepStateCompleted), run("load", "nightly", monday, types.StepStateFailed),
		{Name: "load (by hand)"}, run("load", "nightly", monday, types.StepStateRunning),
		run("load", "nightly", sunday, types.StepStateCompleted),
		run("load", "other", monday, types.StepStateCompleted), run("tick", "often", sunday, types.StepStatePending),
	}
	source := Source{
		Config: Config{Schedules: []ScheduleConfig{
			{Key: "nightly", Cluster: "lake", Expression: "cron(0 2 * * ? *)", Timezone: "Europe/Berlin", Enabled: true},
			{Key: "often", Expression: "rate(1 hour)", Timezone: "UTC", Enabled: true},
			{Key: "off", Expression: "cron(0 2 * * ? *)", Timezone: "UTC"},
			{Key: "ended", Expression: "rate(1 hour)", Timezone: "UTC", Enabled: true, End: "2027-01-04T11:00:00Z"},
			{Key: "past", Expression: "cron(0 2 * * ? 2020)", Timezone: "UTC", Enabled: true},
		}},
		LostRuns: func() []LostRun {
			return []LostRun{
				{"nightly", sunday, "late", now}, {"nightly", monday, "ended", sunday}, {"gone", monday, "of a schedule that was removed", now},
			}
		},
	}
	got := source.schedules(steps, true, now)
	require.Len(t, got, 5)
	require.Equal(t, "Tue 2027-01-05 02:00 CET", got[0].nextLine())
	require.Equal(t, &ScheduledRun{Scheduled: monday, State: "FAILED", Delivered: 2}, got[0].Last)
	require.Equal(t, []LostRun{{"nightly", monday, "ended", sunday}, {"nightly", sunday, "late", now}}, got[0].Lost)
	var lines []string
	for _, s := range got[1:] {
		lines = append(lines, s.nextLine())
	}
	require.Equal(t, []string{"rate(1 hour)", "not enabled", "does not start again", "does not start again"}, lines)
	require.Equal(t, &ScheduledRun{Scheduled: sunday, State: "PENDING", Delivered: 1}, got[1].Last)
	require.Equal(t, []string{
		"schedule nightly did not start at 2027-01-03T01:00:00Z: late", // told today, the other one before yesterday
		"EventBridge delivered the run of schedule nightly at 2027-01-04T01:00:00Z 2 times: its steps ran as often",
	}, got[0].troubles(now))
	require.Equal(t, []Schedule{}, Source{}.schedules(steps, true, now), "JSON has a list")
}

// For 48 hours over a change of the clock, the page names each run before the local cloud's scheduler makes it, and shows
// it afterwards.
func TestThePageAgreesWithTheScheduler(t *testing.T) {
	const slice = 30 * time.Minute
	clock := clocktest.NewFakeClock(time.Date(2027, 3, 13, 5, 0, 0, 0, time.UTC))
	source := Source{Config: Config{Schedules: []ScheduleConfig{
		{Key: "nightly", Expression: "cron(0 2 * * ? *)", Timezone: "America/New_York", Enabled: true}, // 02:00 is skipped on the 14th
		{Key: "reports", Expression: "cron(0 6,18 * * ? *)", Timezone: "America/New_York", Enabled: true},
		{Key: "often", Expression: "rate(6 hours)", Timezone: "UTC", Enabled: true},
	}}}
	var steps []Step // the newest first
	cloud := &scheduler.Service{
		Path: filepath.Join(t.TempDir(), "schedules.json"), Clock: clock, Log: slog.New(slog.DiscardHandler),
		Call: func(_ context.Context, _ scheduler.Schedule, input []byte) error {
			steps = slices.Insert(steps, 0, Step{Name: string(input), State: types.StepStateCompleted})
			return nil
		},
	}
	require.NoError(t, cloud.Open())
	for _, c := range source.Config.Schedules {
		require.NoError(t, cloud.Put(scheduler.Schedule{
			ID: c.Key, ARN: c.Key, Expression: c.Expression, Zone: c.Timezone, Enabled: true, MaxAge: time.Hour,
			Input: platform.ScheduledStep("load", c.Key, platform.ScheduledTime),
		}))
	}
	runs := map[string]int{}
	for range 48 * time.Hour / slice {
		before, known := source.schedules(steps, true, clock.Now()), len(steps)
		clock.Step(slice)
		cloud.Run(t.Context())
		after := source.schedules(steps, true, clock.Now())
		for i, c := range source.Config.Schedules {
			made := 0
			for _, step := range steps[:len(steps)-known] {
				if _, key, at, _ := platform.ParseScheduledStep(step.Name); key == c.Key {
					made++
					require.Equal(t, &ScheduledRun{Scheduled: at, State: "COMPLETED", Delivered: 1}, after[i].Last)
				}
			}
			runs[c.Key] += made
			if next := before[i].Next; next != nil { // a rate has none
				require.Equal(t, !next.After(clock.Now()), made == 1, "%s at %s", c.Key, clock.Now())
				require.True(t, made == 0 || after[i].Last.Scheduled.Equal(*next), c.Key)
			}
		}
	}
	require.Equal(t, map[string]int{"nightly": 1, "reports": 4, "often": 9}, runs)
}

// A run of which there is neither a step nor a message is told, unless the control node cannot know.
func TestRunsWithoutATrace(t *testing.T) {
	now := time.Date(2027, 1, 4, 12, 0, 0, 0, time.UTC)
	due := time.Date(2027, 1, 4, 2, 0, 0, 0, time.UTC)
	daily := ScheduleConfig{Key: "daily", Expression: "cron(0 2 * * ? *)", Timezone: "UTC", Enabled: true, MaxAgeMinutes: 60}
	with := func(change func(*ScheduleConfig)) ScheduleConfig {
		c := daily
		change(&c)
		return c
	}
	ran := func(at time.Time) Step {
		return Step{Cluster: "j-1", Name: platform.ScheduledStep("load", "daily", at.Format(time.RFC3339)), Created: at}
	}
	many := slices.Repeat([]Step{{Cluster: "j-1", Created: now.Add(-time.Hour)}}, listedSteps)
	for name, c := range map[string]struct {
		of      ScheduleConfig
		steps   []Step
		lost    []LostRun
		partial bool
		since   time.Time
		now     time.Time
		missed  bool
	}{
		"no trace":            {of: daily, missed: true},
		"yesterday's step":    {of: daily, steps: []Step{ran(due.AddDate(0, 0, -1))}, missed: true},
		"its step":            {of: daily, steps: []Step{ran(due)}},
		"its message":         {of: daily, lost: []LostRun{{Schedule: "daily", Scheduled: due}}},
		"it may still come":   {of: daily, now: due.Add(64 * time.Minute)},
		"it may not any more": {of: daily, now: due.Add(66 * time.Minute), missed: true},
		"steps are not read":  {of: daily, partial: true},
		"newer steps hide it": {of: daily, steps: many},
		"it is newer":         {of: daily, since: due.Add(time.Minute)},
		"a rate":              {of: with(func(c *ScheduleConfig) { c.Expression = "rate(1 hour)" })},
		"off":                 {of: with(func(c *ScheduleConfig) { c.Enabled = false })},
		"it has not begun":    {of: with(func(c *ScheduleConfig) { c.Start = "2027-02-01T00:00:00Z" })},
		"it has ended":        {of: with(func(c *ScheduleConfig) { c.End = "2026-11-01T00:00:00Z" })},
		"each minute":         {of: with(func(c *ScheduleConfig) { c.Expression = "cron(* * * * ? *)" }), missed: true},
		"days ago, and EMR lists its cluster no more": {of: with(func(c *ScheduleConfig) { c.Expression = "cron(0 2 1 * ? *)" })},
	} {
		t.Run(name, func(t *testing.T) {
			source := Source{
				Config: Config{Schedules: []ScheduleConfig{c.of}}, LostRuns: func() []LostRun { return c.lost },
				ScheduledSince: func(string) time.Time { return c.since },
			}
			at := now
			if !c.now.IsZero() {
				at = c.now
			}
			got := source.schedules(c.steps, !c.partial, at)[0]
			require.Equal(t, c.missed, got.Missed != nil, "%v", got.Missed)
			require.Equal(t, c.missed, len(got.troubles(at)) == 1)
		})
	}
}
