package rules

import (
	"fmt"
	"strings"
)

// Query judges applications while they run, by their metrics: PromQL with a series for each
// application, by the labels cluster and spark_app_id. In renders it.
//
// The metrics count from the start of the application. An expression therefore is about all
// that it did so far; its window is only how old a last value may be.
type Query struct {
	// Value is the signal that Running judges; it has no series below a floor of the rule. It is
	// empty where the plugin judges each stage by itself, and counts what is beyond the limit.
	Value string
	// Also selects what is found although Value is within the limit; empty if nothing is.
	Also string
	// Impact is the upper bound of the wall-clock time that it cost so far, in seconds; empty if
	// the rule's basis claims none.
	Impact string
	// CoreHours is what it cost so far, of rules with the basis core.
	CoreHours string
}

// What rendering replaces in expressions.
const (
	scopeMarker  = "$scope"
	windowMarker = "$window"
	sumMarker    = "$sum" // the function that reads what adds up from an application's start
)

// The functions for sumMarker: all since the start, or what the window adds to it.
const (
	sinceStart   = "last_over_time"
	withinWindow = "increase_pure" // of VictoriaMetrics; it counts what a new series begins with
)

// LiveWindow is how old a last value may be where what runs now is asked: metrics arrive every
// ten seconds, and an outage of a minute or two is no end.
const LiveWindow = "5m"

// In narrows the expressions by label matchers, such as `cluster="j-1"`, and sets the window,
// such as LiveWindow. Without matchers they are about all applications.
func (q Query) In(matchers, window string) Query {
	return Query{
		Value: render(q.Value, matchers, window), Also: render(q.Also, matchers, window), Impact: render(q.Impact, matchers, window),
		CoreHours: render(q.CoreHours, matchers, window),
	}
}

func render(expression, matchers, window string) string {
	return renderSums(expression, matchers, window, sinceStart)
}

func renderSums(expression, matchers, window, sum string) string {
	if matchers != "" {
		matchers = "," + matchers
	}
	return strings.NewReplacer(","+scopeMarker, matchers, windowMarker, window, sumMarker, sum).Replace(expression)
}

// Found selects the applications in which the rule finds something: what it cost so far, in
// seconds or, with the basis core, in core-hours; the value where the cost is unknown. It is
// empty for a rule without a query. What cost less than a warning by Severities is not found.
func (r Rule) Found(matchers, window string) string { return r.found(matchers, window, sinceStart) }

// FoundWithin is Found of what applications did within the window alone, such as 1d. It is for
// applications that run for longer than that, such as those of Spark Structured Streaming.
func (r Rule) FoundWithin(matchers, window string) string {
	return r.found(matchers, window, withinWindow)
}

func (r Rule) found(matchers, window, sum string) string {
	if r.Query == (Query{}) {
		return ""
	}
	operator, laws := ">=", Severities()
	limit, least := r.Running().Limit, laws[len(laws)-1]
	if limit.LessIsWorse() {
		operator = "<="
	}
	beyond := fmt.Sprintf("(%s) %s %v", r.Query.Value, operator, limit.Warn)
	if r.Query.Also != "" {
		beyond = fmt.Sprintf("(%s) or (%s)", beyond, r.Query.Also)
	}
	found := beyond
	switch {
	case r.Query.Impact != "":
		found = fmt.Sprintf("(%s) >= %v and %s (((%s) / %s) >= %v)",
			r.Query.Impact, least.Milliseconds/1e3, onKey, r.Query.Impact, wall, least.Share)
		if r.Query.Value != "" {
			found += " and " + onKey + " (" + beyond + ")"
		}
	case r.Query.CoreHours != "":
		found = fmt.Sprintf("(%s) >= %v and %s (%s)", r.Query.CoreHours, least.CoreHours, onKey, beyond)
	}
	return renderSums(found, matchers, window, sum)
}

// Wall is the applications' wall-clock time, in seconds.
func Wall(matchers, window string) string { return render(wall, matchers, window) }

// key is what expressions are grouped by, and onKey how they are joined.
const (
	key   = "by (cluster, spark_app_id)"
	onKey = "on (cluster, spark_app_id)"
)

// latest selects the last values of a metric. Every selector has a matcher, so that one of a
// scope can follow.
func latest(metric string, matchers ...string) string {
	return selected("last_over_time", metric, matchers)
}

// summed selects the values of a metric that adds up.
func summed(metric string, matchers ...string) string { return selected(sumMarker, metric, matchers) }

func selected(function, metric string, matchers []string) string {
	matchers = append([]string{`spark_app_id!=""`}, matchers...)
	return fmt.Sprintf("%s(%s{%s,%s}[%s])", function, metric, strings.Join(matchers, ","), scopeMarker, windowMarker)
}

// counted adds up a counter of applications.
func counted(metric string, matchers ...string) string {
	return "sum " + key + " (" + summed(metric, matchers...) + ")"
}

// gauged takes the largest of an application's times: a driver that YARN restarted has two.
func gauged(metric string) string { return "max " + key + " (" + summed(metric) + ")" }

// wall is the wall clock, and working the phases in which tasks ran; in seconds.
var (
	wall    = gauged("spark_wall_seconds")
	working = "(" + gauged("spark_phase_compute_seconds") + " + " + gauged("spark_phase_io_write_seconds") + ")"
)

// query returns the rule's query; empty if it has none.
func (r Rule) query() Query {
	switch r.ID {
	case Skew:
		return skewed()
	case Spill, GC, FetchWait, TinyTasks, LowParallelism, StageRetries:
		return Query{Impact: counted("spark_stage_cost_seconds_total", fmt.Sprintf(`rule="%s"`, r.ID))}
	case LargeShuffleReads:
		return largestReads()
	case FailedTasks:
		return r.failedShare()
	case ExecutorsLost:
		return removedFor("lost|killed|other")
	case ExecutorMemory:
		return removedFor("memory")
	case IdleCores:
		return idleCores()
	case ResourceWait:
		wait := gauged("spark_resource_wait_seconds")
		large := atLeast(wait, wait+" / "+wall, r.Floor(WaitShare))
		return Query{Value: wait, Also: atLeast(large, wait, r.Floor(ShortWait)/1e3), Impact: wait}
	case SlowWrite:
		wrote := "clamp_min(" + gauged("spark_phase_io_write_seconds") + " - " + counted("spark_stage_write_compute_seconds_total") + ", 0)"
		return r.ofTime(wrote)
	case DriverBound:
		return r.ofTime(gauged("spark_phase_driver_seconds"))
	case RenameCommit:
		return Query{Value: counted("hadoop_s3a_object_copy_requests_total") + " > 0"}
	case S3Throttled:
		return Query{Value: counted("hadoop_s3a_store_io_throttled_total") + " / " + counted("hadoop_s3a_store_io_request_total")}
	}
	return Query{}
}

// atLeast keeps the applications of which another expression reaches a floor.
func atLeast(expression, other string, floor float64) string {
	return fmt.Sprintf("(%s) and %s ((%s) >= %v)", expression, onKey, other, floor)
}

// ofTime judges a time as a share of the wall clock.
func (r Rule) ofTime(seconds string) Query {
	return Query{Value: atLeast(seconds+" / "+wall, seconds, r.Floor(MinPhase)/1e3), Impact: seconds}
}

// skewed judges the worst stage; the impact is of all skewed stages.
func skewed() Query {
	tail := counted("spark_stage_tail_seconds_total")
	ratio := "max " + key + " (" + latest("spark_task_skew_ratio", `measure="time"`, `of="median"`) + ")"
	return Query{Value: ratio + " and " + onKey + " (" + tail + " > 0)", Impact: tail}
}

// largestReads is the 95th percentile of what tasks read of shuffles. Histograms have buckets of
// Prometheus (le), whichever store keeps them.
func largestReads() Query {
	buckets := "sum by (cluster, spark_app_id, le) (" + summed("spark_task_shuffle_read_bytes_bucket") + ")"
	return Query{Value: "histogram_quantile(0.95, " + buckets + ")"}
}

// idleCores judges the time in which executors' cores had no task.
func idleCores() Query {
	idle := counted("spark_executor_core_time_seconds_total", `state="idle"`)
	return Query{
		Value:     idle + " / " + counted("spark_executor_core_time_seconds_total", `state=~"busy|idle"`),
		CoreHours: idle + " / 3600",
	}
}

// failedShare judges failed tasks. The impact is their share of the time in which tasks ran.
func (r Rule) failedShare() Query {
	failed := counted("spark_task_count_total", `outcome="failed"`)
	share := failed + " / " + counted("spark_task_count_total", `outcome=~"success|failed"`)
	return Query{Value: atLeast(share, failed, r.Floor(MinFailed)), Impact: share + " * " + working}
}

// removedFor counts executors that were removed for reasons.
func removedFor(reasons string) Query {
	return Query{Value: counted("spark_executor_removed_total", fmt.Sprintf(`reason=~"%s"`, reasons)) + " > 0"}
}
