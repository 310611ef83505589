package contract

// jvmMetrics are of opentelemetry-java-instrumentation, runtime-telemetry
// (agent 2.31.0), which follow the stable JVM semantic conventions.
func jvmMetrics() []Metric {
	j := func(name, emitted string, kind Type, unit, help string, labels ...string) Metric {
		return Metric{Name: name, Emitted: emitted, Type: kind, Unit: unit, Labels: labels, Source: SourceJVM, Since: EMR615, Help: help}
	}
	pool := []string{"jvm_memory_type", "jvm_memory_pool_name"}
	return []Metric{
		j("jvm_memory_used_bytes", "jvm.memory.used", Gauge, "By", "Memory in use by pool.", pool...),
		j("jvm_memory_committed_bytes", "jvm.memory.committed", Gauge, "By", "Memory committed by pool.", pool...),
		j("jvm_memory_limit_bytes", "jvm.memory.limit", Gauge, "By",
			"Most memory a pool may take; absent for pools without a limit, so aggregate by type.", pool...),
		j("jvm_memory_used_after_last_gc_bytes", "jvm.memory.used_after_last_gc", Gauge, "By",
			"Memory in use by pool after the last collection of that pool.", pool...),
		j("jvm_gc_duration_seconds", "jvm.gc.duration", Histogram, "s", "Garbage collections by collector and action.",
			"jvm_gc_name", "jvm_gc_action"),
		j("jvm_thread_count", "jvm.thread.count", Gauge, "{thread}", "Threads by state.", "jvm_thread_daemon", "jvm_thread_state"),
		j("jvm_class_count", "jvm.class.count", Gauge, "{class}", "Classes loaded now."),
		j("jvm_class_loaded_total", "jvm.class.loaded", Counter, "{class}", "Classes loaded since start."),
		j("jvm_class_unloaded_total", "jvm.class.unloaded", Counter, "{class}", "Classes unloaded since start."),
		j("jvm_cpu_time_seconds_total", "jvm.cpu.time", Counter, "s", "CPU time of the process."),
		j("jvm_cpu_count", "jvm.cpu.count", Gauge, "{cpu}", "Cores the JVM sees."),
		j("jvm_cpu_recent_utilization_ratio", "jvm.cpu.recent_utilization", Gauge, "1", "CPU use of the process as a share of the host."),
	}
}

// s3aMetrics are what the rules of assets/node/jmx-s3a.yaml read from the
// beans of Spark's S3A file system. EMR uses S3A for s3:// from 7.10 on, and
// the beans appear with the first use of the file system.
func s3aMetrics() []Metric {
	var metrics []Metric
	for _, m := range []struct{ name, unit, help string }{
		{"store_io_request", "{request}", "Requests to the store."},
		{"store_io_retry", "{request}", "Requests tried again."},
		{"store_io_throttled", "{request}", "Requests that the store throttled."},
		{"object_put_request", "{request}", "Objects and parts put."},
		{"object_put_bytes", "By", "Bytes put."},
		{"object_list_request", "{request}", "Listings."},
		{"object_metadata_request", "{request}", "Object probes."},
		{"object_delete_request", "{request}", "Deletions."},
		{"object_copy_requests", "{request}", "Copies."},
		{"stream_read_opened", "{stream}", "Input streams opened."},
		{"stream_read_seek_operations", "{operation}", "Seeks in input streams."},
		{"stream_read_bytes", "By", "Bytes read."},
		{"stream_read_exceptions", "{error}", "Errors while reading."},
		{"stream_write_bytes", "By", "Bytes written to output streams."},
		{"stream_write_exceptions", "{error}", "Errors while writing."},
	} {
		metrics = append(metrics, Metric{
			Name: "hadoop_s3a_" + m.name + "_total", Emitted: "hadoop.s3a." + m.name, Type: Counter, Unit: m.unit,
			Labels: []string{"bucket"}, Source: SourceS3A, Since: EMR710, Help: m.help,
			OnlyIf: "a job used the S3A file system",
		})
	}
	return metrics
}
