package overview

import (
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/dashboards/scope"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/rules"
)

const (
	applicationLegend = "{{spark_app_id}}"
	executorLegend    = "{{spark_app_id}} {{spark_executor_id}} on {{host_name}}"
)

// topTen keeps the ten series with the highest peak in the time range.
func topTen(query string) string { return "topk_max(10, " + query + ")" }

// pools queries the sum over the memory pools of a type. A single pool has no
// meaningful limit.
func pools(metric, memoryType string) string {
	return scope.PerExecutor().Sum(applications().Metric(metric, scope.Equal("jvm_memory_type", memoryType)))
}

func heapShare(metric string) string {
	return pools(metric, "heap") + " / " + pools("jvm_memory_limit_bytes", "heap")
}

// perApplication queries the increase per second of a counter, by application.
func perApplication(counter, legend string) panel.Query {
	return panel.Metrics(scope.PerApplication().Sum(scope.PerSecond(applications().Metric(counter))), legend)
}

func jvms() panel.Row {
	return panel.Row{Title: "Spark JVMs", Panels: []panel.Panel{
		panel.TimeSeries(panel.Spec{
			Title: "Busy cores by application", Unit: panel.UnitCores, Width: 12, Links: applicationLinks(),
			Shows: "CPU cores that an application's JVMs keep busy: CPU seconds per second.",
			Bad:   "Far fewer busy cores than its executors have: tasks wait, or there are too few of them.",
			Next:  "Open the application's CPU profile; compare with \"Executors\".",
		}, perApplication("jvm_cpu_time_seconds_total", applicationLegend)),
		jvmExecutors(),
		panel.TimeSeries(panel.Spec{
			Title: "Heap usage, top 10", Unit: panel.UnitShare, Width: 12, Max: 1, Limits: panel.StepsOf(rules.Heap), Links: applicationLinks(),
			Shows: "Used heap as a share of the JVM's maximum heap.",
			Bad:   panel.Bad(rules.Heap, "Peaks that garbage collection no longer brings below {warn}; {critical} or more for minutes."),
			Next:  "Read \"Live heap\". If it is high as well, the data does not fit: open the allocation profile.",
		}, panel.Metrics(topTen(heapShare("jvm_memory_used_bytes")), executorLegend)),
		panel.TimeSeries(panel.Spec{
			Title: "Live heap, top 10", Unit: panel.UnitShare, Width: 12, Max: 1, Limits: panel.StepsOf(rules.Heap), Links: applicationLinks(),
			Shows: "Heap still in use after the last garbage collection, as a share of the maximum. G1 reports the old generation only " +
				"after it was collected.",
			Bad:  panel.Bad(rules.Heap, "{warn} or more: collections free little memory. One executor far above the others: data skew."),
			Next: "Use more partitions, or more memory per executor core.",
		}, panel.Metrics(topTen(heapShare("jvm_memory_used_after_last_gc_bytes")), executorLegend)),
		jvmCollections(),
		panel.TimeSeries(panel.Spec{
			Title: "Non-heap memory, top 10", Unit: panel.UnitBytes, Width: 12, Links: applicationLinks(),
			Shows: "Metaspace, code cache and the other non-heap memory pools of a JVM.",
			Bad:   "More than spark.executor.memoryOverhead allows: YARN kills the container.",
			Next:  "Raise the overhead. If memory only ever grows, check \"Loaded classes\".",
		}, panel.Metrics(topTen(pools("jvm_memory_used_bytes", "non_heap")), executorLegend)),
		panel.TimeSeries(panel.Spec{
			Title: "Threads, top 10", Unit: panel.UnitCount, Width: 12, Links: applicationLinks(),
			Shows: "Live threads of a JVM.",
			Bad:   "A count that only grows.",
			Next:  "Take a thread dump in the Spark UI, or open the application's lock profile in Explore.",
		}, panel.Metrics(topTen(scope.PerExecutor().Sum(applications().Metric("jvm_thread_count"))), executorLegend)),
		panel.TimeSeries(panel.Spec{
			Title: "Loaded classes, top 10", Unit: panel.UnitCount, Width: 12, Links: applicationLinks(),
			Shows: "Classes that a JVM has loaded. Spark generates some for each query.",
			Bad:   "A count that grows for hours.",
			Next:  "Look for queries built in a loop, or for a class loader leak.",
		}, panel.Metrics(topTen(scope.PerExecutor().Sum(applications().Metric("jvm_class_count"))), executorLegend)),
		panel.TimeSeries(panel.Spec{
			Title: "S3 requests by application", Unit: panel.UnitPerSecond, Width: 12, Links: applicationLinks(),
			Shows: "Requests and retries per second of the S3A file system.",
			Bad:   "Retries: S3 throttles the prefix. Thousands of requests for few bytes: small files.",
			Next:  "Write fewer, larger files; spread keys over prefixes.",
		},
			perApplication("hadoop_s3a_store_io_request_total", applicationLegend),
			perApplication("hadoop_s3a_store_io_retry_total", "retries of "+applicationLegend)),
		panel.TimeSeries(panel.Spec{
			Title: "S3 throughput by application", Unit: panel.UnitBytesPerSec, Width: 12, Links: applicationLinks(),
			Shows: "Bytes read from and written to S3 per second.",
			Bad:   "Long stretches near zero while the cores are idle, too.",
			Next:  "Compare with \"Network traffic\"; many small files cost time, not bytes.",
		},
			perApplication("hadoop_s3a_stream_read_bytes_total", "read by "+applicationLegend),
			perApplication("hadoop_s3a_object_put_bytes_total", "written by "+applicationLegend)),
	}}
}

func jvmExecutors() panel.Panel {
	executors := applications().Metric("jvm_class_count", scope.NotEqual(platform.SparkExecutorID.Metric(), platform.DriverID))
	return panel.TimeSeries(panel.Spec{
		Title: "Executors", Unit: panel.UnitCount, Width: 12, Links: applicationLinks(),
		Shows: "Executors that reported metrics within the last minute, by application.",
		Bad:   "A count that keeps dropping and recovering: executors die and are replaced.",
		Next:  "Read \"Failed and killed containers\" and the application's logs.",
	}, panel.Metrics(scope.PerApplication().Count("max_over_time("+executors+"[1m])"), applicationLegend))
}

func jvmCollections() panel.Panel {
	// "end of GC cycle" is the concurrent part of a G1 or ZGC cycle: no pause.
	collections := applications().Metric("jvm_gc_duration_seconds_sum", scope.NotEqual("jvm_gc_action", "end of GC cycle"))
	return panel.TimeSeries(panel.Spec{
		Title: "GC time, top 10", Unit: panel.UnitShare, Width: 12, Limits: panel.StepsOf(rules.JVMGC), Links: applicationLinks(),
		Shows: "Share of wall time that a JVM spent in garbage collection.",
		Bad:   panel.Bad(rules.JVMGC, "{warn} or more; from {critical} on, the heap is too small for what tasks keep in memory."),
		Next:  "Open the allocation profile, then raise spark.executor.memory or lower spark.executor.cores.",
	}, panel.Metrics(topTen(scope.PerExecutor().Sum(scope.Rate(collections))), executorLegend))
}
