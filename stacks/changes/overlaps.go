package changes

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/platform"
)

const lastRuns = 3 // of a schedule

// Overlap is a schedule of whose last runs one took longer than the shortest time between two.
type Overlap struct {
	Schedule string        // key
	Took     time.Duration // the longest of the last runs, from its scheduled time to the end of its last step
	Gap      time.Duration // the shortest between two runs
	Running  bool          // it has not ended
}

// String formats the schedule and what helps, on one line.
func (o Overlap) String() string {
	took := "took"
	if o.Running {
		took = "has already taken"
	}
	return fmt.Sprintf("schedule %s: one of its last runs %s %s, longer than the %s between two: steps pile up; "+
		"start it less often, or raise clusters.*.stepConcurrency", o.Schedule, took, o.Took, o.Gap)
}

// FindOverlaps looks at the newest steps of a cluster, as many as EMR lists at once, for runs of its schedules. gaps are the
// shortest times between two runs, by the schedules' keys. Runs that have not ended count with the time until now.
func FindOverlaps(ctx context.Context, api emr.ListStepsAPIClient, id string, gaps map[string]time.Duration, now time.Time) (
	[]Overlap, error,
) {
	listed, err := api.ListSteps(ctx, &emr.ListStepsInput{ClusterId: aws.String(id)})
	if err != nil {
		return nil, fmt.Errorf("list steps of cluster %s: %w", id, err)
	}
	type run struct {
		took    time.Duration
		running bool
	}
	runs := map[string]map[time.Time]run{} // by schedule and scheduled time
	for _, step := range listed.Steps {
		_, key, at, scheduled := platform.ParseScheduledStep(aws.ToString(step.Name))
		end, running, known := endOf(step, now)
		if !scheduled || !known {
			continue
		}
		if runs[key] == nil {
			runs[key] = map[time.Time]run{}
		}
		of := runs[key][at]
		runs[key][at] = run{max(of.took, end.Sub(at).Round(time.Second)), of.running || running}
	}
	var out []Overlap
	for _, key := range slices.Sorted(maps.Keys(gaps)) {
		o := Overlap{Schedule: key, Gap: gaps[key]}
		newest := slices.SortedFunc(maps.Keys(runs[key]), func(a, b time.Time) int { return b.Compare(a) })
		for _, at := range newest[:min(len(newest), lastRuns)] {
			if of := runs[key][at]; of.took > o.Took {
				o.Took, o.Running = of.took, of.running
			}
		}
		if o.Took > o.Gap {
			out = append(out, o)
		}
	}
	return out, nil
}

// endOf returns when a step ended, or now of one that runs. Nobody knows when a step was cancelled before it began.
func endOf(step types.StepSummary, now time.Time) (end time.Time, running, known bool) {
	if step.Status == nil {
		return now, false, false
	}
	if t := step.Status.Timeline; t != nil && t.EndDateTime != nil {
		return *t.EndDateTime, false, true
	}
	switch step.Status.State {
	case types.StepStatePending, types.StepStateRunning:
		return now, true, true
	default:
		return now, false, false
	}
}
