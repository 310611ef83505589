package rules

// Rules of executors.
const (
	ExecutorsLost     ID = "executors_lost"
	ExecutorMemory    ID = "executor_memory"
	MemoryOverheadLow ID = "memory_overhead_low"
	MemoryIdle        ID = "memory_idle"
	IdleCores         ID = "idle_cores"
	ExecutorChurn     ID = "executor_churn"
)

// Floors of the rules of executors.
const (
	MinExecutors  FloorName = "executors"
	MinWall       FloorName = "wall_ms"
	ShortLife     FloorName = "life_ms"
	WantedReserve FloorName = "reserve"
	LeastOverhead FloorName = "least_overhead"
)

func executors() []Rule {
	return []Rule{
		{
			ID: ExecutorsLost, Title: "Lost executors", Subject: OfApplication, Unit: Count,
			Signal:  "executors that ended although the application wanted them: lost, killed, out of memory, or for another reason",
			Columns: []string{"executors.remove_class", "executors.remove_reason", "executors.host_port"},
			Metrics: []string{"spark_executor_removed_total"},
			Limit:   Limit{1, 3},
			Basis:   Event, Route: Page, Sources: own(),
			Changes: []Change{
				job("spark.decommission.enabled", "true", "if they were on Spot instances or on nodes that were scaled in"),
			},
		},
		{
			ID: ExecutorMemory, Title: "Executors out of memory", Subject: OfApplication, Unit: Count,
			Signal: "executors that ran out of memory, by their exit code or YARN's message",
			Columns: []string{
				"executors.remove_class", "executors.remove_reason", "executors.peak_process_tree_rss_bytes", "stages.failure_reason",
			},
			Metrics: []string{"spark_executor_removed_total"},
			Limit:   Limit{1, 3},
			Basis:   Event, Route: Page,
			Sources: []Source{
				{"AWS Knowledge Center", "Container killed by YARN for exceeding memory limits"}, {"Spark", "SparkExitCode: 52 is OutOfMemoryError"},
			},
			Changes: []Change{
				job("spark.executor.memory", "", "if the heap was full: OutOfMemoryError in its output; EMR then ends the JVM with exit code 137"),
				job("spark.executor.memoryOverhead", "", "if YARN says that the container exceeded its limits: memory outside of the heap"),
				job("spark.executor.pyspark.memory", "", "if Python workers took it"),
			},
		},
		{
			ID: MemoryOverheadLow, Title: "Little memory left in containers", Subject: OfApplication, Unit: Share,
			Signal:  "largest resident memory of an executor's processes divided by the size of its container",
			Columns: []string{"executors.peak_process_tree_rss_bytes", "applications.executor_memory_bytes", "environments.value"},
			Limit:   Limit{0.95, 1},
			Floors: []Floor{
				{LeastOverhead, 384 << 20, Bytes, "memory beside the heap that Spark gives a container at least"},
				{WantedReserve, 1.2, Times, "advised container divided by the peak"},
			},
			Basis: Event, Route: Note,
			Sources: []Source{practices("spark.executor.memoryOverheadFactor"), {}},
			Changes: []Change{job("spark.executor.memoryOverhead", "", "")},
			NotLive: "Spark measures it only with spark.executor.processTreeMetrics.enabled, and writes it to the event log",
		},
		{
			ID: MemoryIdle, Title: "Memory that is not used", Subject: OfApplication, Unit: Share,
			Signal:  "largest peak of an executor's heap divided by spark.executor.memory",
			Columns: []string{"executors.peak_jvm_heap_bytes", "applications.executor_memory_bytes", "applications.duration_ms"},
			Limit:   Limit{0.7, 0.35},
			Floors: []Floor{
				{MinExecutors, 3, Count, "executors, at least"},
				{MinWall, 300_000, Milliseconds, "duration of the application, at least"},
				{WantedReserve, 1.2, Times, "advised memory divided by the peak"},
			},
			Basis: Event, Route: Note,
			Sources: []Source{{"DataFlint", "executor memory below 70 %, with a reserve of 20 %"}, forensics("below 70 %"), {}},
			Changes: []Change{job("spark.executor.memory", "", "so that more executors fit on a node")},
			NotLive: "peaks of the heap reach the event log only",
		},
		{
			ID: IdleCores, Title: "Idle cores", Subject: OfApplication, Unit: Share,
			Signal:  "share of the executors' core time in which a core had no task",
			Columns: []string{"applications.core_ms", "stages.executor_run_time"},
			Metrics: []string{"spark_executor_core_time_seconds_total"},
			Limit:   Limit{0.5, 0.75},
			Basis:   Cores, Route: Note,
			Sources: []Source{{"DataFlint", "WASTED_CORES_RATIO_THRESHOLD: 50 %"}, forensics("utilisation below 60 %"), {}},
			Changes: []Change{
				job("spark.dynamicAllocation.enabled", "true", "if it is off"),
				job("spark.dynamicAllocation.maxExecutors", "", "if the driver or a few tasks leave executors idle"),
				job("spark.dynamicAllocation.executorIdleTimeout", "60s", "if it was raised"),
			},
		},
		{
			ID: ExecutorChurn, Title: "Short-lived executors", Subject: OfApplication, Unit: Share,
			Signal:  "share of the executors that were removed soon after they were added",
			Columns: []string{"executors.add_time", "executors.remove_time"},
			Limit:   Limit{0.3, 0.6},
			Floors: []Floor{
				{MinExecutors, 5, Count, "executors, at least"},
				{ShortLife, 120_000, Milliseconds, "lifetime of a short-lived executor, less than"},
				{MinWall, 300_000, Milliseconds, "duration of the application, at least"},
			},
			Basis: Event, Route: Note, Sources: []Source{forensics("executor churn"), {}},
			Changes: []Change{
				job("spark.dynamicAllocation.executorIdleTimeout", "120s", "if they were removed because they were idle"),
				job("spark.dynamicAllocation.initialExecutors", "", "so that stages do not start with too few"),
			},
			NotLive: "no metric has the lifetime of executors",
		},
	}
}
