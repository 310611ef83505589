package changes_test

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/stacks/changes"
)

// listedSteps is EMR's answer for one cluster.
type listedSteps struct {
	emr.ListStepsAPIClient
	steps []types.StepSummary
}

func (l listedSteps) ListSteps(context.Context, *emr.ListStepsInput, ...func(*emr.Options)) (*emr.ListStepsOutput, error) {
	return &emr.ListStepsOutput{Steps: l.steps}, nil
}

// ran is a step of a schedule that ended some time after the schedule's time; -1: it has not ended.
func ran(schedule string, at time.Time, took time.Duration) types.StepSummary {
	out := types.StepSummary{
		Name:   aws.String(platform.ScheduledStep("load", schedule, at.Format(time.RFC3339))),
		Status: &types.StepStatus{State: types.StepStateRunning, Timeline: &types.StepTimeline{}},
	}
	if took >= 0 {
		out.Status.State, out.Status.Timeline.EndDateTime = types.StepStateCompleted, aws.Time(at.Add(took))
	}
	return out
}

func overlap(schedule string, took, gap time.Duration) changes.Overlap {
	return changes.Overlap{Schedule: schedule, Took: took, Gap: gap, Running: schedule == "rate"}
}

func TestRunsThatOverlap(t *testing.T) {
	now := time.Date(2027, 1, 4, 12, 0, 0, 0, time.UTC)
	gaps := map[string]time.Duration{"hourly": time.Hour, "rate": 30 * time.Minute}
	for name, c := range map[string]struct {
		steps []types.StepSummary
		want  []changes.Overlap
	}{
		"none": {},
		"in time": {steps: []types.StepSummary{
			ran("hourly", now.Add(-2*time.Hour), time.Hour), ran("rate", now.Add(-time.Hour), time.Minute),
		}},
		"too long": {
			[]types.StepSummary{ran("hourly", now.Add(-2*time.Hour), 61*time.Minute)},
			[]changes.Overlap{overlap("hourly", 61*time.Minute, time.Hour)},
		},
		"it still runs": {
			[]types.StepSummary{ran("rate", now.Add(-40*time.Minute), -1)}, []changes.Overlap{overlap("rate", 40*time.Minute, 30*time.Minute)},
		},
		"cancelled before it began": {steps: []types.StepSummary{{
			Name:   aws.String(platform.ScheduledStep("load", "hourly", now.Add(-3*time.Hour).Format(time.RFC3339))),
			Status: &types.StepStatus{State: types.StepStateCancelled},
		}}},
		"long ago": {steps: []types.StepSummary{
			ran("hourly", now.Add(-9*time.Hour), 2*time.Hour), ran("hourly", now.Add(-3*time.Hour), time.Minute),
			ran("hourly", now.Add(-2*time.Hour), time.Minute), ran("hourly", now.Add(-time.Hour), time.Minute),
		}},
		"of other schedules": {steps: []types.StepSummary{
			ran("once", now.Add(-3*time.Hour), 2*time.Hour), ran("off", now.Add(-3*time.Hour), 2*time.Hour),
			ran("gone", now.Add(-3*time.Hour), 2*time.Hour),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := changes.FindOverlaps(t.Context(), listedSteps{steps: c.steps}, "j-1", gaps, now)
			require.NoError(t, err)
			require.Equal(t, c.want, found)
		})
	}
	const remedy = ": steps pile up; start it less often, or raise clusters.*.stepConcurrency"
	require.Equal(t, "schedule hourly: one of its last runs took 1h1m0s, longer than the 1h0m0s between two"+remedy,
		overlap("hourly", 61*time.Minute, time.Hour).String())
	require.Equal(t, "schedule rate: one of its last runs has already taken 40m0s, longer than the 30m0s between two"+remedy,
		overlap("rate", 40*time.Minute, 30*time.Minute).String())
}
