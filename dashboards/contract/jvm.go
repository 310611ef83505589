package contract

import (
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
)

// jvmMetrics follow OpenTelemetry's stable semantic conventions for the JVM;
// the launcher measures them.
func jvmMetrics() []Metric {
	j := func(name, emitted string, kind Type, unit, help string, labels ...string) Metric {
		return Metric{Name: name, Emitted: emitted, Type: kind, Unit: unit, Labels: labels, Source: SourceJVM, Since: EMR615, Help: help}
	}
	pool := []string{"jvm_memory_type", "jvm_memory_pool_name"}
	return []Metric{
		j("jvm_memory_used_bytes", "jvm.memory.used", Gauge, "By", "Memory in use by pool.", pool...),
		j("jvm_memory_committed_bytes", "jvm.memory.committed", Gauge, "By", "Memory committed by pool.", pool...),
		j("jvm_memory_limit_bytes", "jvm.memory.limit", Gauge, "By",
			"Maximum size of a pool; absent for pools without a limit, so aggregate by type.", pool...),
		j("jvm_memory_used_after_last_gc_bytes", "jvm.memory.used_after_last_gc", Gauge, "By",
			"Memory in use by pool after that pool was last collected.", pool...),
		j("jvm_gc_duration_seconds", "jvm.gc.duration", Histogram, "s", "Garbage collections by collector and action.",
			"jvm_gc_name", "jvm_gc_action"),
		j("jvm_thread_count", "jvm.thread.count", Gauge, "{thread}", "Threads by state.", "jvm_thread_daemon", "jvm_thread_state"),
		j("jvm_class_count", "jvm.class.count", Gauge, "{class}", "Classes currently loaded."),
		j("jvm_class_loaded_total", "jvm.class.loaded", Counter, "{class}", "Classes loaded since start."),
		j("jvm_class_unloaded_total", "jvm.class.unloaded", Counter, "{class}", "Classes unloaded since start."),
		j("jvm_cpu_time_seconds_total", "jvm.cpu.time", Counter, "s", "CPU time of the process."),
		j("jvm_cpu_count", "jvm.cpu.count", Gauge, "{cpu}", "Cores available to the JVM."),
		j("jvm_cpu_recent_utilization_ratio", "jvm.cpu.recent_utilization", Gauge, "1", "CPU usage of the process as a share of the host's."),
	}
}

// s3aMetrics returns what the launcher reads from the beans of Spark's S3A file
// system (platform.S3ACounters). EMR uses S3A for s3:// from 7.10 on, and the beans
// appear with the first use of the file system. An executor sends a counter once it is
// above zero, and of all buckets together: queries must read what it gained with
// increase_pure.
func s3aMetrics() []Metric {
	var metrics []Metric
	for _, c := range platform.S3ACounters() {
		metrics = append(metrics, Metric{
			Name:    storedS3A(c),
			Emitted: platform.S3APrefix + c.Name, Type: Counter, Unit: c.Unit,
			Labels: []string{"bucket"}, Source: SourceS3A, Since: EMR710, Help: c.Help,
			OnlyIf: "a job used the S3A file system",
		})
	}
	return metrics
}

// storedS3A returns the name that VictoriaMetrics makes of a counter's name and unit:
// the unit is added unless the name has it, and "total" moves to the end.
func storedS3A(c platform.S3ACounter) string {
	name := strings.ReplaceAll(platform.S3APrefix+c.Name, ".", "_")
	if c.Unit == "ms" {
		name = strings.ReplaceAll(name, "_total_", "_") + "_milliseconds"
	}
	return name + "_total"
}
