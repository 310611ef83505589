package status

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schedule"
)

// ScheduleConfig is a schedule of the stack.
type ScheduleConfig struct {
	Key        string `json:"key"`
	Cluster    string `json:"cluster"` // key of the stack's cluster
	Expression string `json:"expression"`
	Timezone   string `json:"timezone"`
	Start      string `json:"start,omitempty"` // RFC 3339
	End        string `json:"end,omitempty"`
	Enabled    bool   `json:"enabled"`
	// MaxAgeMinutes is for how long EventBridge repeats a call.
	MaxAgeMinutes int `json:"maxAgeMinutes"`
}

// Schedule is a schedule with its runs. The next run of a rate is unknown: EventBridge counts from the update
// that last changed the schedule.
type Schedule struct {
	Key        string        `json:"key"`
	Cluster    string        `json:"cluster"` // key of the stack's cluster
	Expression string        `json:"expression"`
	Timezone   string        `json:"timezone"`
	Enabled    bool          `json:"enabled"`
	Ended      bool          `json:"ended"`
	Next       *time.Time    `json:"next"`
	Last       *ScheduledRun `json:"last"` // by the 50 newest steps of each cluster
	Lost       []LostRun     `json:"lost"` // what did not start, the newest first
	// Missed is the last time at which a run was due of which there is neither a step nor a message, nil for none: EventBridge
	// did not call, or its role may neither call EMR nor write to the queue.
	Missed *time.Time `json:"missed,omitempty"`
}

// ScheduledRun is a run that added its steps.
type ScheduledRun struct {
	Scheduled time.Time `json:"scheduled"`
	State     string    `json:"state"`     // COMPLETED if all its steps are, else that of one that is not
	Delivered int       `json:"delivered"` // more than once if EventBridge did so
}

// LostRun is a run that did not start.
type LostRun struct {
	Schedule  string    `json:"schedule"` // key
	Scheduled time.Time `json:"scheduled"`
	Reason    string    `json:"reason"` // of the service that refused it
	Told      time.Time `json:"told"`   // when the queue was read
}

// shownLost is how many lost runs of a schedule the status has.
const shownLost = 5

// lostTroubles is how long a lost run is a trouble of the page, from when it was told.
const lostTroubles = 24 * time.Hour

// schedules returns the stack's schedules with their runs among these steps. Whole reports that they are the newest steps of
// every cluster.
func (s Source) schedules(steps []Step, whole bool, now time.Time) []Schedule {
	out := []Schedule{}
	var lost []LostRun
	if s.LostRuns != nil {
		lost = s.LostRuns()
	}
	for _, c := range s.Config.Schedules {
		of := Schedule{
			Key: c.Key, Cluster: c.Cluster, Expression: c.Expression, Timezone: c.Timezone, Enabled: c.Enabled, Next: c.next(now),
			Ended: c.ended(now), Last: c.last(steps), Lost: []LostRun{},
		}
		for _, l := range lost {
			if l.Schedule == c.Key {
				of.Lost = append(of.Lost, l)
			}
		}
		slices.SortFunc(of.Lost, func(a, b LostRun) int { return b.Scheduled.Compare(a.Scheduled) })
		if whole && s.ScheduledSince != nil {
			of.Missed = c.missed(of, steps, s.ScheduledSince(c.Key), now)
		}
		of.Lost = of.Lost[:min(len(of.Lost), shownLost)]
		out = append(out, of)
	}
	return out
}

func (c ScheduleConfig) ended(now time.Time) bool {
	end, err := time.Parse(time.RFC3339, c.End)
	return err == nil && end.Before(now)
}

// times returns when the schedule starts, and whether that is known: not of a rate, and never if it is not enabled.
func (c ScheduleConfig) times() (schedule.Schedule, bool) {
	start, _ := time.Parse(time.RFC3339, c.Start)
	end, _ := time.Parse(time.RFC3339, c.End)
	times, err := schedule.New(c.Expression, c.Timezone, start, end)
	return times, err == nil && c.Enabled && !times.Expression.Rate()
}

// next returns the next start after a time; nil if there is none, or nobody can say.
func (c ScheduleConfig) next(now time.Time) *time.Time {
	times, known := c.times()
	if !known {
		return nil
	}
	next, found := times.Next(now)
	if !found {
		return nil
	}
	return &next
}

// last returns the last run among steps, nil for none.
func (c ScheduleConfig) last(steps []Step) *ScheduledRun {
	var found *ScheduledRun
	delivered := map[string]int{} // by name of the step, of the last run
	for _, step := range steps {
		_, key, at, scheduled := platform.ParseScheduledStep(step.Name)
		if !scheduled || key != c.Key || found != nil && at.Before(found.Scheduled) {
			continue
		}
		if found == nil || at.After(found.Scheduled) {
			found, delivered = &ScheduledRun{Scheduled: at, State: string(types.StepStateCompleted)}, map[string]int{}
		}
		delivered[step.Name]++
		found.Delivered = max(found.Delivered, delivered[step.Name])
		if stepRank(step.State) > stepRank(types.StepState(found.State)) {
			found.State = string(step.State)
		}
	}
	return found
}

// stepRank orders states by how much they say of a run: one failed step outweighs those that still run.
func stepRank(state types.StepState) int {
	switch state {
	case types.StepStateCompleted:
		return 0
	case types.StepStatePending, types.StepStateRunning:
		return 1
	default:
		return 2
	}
}

// nextLine says when the schedule starts next, in its time zone.
func (s Schedule) nextLine() string {
	switch {
	case !s.Enabled:
		return "not enabled"
	case s.Next != nil:
		return s.Next.Format("Mon 2006-01-02 15:04 MST")
	case strings.HasPrefix(s.Expression, "rate(") && !s.Ended:
		return s.Expression
	default:
		return "does not start again"
	}
}

// troubles lists the schedule's runs that were lost, and told in the last day, and a doubled one.
func (s Schedule) troubles(now time.Time) []string {
	var out []string
	for _, l := range s.Lost {
		if now.Sub(l.Told) < lostTroubles {
			out = append(out, fmt.Sprintf("schedule %s did not start at %s: %s", s.Key, l.Scheduled.UTC().Format(time.RFC3339), l.Reason))
		}
	}
	if s.Missed != nil {
		out = append(out, fmt.Sprintf("schedule %s was due at %s, and there is neither a step of that run nor a message that says why: "+
			"look at the schedule in EventBridge Scheduler, and at its role", s.Key, s.Missed.UTC().Format(time.RFC3339)))
	}
	if s.Last != nil && s.Last.Delivered > 1 {
		out = append(out, fmt.Sprintf("EventBridge delivered the run of schedule %s at %s %d times: its steps ran as often",
			s.Key, s.Last.Scheduled.UTC().Format(time.RFC3339), s.Last.Delivered))
	}
	return out
}
