package phases

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/eventlog"
)

// executor is there from its registration, and can run tasks from its block manager's
// on, which comes seconds later.
type executor struct {
	registered, ready, to int64
	host                  string
	profile               int64 // of its resources
}

// from returns since when an executor can run tasks.
func (x executor) from() int64 {
	if x.ready == never {
		return x.registered // its block manager's event was lost
	}
	return x.ready
}

func (e *Engine) executor(time int64, id string, change func(*executor)) {
	e.see(time)
	if id == driver {
		return
	}
	x, ok := e.executors[id]
	if !ok {
		x = executor{registered: never, ready: never, to: never}
	}
	change(&x)
	e.executors[id] = x
}

// excluded is what gets no tasks: an executor, or all of a host. forStage says that it gets
// none of one attempt only.
type excluded struct {
	executor, host string
	forStage       bool
	attempt        attempt
}

// exclusion has the times at which one began, and at which it was undone.
type exclusion struct{ begun, undone []int64 }

func (e *Engine) exclude(v *eventlog.ExecutorExcluded) {
	if v.Time <= 0 || v.ID == "" && v.Host == "" {
		return
	}
	e.see(v.Time)
	key := excluded{executor: v.ID, host: v.Host}
	if v.Stage != nil {
		key.forStage, key.attempt = true, attempt{*v.Stage, v.Attempt}
	}
	x := of(e.excluded, key, exclusion{})
	if v.Undo {
		x.undone = append(x.undone, v.Time)
	} else {
		x.begun = append(x.begun, v.Time)
	}
}

// addTo adds when it held: each time until the first later undoing.
func (x *exclusion) addTo(p *pile) {
	if x == nil {
		return
	}
	for _, from := range x.begun {
		to := int64(never)
		for _, at := range x.undone {
			if at > from {
				to = min(to, at)
			}
		}
		p.add(from, to)
	}
}

// needs is what an attempt of a stage asks of an executor. own says that executors are
// excluded for this attempt alone.
type needs struct {
	profile int64
	own     bool
	attempt attempt
}

// resourceWait returns when the application waited for YARN, or for an executor that could
// run a task of any open attempt of a stage.
//
// An executor that is decommissioned counts until it is removed: Spark gives it no tasks,
// but no event says so. EMR's Spark has a list of such hosts of its own, which is seen if
// EMR sends Spark's event of an excluded host.
func (w *wall) resourceWait() union {
	if w.local {
		return nil
	}
	own := map[attempt]bool{}
	for x := range w.excluded {
		own[x.attempt] = own[x.attempt] || x.forStage
	}
	open := map[needs]*pile{}
	for key, s := range w.attempts {
		if s.submitted == 0 {
			continue
		}
		n := needs{profile: s.profile}
		if own[key] {
			n.own, n.attempt = true, key
		}
		w.add(of(open, n, nil), s.submitted, cmp.Or(s.completed, never))
	}
	var demand, served pile
	for n, times := range open {
		asked := times.union()
		demand, served = append(demand, asked...), append(served, asked.intersect(w.usable(n))...)
	}
	waits := pile(demand.union().without(served.union()))
	w.constructor(&waits)
	return waits.union()
}

// usable returns when an executor could run such a task: not before the application has
// launched its first. Without dynamic allocation all executors have the default profile,
// and run the tasks of any other.
func (w *wall) usable(n needs) union {
	var usable pile
	for id, x := range w.executors {
		if w.dynamic && x.profile != n.profile {
			continue
		}
		var live, gone pile
		w.add(&live, max(x.from(), w.firstLaunch), x.to)
		w.excluded[excluded{executor: id}].addTo(&gone)
		w.excluded[excluded{host: x.host}].addTo(&gone)
		if n.own {
			w.excluded[excluded{executor: id, forStage: true, attempt: n.attempt}].addTo(&gone)
			w.excluded[excluded{host: x.host, forStage: true, attempt: n.attempt}].addTo(&gone)
		}
		usable = append(usable, live.union().without(gone.union())...)
	}
	return usable.union()
}

// registration is what the constructor of a context waits for before it returns
// (TaskSchedulerImpl.waitBackendReady): executors that have registered.
type registration struct {
	executors int           // so many at once; 0: it does not wait
	limit     time.Duration // after which it returns without them
}

// Spark's defaults: SchedulerBackendUtils, YarnSchedulerBackend (Kubernetes' has the
// same) and spark.scheduler.maxRegisteredResourcesWaitingTime.
const (
	defaultExecutors       = 2
	defaultRegisteredRatio = 0.8
	defaultRegisteredLimit = 30 * time.Second
)

// registrationOf reads what SchedulerBackendUtils.getInitialTargetExecutorNumber and
// CoarseGrainedSchedulerBackend read.
func registrationOf(conf map[string]string) registration {
	number := func(key string) int64 {
		n, _ := strconv.ParseInt(strings.TrimSpace(conf[key]), 10, 64)
		return n
	}
	target := int64(defaultExecutors)
	if _, ok := conf["spark.executor.instances"]; ok {
		target = number("spark.executor.instances")
	}
	if dynamicAllocation(conf) {
		target = max(number("spark.dynamicAllocation.minExecutors"), number("spark.dynamicAllocation.initialExecutors"),
			number("spark.executor.instances"))
	}
	ratio, err := strconv.ParseFloat(strings.TrimSpace(conf["spark.scheduler.minRegisteredResourcesRatio"]), 64)
	if err != nil {
		ratio = 0
		if master := conf["spark.master"]; strings.HasPrefix(master, "yarn") || strings.HasPrefix(master, "k8s") {
			ratio = defaultRegisteredRatio
		}
	}
	limit, ok := sparkTime(conf["spark.scheduler.maxRegisteredResourcesWaitingTime"])
	if !ok {
		limit = defaultRegisteredLimit
	}
	return registration{int(math.Ceil(float64(target) * min(1, ratio))), limit}
}

func dynamicAllocation(conf map[string]string) bool {
	return strings.EqualFold(strings.TrimSpace(conf["spark.dynamicAllocation.enabled"]), "true")
}

// timeString is a time in Spark's configuration (JavaUtils.timeStringAs).
var timeString = regexp.MustCompile(`^(-?\d+)([a-z]*)$`)

// sparkTime reads a time in Spark's configuration; a number without a unit is
// milliseconds.
func sparkTime(text string) (time.Duration, bool) {
	units := map[string]time.Duration{
		"": time.Millisecond, "us": time.Microsecond, "ms": time.Millisecond, "s": time.Second, "m": time.Minute, "min": time.Minute,
		"h": time.Hour, "d": 24 * time.Hour,
	}
	match := timeString.FindStringSubmatch(strings.ToLower(strings.TrimSpace(text)))
	if match == nil || units[match[2]] == 0 {
		return 0, false
	}
	n, err := strconv.ParseInt(match[1], 10, 64)
	return time.Duration(n) * units[match[2]], err == nil
}

// constructor adds when the constructor of the context waited: in client mode for
// YARN's application master, then in either mode for executors. The limit runs from
// the creation of Spark's scheduler backend, which no event reports: a second or two
// after the context's start, from which it is counted here.
func (w *wall) constructor(waits *pile) {
	if !w.started {
		return
	}
	if !w.cluster {
		w.add(waits, w.start, w.driverBlock)
	}
	if w.awaited.executors > 0 {
		w.add(waits, w.driverBlock, min(w.registered(), w.start+w.awaited.limit.Milliseconds()))
	}
}

// registered returns when as many executors as the constructor waits for were there
// at once: Spark counts them at their registration, and no longer once removed.
func (w *wall) registered() int64 {
	var added, removed []int64
	for _, x := range w.executors {
		if x.registered < x.to {
			added, removed = append(added, x.registered), append(removed, x.to)
		}
	}
	slices.Sort(added)
	slices.Sort(removed)
	gone := 0
	for i, at := range added {
		for gone < len(removed) && removed[gone] <= at {
			gone++
		}
		if i+1-gone >= w.awaited.executors {
			return at
		}
	}
	return never
}
