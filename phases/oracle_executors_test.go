package phases_test

import (
	"fmt"

	"github.com/emr-observatory/emr-observatory/eventlog"
)

// What the oracle says of executors.

// constructing tells whether the constructor of the context waits for executors: it
// has not had enough of them at any instant so far.
func (o *oracle) constructing(at int64) bool {
	limit := map[string]int64{
		"": 30_000, "20": 20, "30ms": 30, "1min": 60_000, "35000us": 35,
	}[o.conf.Spark["spark.scheduler.maxRegisteredResourcesWaitingTime"]]
	if !o.started || o.conf.Spark == nil || at < o.driver || at >= o.start+limit {
		return false
	}
	for since := int64(0); since <= at; since = max(since+1, 900) {
		registered := 0.0
		for _, event := range o.events {
			v, added := event.(*eventlog.ExecutorAdded)
			removed, gone := pick(o, func(f *eventlog.ExecutorRemoved) bool { return added && f.ID == v.ID })
			if added && v.Time <= since && (!gone || since < removed.Time) {
				registered++
			}
		}
		if registered >= o.awaited() {
			return false
		}
	}
	return true
}

// awaited is how many executors the constructor wants, not rounded up.
func (o *oracle) awaited() float64 {
	number := func(key string, otherwise float64) (n float64) {
		if _, err := fmt.Sscan(o.conf.Spark[key], &n); err != nil {
			return otherwise
		}
		return n
	}
	ratio := min(1, number("spark.scheduler.minRegisteredResourcesRatio", 0.8))
	if !o.dynamic() {
		return ratio * number("spark.executor.instances", 2)
	}
	target := 0.0
	for _, key := range []string{
		"spark.dynamicAllocation.minExecutors", "spark.dynamicAllocation.initialExecutors", "spark.executor.instances",
	} {
		target = max(target, number(key, 0))
	}
	return ratio * target
}

// runs tells whether a task that has no end runs.
func (o *oracle) runs(v *eventlog.TaskStart, at int64) bool {
	if _, ended := pick(o, func(e *eventlog.TaskEnd) bool { return e.ID == v.ID }); ended {
		return false
	}
	removed, gone := pick(o, func(e *eventlog.ExecutorRemoved) bool { return e.ID == v.Executor })
	return v.Launched <= at && (!gone || at < removed.Time)
}

func (o *oracle) dynamic() bool { return o.conf.Spark["spark.dynamicAllocation.enabled"] == "true" }

// openStages returns the attempts of stages that are open.
func (o *oracle) openStages(at int64) (open []eventlog.Stage) {
	for _, event := range o.events {
		switch e := event.(type) {
		case *eventlog.StageSubmitted:
			_, over := pick(o, func(f *eventlog.StageCompleted) bool { return f.ID == e.ID && f.Attempt == e.Attempt })
			if !over && e.Submitted <= at {
				open = append(open, e.Stage)
			}
		case *eventlog.StageCompleted:
			if e.Submitted <= at && at < e.Completed {
				open = append(open, e.Stage)
			}
		}
	}
	return open
}

func (o *oracle) stageOpen(at int64) bool { return len(o.openStages(at)) > 0 }

// served tells whether an executor could run a task of an open attempt.
func (o *oracle) served(at int64) bool {
	for _, stage := range o.openStages(at) {
		for id := range 3 {
			if name := fmt.Sprint(id); o.lives(name, at) && o.suits(name, stage, at) {
				return true
			}
		}
	}
	return false
}

func (o *oracle) lives(name string, at int64) bool {
	_, here := pick(o, func(e *eventlog.BlockManagerAdded) bool { return e.Executor == name && e.Time <= at })
	if _, sent := pick(o, func(e *eventlog.BlockManagerAdded) bool { return e.Executor == name }); !sent {
		_, here = pick(o, func(e *eventlog.ExecutorAdded) bool { return e.ID == name && e.Time <= at })
	}
	removed, gone := pick(o, func(e *eventlog.ExecutorRemoved) bool { return e.ID == name })
	return here && (!gone || at < removed.Time)
}

// suits tells whether an executor has the stage's profile and is not excluded.
func (o *oracle) suits(name string, stage eventlog.Stage, at int64) bool {
	host, own := "", (*int64)(nil)
	if added, ok := pick(o, func(e *eventlog.ExecutorAdded) bool { return e.ID == name }); ok {
		host, own = added.Host, added.ResourceProfile
	}
	if o.dynamic() && isDefault(own) != isDefault(stage.ResourceProfile) {
		return false
	}
	_, excluded := pick(o, func(e *eventlog.ExecutorExcluded) bool {
		concerns := e.ID == name || e.Host != "" && e.Host == host
		if e.Stage != nil {
			concerns = concerns && *e.Stage == stage.ID && e.Attempt == stage.Attempt
		}
		_, undone := pick(o, func(f *eventlog.ExecutorExcluded) bool {
			return f.Undo && f.ID == e.ID && f.Host == e.Host && (f.Stage != nil) == (e.Stage != nil) && e.Time < f.Time && f.Time <= at
		})
		return concerns && !e.Undo && e.Time <= at && !undone
	})
	return !excluded
}

// isDefault tells the default resource profile from the only other one of randomEvents.
func isDefault(profile *int64) bool { return profile == nil || *profile == 0 }
