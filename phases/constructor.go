package phases

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

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
