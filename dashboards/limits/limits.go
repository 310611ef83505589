// Package limits is the table of values at which a metric needs attention and at
// which it needs action, each with its source. A busy CPU has no limit: it is what
// a team pays for.
package limits

import "github.com/emr-observatory/emr-observatory/dashboards/panel"

// Limit is a pair of values. Where less is worse, Critical is below Warn.
type Limit struct{ Warn, Critical float64 }

// Steps colours a panel by the limit.
func (l Limit) Steps() []panel.Limit {
	if l.Critical < l.Warn {
		return panel.Below(l.Warn, l.Critical)
	}
	return panel.WarnAt(l.Warn, l.Critical)
}

// Any colours every value from one on, for counts that should be zero.
func Any(color panel.Color) []panel.Limit { return []panel.Limit{{Value: 1, Color: color}} }

// Heap returns the limit of heap usage, 0 to 1 (hadoop-mixin).
func Heap() Limit { return Limit{0.8, 0.9} }

// HostMemory returns the limit of memory usage of a host, 0 to 1 (awesome-prometheus-alerts).
func HostMemory() Limit { return Limit{0.9, 0.95} }

// FileSystem returns the limit of disk usage, 0 to 1: YARN marks a directory bad at
// 90 % (yarn-default.xml, max-disk-utilization-per-disk-percentage).
func FileSystem() Limit { return Limit{0.8, 0.9} }

// HDFSRemaining returns the limit of the free share of HDFS, 0 to 1 (hadoop-mixin).
func HDFSRemaining() Limit { return Limit{0.2, 0.1} }

// IOWait returns the limit of the share of CPU time in iowait, 0 to 1 (awesome-prometheus-alerts).
func IOWait() Limit { return Limit{0.1, 0.25} }

// DiskLatency returns the limit of seconds per disk operation (node-mixin).
func DiskLatency() Limit { return Limit{0.05, 0.1} }

// LoadPerCore returns the limit of the load average divided by cores (awesome-prometheus-alerts).
func LoadPerCore() Limit { return Limit{2, 4} }

// GarbageCollection returns the limit of the share of wall time in garbage collection, 0 to 1.
func GarbageCollection() Limit { return Limit{0.05, 0.1} }

// CollectorQueue returns the limit of how full a collector's queue is, 0 to 1
// (awesome-prometheus-alerts).
func CollectorQueue() Limit { return Limit{0.6, 0.8} }

// OverdueRuns returns the limit of the intervals for which no run of the profiler has
// succeeded: one passes between two runs, and the next run may be a long one.
func OverdueRuns() Limit { return Limit{2, 4} }

// MasterDelay returns the limit of the milliseconds until an application master runs.
func MasterDelay() Limit { return Limit{10_000, 30_000} }

// ResourceWait returns the limit of the seconds that an application waits for executors:
// what the data teams for which the timeline was made tolerate.
func ResourceWait() Limit { return Limit{300, 600} }

// Skew returns the limit of a stage's largest task divided by its median one: what the
// same teams look at and act on.
func Skew() Limit { return Limit{2, 4} }

// TaskCollection returns the limit of the share of task time in garbage collection, 0
// to 1: moderate and critical of Dr. Elephant (ExecutorGcHeuristic).
func TaskCollection() Limit { return Limit{0.1, 0.2} }

// FailedTasks returns the limit of the share of tasks that fail, 0 to 1: low and moderate
// of Dr. Elephant (StagesHeuristic).
func FailedTasks() Limit { return Limit{0.1, 0.3} }

// IdleCores colours the share of core time without a task from a half on (DataFlint,
// WASTED_CORES_RATIO_THRESHOLD).
func IdleCores() []panel.Limit { return []panel.Limit{{Value: 0.5, Color: panel.Orange}} }
