package phases_test

import (
	"fmt"

	"github.com/emr-observatory/emr-observatory/phases"
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
			v, added := event.(phases.ExecutorAdded)
			removed, gone := pick(o, func(f phases.ExecutorRemoved) bool { return f.ID == v.ID })
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
	if o.conf.Spark["spark.dynamicAllocation.enabled"] == "" {
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

func (o *oracle) executorLives(at int64) bool {
	for id := range 3 {
		name := fmt.Sprint(id)
		_, here := pick(o, func(e phases.BlockManagerAdded) bool { return e.Executor == name && e.Time <= at })
		if _, sent := pick(o, func(e phases.BlockManagerAdded) bool { return e.Executor == name }); !sent {
			_, here = pick(o, func(e phases.ExecutorAdded) bool { return e.ID == name && e.Time <= at })
		}
		removed, gone := pick(o, func(e phases.ExecutorRemoved) bool { return e.ID == name })
		if here && (!gone || at < removed.Time) {
			return true
		}
	}
	return false
}
