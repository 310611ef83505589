package status

import (
	"time"

	"github.com/emr-observatory/emr-observatory/schedule"
)

const (
	// missedAfter is how long after its time a run may be without a step or a message, beyond the time for which EventBridge
	// repeats the call: the queue and the steps are read within a minute.
	missedAfter = 5 * time.Minute
	// listedSteps is how many steps EMR lists of a cluster at once, the newest.
	listedSteps = 50
)

// missed returns the last time since when the schedule was due, if there is no trace of that run.
func (c ScheduleConfig) missed(of Schedule, steps []Step, since, now time.Time) *time.Time {
	times, known := c.times()
	if !known {
		return nil
	}
	due, found := lastDue(times, now.Add(-time.Duration(c.MaxAgeMinutes)*time.Minute-missedAfter))
	forgotten := now.Add(-endedFor) // its cluster may have ended, and is listed no more
	if !found || !due.After(since) || !due.After(forgotten) || of.Last != nil && !of.Last.Scheduled.Before(due) || hidden(steps, due) {
		return nil
	}
	for _, l := range of.Lost {
		if !l.Scheduled.Before(due) {
			return nil
		}
	}
	return &due
}

// lastDue returns the last start up to a time, within a day.
func lastDue(times schedule.Schedule, until time.Time) (time.Time, bool) {
	for _, window := range []time.Duration{time.Hour, endedFor} { // frequent ones are found soon
		last, found := time.Time{}, false
		for next, more := times.Next(until.Add(-window)); more && !next.After(until); next, more = times.Next(next) {
			last, found = next, true
		}
		if found {
			return last, true
		}
	}
	return time.Time{}, false
}

// hidden reports whether newer steps of a cluster may hide one that was added at a time.
func hidden(steps []Step, at time.Time) bool {
	newer := map[string]int{}
	for _, s := range steps {
		if s.Created.After(at) {
			newer[s.Cluster]++
		}
		if newer[s.Cluster] >= listedSteps {
			return true
		}
	}
	return false
}
