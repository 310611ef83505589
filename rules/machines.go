package rules

// Rules of JVMs, hosts, clusters and the control node. They concern what runs: the tables have
// nothing of it.
const (
	Heap            ID = "jvm_heap"
	JVMGC           ID = "jvm_gc"
	HostMemory      ID = "host_memory"
	DiskFull        ID = "disk_full"
	IOWait          ID = "io_wait"
	DiskLatency     ID = "disk_latency"
	LoadPerCore     ID = "load_per_core"
	HDFSLow         ID = "hdfs_low"
	MasterDelay     ID = "master_delay"
	CollectorQueue  ID = "collector_queue"
	ProfilerOverdue ID = "profiler_overdue"
)

// metricsOnly is why the tables cannot judge a rule.
const metricsOnly = "the tables have applications only"

func machines() []Rule {
	alerts := []Source{{"awesome-prometheus-alerts", "host and collector alerts"}}
	all := []Rule{
		{
			ID: Heap, Title: "Full heap", Subject: OfJVM, Unit: Share, Signal: "used heap divided by its maximum",
			Metrics: []string{"jvm_memory_used_bytes", "jvm_memory_limit_bytes"}, Limit: Limit{0.8, 0.9},
			Sources: []Source{{"hadoop-mixin", "heap alerts"}},
		},
		{
			ID: JVMGC, Title: "Garbage collection of a JVM", Subject: OfJVM, Unit: Share,
			Signal:  "time in garbage collection as a share of the wall clock",
			Metrics: []string{"jvm_gc_duration_seconds"}, Limit: Limit{0.05, 0.1}, Sources: own(),
		},
		{
			ID: HostMemory, Title: "Full memory", Subject: OfHost, Unit: Share, Signal: "memory in use",
			Metrics: []string{"system_linux_memory_available_bytes", "system_memory_limit_bytes"}, Limit: Limit{0.9, 0.95}, Sources: alerts,
		},
		{
			ID: DiskFull, Title: "Full disk", Subject: OfHost, Unit: Share, Signal: "used space of a file system",
			Metrics: []string{"system_filesystem_usage_bytes"}, Limit: Limit{0.8, 0.9}, Route: Page,
			Sources: []Source{{"yarn-default.xml", "max-disk-utilization-per-disk-percentage: a directory is bad at 90 %"}},
		},
		{
			ID: IOWait, Title: "Waiting for disks", Subject: OfHost, Unit: Share, Signal: "CPU time in iowait",
			Metrics: []string{"system_cpu_time_seconds_total"}, Limit: Limit{0.1, 0.25}, Sources: alerts,
		},
		{
			ID: DiskLatency, Title: "Slow disk", Subject: OfHost, Unit: Seconds, Signal: "time per operation of a disk",
			Metrics: []string{"system_disk_operation_time_seconds_total", "system_disk_operations_total"}, Limit: Limit{0.05, 0.1},
			Sources: []Source{{"node-mixin", "disk alerts"}},
		},
		{
			ID: LoadPerCore, Title: "High load", Subject: OfHost, Unit: Times, Signal: "load average of five minutes divided by the cores",
			Metrics: []string{"system_cpu_load_average_5m"}, Limit: Limit{2, 4}, Sources: alerts,
		},
		{
			ID: HDFSLow, Title: "HDFS is almost full", Subject: OfCluster, Unit: Share, Signal: "free share of HDFS",
			Metrics: []string{"fs_namesystem_capacity_remaining", "fs_namesystem_capacity_total"}, Limit: Limit{0.2, 0.1}, Route: Page,
			Sources: []Source{{"hadoop-mixin", "HDFS capacity alerts"}},
		},
		{
			ID: MasterDelay, Title: "Slow application masters", Subject: OfCluster, Unit: Milliseconds,
			Signal:  "time until an application master runs",
			Metrics: []string{"cluster_metrics_am_launch_delay_avg_time", "cluster_metrics_am_register_delay_avg_time"},
			Limit:   Limit{10_000, 30_000}, Sources: own(),
		},
		{
			ID: CollectorQueue, Title: "Collector queue is filling", Subject: OfPlatform, Unit: Share, Signal: "fill of a collector's queue",
			Metrics: []string{"otelcol_exporter_queue_size", "otelcol_exporter_queue_capacity"},
			Limit:   Limit{0.6, 0.8}, Route: Page, Sources: alerts,
		},
		{
			ID: ProfilerOverdue, Title: "Profiler is overdue", Subject: OfPlatform, Unit: Times,
			Signal:  "time since the last run that succeeded, in intervals: one passes between two runs, and the next run may be a long one",
			Metrics: []string{"observatory_profiler_last_success_timestamp_seconds", "observatory_profiler_interval_seconds"},
			Limit:   Limit{2, 4}, Route: Page, Sources: own(),
		},
	}
	for i := range all {
		all[i].NotInTables = metricsOnly
		if all[i].Route == "" {
			all[i].Route = Note
		}
	}
	return all
}
