package overview

import "github.com/emr-observatory/emr-observatory/dashboards/panel"

const (
	perApplication    = "sum by (cluster, spark_app_id)"
	applicationLegend = "{{spark_app_id}}"
	// perExecutor tells one JVM from another: the driver is the executor "driver".
	perExecutor    = "sum by (cluster, host_name, spark_app_id, spark_executor_id)"
	executorLegend = "{{spark_app_id}} {{spark_executor_id}} on {{host_name}}"
)

// worstTen keeps the ten series that were highest at any time in the range.
func worstTen(query string) string { return "topk_max(10, " + query + ")" }

// heap is the sum over the pools of the heap; only the sum has a limit that
// means something.
func heap(metric string) string {
	return perExecutor + " (" + metric + `{JVM,jvm_memory_type="heap"})`
}

func jvms() panel.Row {
	return panel.Row{Title: "Spark JVMs", Panels: []panel.Panel{
		jvmCores(), jvmExecutors(), jvmHeap(), jvmLiveHeap(), jvmCollections(), jvmOffHeap(), jvmThreads(), jvmClasses(), s3Requests(), s3Bytes(),
	}}
}

func jvmCores() panel.Panel {
	return panel.TimeSeries(panel.Spec{
		Title: "Cores busy by application", Unit: panel.UnitCores, Width: 12, Links: applicationLinks(),
		Description: panel.Description{
			Shows: "CPU seconds per second that an application's JVMs took.",
			Bad:   "Far fewer cores than its executors have: tasks wait, or there are too few of them.",
			Next:  "Open the application's CPU profile; compare with \"Executors\".",
		},
	}, metrics(perApplication+" (rate(jvm_cpu_time_seconds_total{JVM}[$__rate_interval]))", applicationLegend))
}

func jvmExecutors() panel.Panel {
	return panel.TimeSeries(panel.Spec{
		Title: "Executors", Unit: panel.UnitCount, Width: 12, Links: applicationLinks(),
		Description: panel.Description{
			Shows: "Executors that reported within the last minute, by application.",
			Bad:   "A number that saws up and down: executors die and come back.",
			Next:  "Read \"Containers failed or killed\" and the application's logs.",
		},
	}, metrics(`count by (cluster, spark_app_id) (max_over_time(jvm_class_count{JVM,spark_executor_id!="driver"}[1m]))`, applicationLegend))
}

func jvmHeap() panel.Panel {
	return panel.TimeSeries(panel.Spec{
		Title: "Heap in use, worst ten", Unit: panel.UnitShare, Width: 12, Max: 1, Limits: panel.WarnAt(shareHigh, shareFull), Links: applicationLinks(),
		Description: panel.Description{
			Shows: "Heap in use as a share of the JVM's limit.",
			Bad:   "Saw teeth that no longer come down.",
			Next:  "Read \"Live heap\": if that is high as well, the data does not fit; open the allocation profile.",
		},
	}, metrics(worstTen(heap("jvm_memory_used_bytes")+" / "+heap("jvm_memory_limit_bytes")), executorLegend))
}

func jvmLiveHeap() panel.Panel {
	return panel.TimeSeries(panel.Spec{
		Title: "Live heap, worst ten", Unit: panel.UnitShare, Width: 12, Max: 1, Limits: panel.WarnAt(shareHigh, shareFull), Links: applicationLinks(),
		Description: panel.Description{
			Shows: "Heap still in use after the last collection, as a share of the limit; with G1 the old generation counts once it was collected.",
			Bad:   "Above four fifths: collections free little. One executor above the others: skew.",
			Next:  "More partitions, or more memory per executor core.",
		},
	}, metrics(worstTen(heap("jvm_memory_used_after_last_gc_bytes")+" / "+heap("jvm_memory_limit_bytes")), executorLegend))
}

func jvmCollections() panel.Panel {
	return panel.TimeSeries(panel.Spec{
		Title: "Time in garbage collection, worst ten", Unit: panel.UnitShare, Width: 12, Limits: panel.WarnAt(gcWarn, gcBad), Links: applicationLinks(),
		Description: panel.Description{
			Shows: "Share of wall time that a JVM spent collecting garbage.",
			Bad:   "A tenth and more: the memory is too small for what the tasks keep.",
			Next:  "Open the allocation profile, then give each executor core more memory.",
		},
	}, metrics(worstTen(perExecutor+` (rate(jvm_gc_duration_seconds_sum{JVM,jvm_gc_action!="end of GC cycle"}[$__rate_interval]))`), executorLegend))
}

func jvmOffHeap() panel.Panel {
	return panel.TimeSeries(panel.Spec{
		Title: "Memory beside the heap, worst ten", Unit: panel.UnitBytes, Width: 12, Links: applicationLinks(),
		Description: panel.Description{
			Shows: "Classes, compiled code and the rest of the JVM's own memory.",
			Bad:   "More than spark.executor.memoryOverhead allows: YARN kills the container.",
			Next:  "Raise the overhead; if it only ever grows, look for generated classes below.",
		},
	}, metrics(worstTen(perExecutor+` (jvm_memory_used_bytes{JVM,jvm_memory_type="non_heap"})`), executorLegend))
}

func jvmThreads() panel.Panel {
	return panel.TimeSeries(panel.Spec{
		Title: "Threads, worst ten", Unit: panel.UnitCount, Width: 12, Links: applicationLinks(),
		Description: panel.Description{
			Shows: "Threads of a JVM.",
			Bad:   "A number that only grows.",
			Next:  "Open the lock profile of the application, or take a thread dump from Spark's UI.",
		},
	}, metrics(worstTen(perExecutor+" (jvm_thread_count{JVM})"), executorLegend))
}

func jvmClasses() panel.Panel {
	return panel.TimeSeries(panel.Spec{
		Title: "Classes loaded, worst ten", Unit: panel.UnitCount, Width: 12, Links: applicationLinks(),
		Description: panel.Description{
			Shows: "Classes that a JVM has loaded; Spark generates some for each query.",
			Bad:   "A number that only grows over hours.",
			Next:  "Look for queries built in a loop, or a class loader that is kept.",
		},
	}, metrics(worstTen(perExecutor+" (jvm_class_count{JVM})"), executorLegend))
}

func s3Requests() panel.Panel {
	return panel.TimeSeries(panel.Spec{
		Title: "S3 requests by application", Unit: panel.UnitPerSecond, Width: 12, Links: applicationLinks(),
		Description: panel.Description{
			Shows: "Requests of Spark's S3A file system per second, and those tried again.",
			Bad:   "Retries: S3 throttles the prefix. Thousands of requests for few bytes: small files.",
			Next:  "Write fewer, larger files; spread keys over prefixes.",
		},
	},
		metrics(perApplication+" (rate(hadoop_s3a_store_io_request_total{JVM}[$__rate_interval]))", applicationLegend),
		metrics(perApplication+" (rate(hadoop_s3a_store_io_retry_total{JVM}[$__rate_interval]))", "retries of "+applicationLegend))
}

func s3Bytes() panel.Panel {
	return panel.TimeSeries(panel.Spec{
		Title: "S3 bytes by application", Unit: panel.UnitBytesPerSec, Width: 12, Links: applicationLinks(),
		Description: panel.Description{
			Shows: "Bytes an application read from and put to S3 per second.",
			Bad:   "Long stretches at nearly nothing while the cores idle as well.",
			Next:  "Compare with \"Network\"; many small files cost time, not bytes.",
		},
	},
		metrics(perApplication+" (rate(hadoop_s3a_stream_read_bytes_total{JVM}[$__rate_interval]))", "read by "+applicationLegend),
		metrics(perApplication+" (rate(hadoop_s3a_object_put_bytes_total{JVM}[$__rate_interval]))", "put by "+applicationLegend))
}
