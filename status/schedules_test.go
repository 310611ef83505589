package status

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

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
	got := source.schedules(steps, now)
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
	require.Equal(t, []Schedule{}, Source{}.schedules(steps, now), "JSON has a list")
}
