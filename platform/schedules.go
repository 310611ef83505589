package platform

import (
	"regexp"
	"time"
)

// ScheduledTime is what EventBridge Scheduler replaces, in the input of a target, by the time that
// the schedule set for the run (User Guide, "Adding context attributes"): 2027-01-31T02:00:00Z.
const ScheduledTime = "<aws.scheduler.scheduled-time>"

// ScheduledStep is the name of a step that a schedule adds at a time, in UTC as EventBridge writes
// it: two of one name are a run that was delivered twice.
func ScheduledStep(name, schedule, at string) string { return name + " (" + schedule + " " + at + ")" }

// MaxScheduledName is the longest name of a step of a schedule, in characters: its key and the time follow it.
func MaxScheduledName(schedule string) int {
	return MaxStepName - len(ScheduledStep("", schedule, time.RFC3339))
}

var scheduledStep = regexp.MustCompile(`^(.*) \(([a-z0-9-]+) (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)\)$`)

// ParseScheduledStep returns the name without what ScheduledStep adds, the schedule's key and its time; the
// name as it is and false for any other step.
func ParseScheduledStep(full string) (name, schedule string, at time.Time, scheduled bool) {
	found := scheduledStep.FindStringSubmatch(full)
	if found == nil {
		return full, "", time.Time{}, false
	}
	at, err := time.Parse(time.RFC3339, found[3])
	if err != nil {
		return full, "", time.Time{}, false
	}
	return found[1], found[2], at, true
}

// The metric of runs of schedules that did not start, and its label: the schedule's key.
const (
	EmittedLostRuns = Name + ".schedule.runs.lost"       // as the control node sends it
	MetricLostRuns  = Name + "_schedule_runs_lost_total" // as VictoriaMetrics stores it
	LabelSchedule   = "schedule"

	// Schedule is the same as an attribute of the span of such a run.
	Schedule Label = "emr.schedule"
)
