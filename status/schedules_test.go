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
	run := func(name string, at time.Time, state types.StepState) Step {
		return Step{Name: platform.ScheduledStep(name, at.Format(time.RFC3339)), State: state}
	}
	monday, sunday := time.Date(2027, 1, 4, 1, 0, 0, 0, time.UTC), time.Date(2027, 1, 3, 1, 0, 0, 0, time.UTC)
	steps := []Step{ // the newest first
		run("report", monday, types.StepStateFailed), run("load", monday, types.StepStateCompleted), {Name: "load (by hand)"},
		run("load", monday, types.StepStateCompleted), run("load", sunday, types.StepStateCompleted), run("other", monday, types.StepStateCompleted),
	}
	source := Source{
		Config: Config{Schedules: []ScheduleConfig{
			{Key: "nightly", Cluster: "lake", Expression: "cron(0 2 * * ? *)", Timezone: "Europe/Berlin", Enabled: true, Steps: []string{"load", "report"}},
			{Key: "often", Expression: "rate(1 hour)", Timezone: "UTC", Enabled: true},
			{Key: "off", Expression: "cron(0 2 * * ? *)", Timezone: "UTC"},
			{Key: "past", Expression: "cron(0 2 * * ? 2020)", Timezone: "UTC", Enabled: true},
		}},
		LostRuns: func() []LostRun {
			return []LostRun{{"nightly", sunday, "late"}, {"nightly", monday, "ended"}, {"gone", monday, "of a schedule that was removed"}}
		},
	}
	got := source.schedules(steps, now)
	require.Len(t, got, 4)
	require.Equal(t, "Tue 2027-01-05 02:00 CET", got[0].NextLine())
	require.Equal(t, &ScheduledRun{Scheduled: monday, State: "FAILED", Delivered: 2}, got[0].Last)
	require.Equal(t, []LostRun{{"nightly", monday, "ended"}, {"nightly", sunday, "late"}}, got[0].Lost)
	require.Equal(t, []string{"rate(1 hour)", "not enabled", "never again"}, []string{got[1].NextLine(), got[2].NextLine(), got[3].NextLine()})
	require.Nil(t, got[1].Last)
	require.Contains(t, got[0].troubles(), "EventBridge delivered the run of schedule nightly at 2027-01-04T01:00:00Z 2 times: its steps ran as often")
	require.Equal(t, []Schedule{}, Source{}.schedules(steps, now), "JSON has a list")
}
