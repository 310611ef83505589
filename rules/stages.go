package rules

// Rules of stages.
const (
	Skew           ID = "skew"
	Spill          ID = "spill"
	GC             ID = "gc"
	TinyTasks      ID = "tiny_tasks"
	LowParallelism ID = "low_parallelism"
	LargePartition ID = "large_partitions"
	FailedTasks    ID = "failed_tasks"
	StageRetries   ID = "stage_retries"
	ResultLarge    ID = "result_large"
	SlowHost       ID = "slow_host"
	Speculation    ID = "speculation_waste"
)

// Floors of the rules of stages.
const (
	SkewFewTasks     FloorName = "few_tasks"
	SkewExcess       FloorName = "excess_ms"
	SkewCause        FloorName = "cause_ratio"
	SkewCauseBytes   FloorName = "cause_bytes"
	SkewCauseRecords FloorName = "cause_records"
	SplitFactor      FloorName = "split_factor"
	ReservedMemory   FloorName = "reserved_bytes"
	ExecutionShare   FloorName = "execution_share"
	SkewLiveTasks    FloorName = "live_tasks"
	SkewLiveTime     FloorName = "live_ms"
	SkewLiveBytes    FloorName = "live_bytes"
	MinRunTime       FloorName = "run_time_ms"
	MinHosts         FloorName = "hosts"
	MinHostExcess    FloorName = "host_excess_ms"
	MinTasks         FloorName = "tasks"
	MaxP95           FloorName = "p95_ms"
	MinStage         FloorName = "stage_share"
	FewTasks         FloorName = "at_most_tasks"
	FewTasksBytes    FloorName = "few_tasks_bytes"
	MinFailed        FloorName = "failed"
	MinPartition     FloorName = "partition_bytes"
	TargetBytes      FloorName = "target_bytes"
)

// target is the size of partitions that findings advise.
func target() Floor {
	return Floor{TargetBytes, 128 * mib, Bytes, "advised partitions have about this size: twice Spark's advisory size"}
}

const (
	mib = 1 << 20
	gib = 1 << 30
)

func forensics(where string) Source { return Source{"sparkforensics", where} }
func elephant(where string) Source  { return Source{"Dr. Elephant", where} }
func tuning(where string) Source    { return Source{"Spark tuning guide", where} }
func practices(where string) Source { return Source{"AWS EMR best practices", where} }

func job(property, value, when string) Change {
	return Change{Classification: "spark-defaults", Property: property, Value: value, When: when}
}

// morePartitions are the settings that make partitions of a shuffle smaller.
func morePartitions() []Change {
	return []Change{
		job("spark.sql.shuffle.partitions", "", "for shuffles of SQL; a multiple of the application's cores"),
		job("spark.sql.adaptive.advisoryPartitionSizeInBytes", "",
			"if adaptive execution merges partitions again, which it does up to this size"),
	}
}

func stages() []Rule {
	return []Rule{
		{
			ID: Skew, Title: "Skewed tasks", Subject: OfStage, Unit: Times,
			Signal: "95th percentile of the tasks' durations divided by their median; with few tasks, the longest divided by the median",
			Columns: []string{
				"task_summaries.duration", "task_summaries.duration_p95", "task_summaries.shuffle_read_bytes", "task_summaries.input_bytes",
				"task_summaries.input_records", "stages.num_complete_tasks", "stages.duration_ms", "stages.executor_run_time",
				"executors.total_cores", "executors.add_time", "executors.remove_time",
			},
			Metrics: []string{"spark_task_skew_ratio", "spark_stage_tail_seconds_total"},
			Limit:   Limit{3, 10},
			Floors: []Floor{
				{SkewFewTasks, 20, Count, "with fewer tasks the longest is judged, since it is the 95th percentile"},
				{SkewExcess, 1000, Milliseconds, "the longest task exceeds the median one by this at least"},
				{SkewCause, 2, Times, "data explains the skew if the task with most has this many times the median"},
				{SkewCauseBytes, mib, Bytes, "and more than this"},
				{SkewCauseRecords, 1000, Count, "or, of sources that count no bytes, more records than this"},
				{SplitFactor, 5, Times, "Spark's default of skewedPartitionFactor: adaptive execution splits no smaller partition"},
				{SkewLiveTasks, 3, Count, "while the application runs: tasks of the stage, at least"},
				{SkewLiveTime, 1000, Milliseconds, "and its longest task, at least"},
				{SkewLiveBytes, mib, Bytes, "or, for the ratio of shuffled bytes, its largest read, at least"},
			},
			Basis: Tail, Route: Note,
			Sources: []Source{
				forensics("P95/P50 > 3"), {"spark-history-cli", "P95/P50 > 3"}, elephant("ExecutorsHeuristic: 10^0.5 is severe, 10 critical"),
			},
			Changes: []Change{
				job("spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes", "", "if the stage joins: below what its largest task reads"),
				job("spark.sql.adaptive.skewJoin.skewedPartitionFactor", "2", "with it, if the largest has less than five times the median"),
				job("spark.sql.adaptive.advisoryPartitionSizeInBytes", "", "with it: what the median task reads, or a core's part of the largest"),
				job("spark.sql.files.maxPartitionBytes", "", "if the input is uneven and its files can be split"),
			},
		},
		{
			ID: Spill, Title: "Spill to disk", Subject: OfStage, Unit: Bytes,
			Signal: "bytes that the task with the largest spill wrote to disk",
			Columns: []string{
				"task_summaries.disk_bytes_spilled", "stages.disk_bytes_spilled", "stages.memory_bytes_spilled", "stages.duration_ms",
				"stages.input_bytes", "stages.output_bytes", "stages.shuffle_read_bytes", "stages.shuffle_write_bytes", "stages.num_tasks",
			},
			Metrics: []string{"spark_task_spill_bytes_total", "spark_task_io_bytes_total", "spark_stage_cost_seconds_total"},
			Limit:   Limit{256 * mib, gib},
			Live: &Live{
				Signal: "bytes spilled to disk as a share of those that tasks read, as input and from shuffles", Unit: Share,
				Limit: Limit{0.2, 1}, Sources: own(),
			},
			Floors: []Floor{
				target(),
				{ReservedMemory, 300 * mib, Bytes, "heap that Spark keeps for itself (UnifiedMemoryManager)"},
				{ExecutionShare, 0.6, Share, "of the rest is for execution and storage, unless spark.memory.fraction is set"},
			},
			Basis: Shared, Route: Note,
			Sources: []Source{
				forensics("256 MiB and 1 GiB of disk per task"), {"spark-observability-agent", "efficiency_analysis: 256 MB per task"},
			},
			Changes: append(morePartitions(),
				job("spark.executor.memory", "", "if partitions are small already"),
				job("spark.executor.cores", "4", "if executors have more: fewer tasks share their memory")),
		},
		{
			ID: GC, Title: "Garbage collection", Subject: OfStage, Unit: Share,
			Signal: "time in garbage collection as a share of the tasks' run time",
			Columns: []string{
				"stages.jvm_gc_time", "stages.executor_run_time", "stages.duration_ms", "executors.peak_jvm_heap_bytes",
				"applications.executor_memory_bytes",
			},
			Metrics: []string{"spark_task_time_seconds_total", "spark_stage_cost_seconds_total"},
			Limit:   Limit{0.1, 0.2},
			Floors:  []Floor{{MinRunTime, 10_000, Milliseconds, "run time of all tasks together, at least"}},
			Basis:   Shared, Route: Note,
			Sources: []Source{
				{"Spark UI", "executorspage.js: red above 10 % of task time"}, elephant("ExecutorGcHeuristic: 0.1 is moderate, 0.2 critical"),
				forensics("10 % and 10 s"),
			},
			Changes: []Change{
				job("spark.executor.memory", "", "for more heap per task"),
				job("spark.executor.cores", "4", "if executors have more: fewer tasks share the heap"),
			},
		},
		{
			ID: TinyTasks, Title: "Many tiny tasks", Subject: OfStage, Unit: Milliseconds,
			Signal: "median of the tasks' durations",
			Columns: []string{
				"task_summaries.duration", "task_summaries.duration_p95", "task_summaries.scheduler_delay",
				"task_summaries.executor_deserialize_time", "stages.num_complete_tasks", "stages.duration_ms", "stages.shuffle_read_bytes",
			},
			Metrics: []string{"spark_task_duration_seconds", "spark_stage_cost_seconds_total"},
			Limit:   Limit{500, 200},
			Floors: []Floor{
				{MinTasks, 100, Count, "tasks of the stage, at least"},
				{MaxP95, 1000, Milliseconds, "95th percentile of their durations, at most"},
				target(),
			},
			Basis: Shared, Route: Note,
			Sources: []Source{
				forensics("P50 ≤ 500 ms and P95 ≤ 1 s"), {"DataFlint", "small tasks: median below 500 ms"},
				tuning("tasks as short as 200 ms are fine"),
			},
			Changes: []Change{
				job("spark.sql.adaptive.coalescePartitions.parallelismFirst", "false", "so that adaptive execution merges small partitions"),
				job("spark.sql.shuffle.partitions", "", "for shuffles of SQL"),
			},
		},
		{
			ID: LowParallelism, Title: "Fewer tasks than cores", Subject: OfStage, Unit: Share,
			Signal: "tasks of the stage divided by the cores that executors had while it ran",
			Columns: []string{
				"stages.num_tasks", "stages.duration_ms", "stages.executor_run_time", "stages.shuffle_fetch_wait_time", "stages.input_bytes",
				"executors.total_cores", "executors.add_time", "executors.remove_time",
			},
			Metrics: []string{"spark_stage_cost_seconds_total"},
			Limit:   Limit{0.5, 0.25},
			Floors: []Floor{
				{MinRunTime, 10_000, Milliseconds, "run time of all tasks together without waiting for shuffle blocks, at least"},
				{MinPartition, 4 * mib, Bytes, "input is not worth to be read in smaller parts (spark.sql.files.openCostInBytes)"},
			},
			Basis: Shared, Route: Note,
			Sources: own(),
			Changes: []Change{
				job("spark.sql.shuffle.partitions", "", "if the stage reads a shuffle of SQL"),
				job("spark.default.parallelism", "", "if it reads a shuffle of RDDs"),
				job("spark.sql.files.maxPartitionBytes", "", "if it reads splittable files"),
			},
		},
		{
			ID: LargePartition, Title: "Large partitions", Subject: OfStage, Unit: Bytes,
			Signal:  "bytes that the task with the largest input read",
			Columns: []string{"task_summaries.input_bytes", "stages.num_complete_tasks", "stages.duration_ms"},
			Limit:   Limit{5 * gib, 20 * gib},
			Floors: []Floor{
				{FewTasks, 7, Count, "with so few tasks or less, a smaller partition is large"},
				{FewTasksBytes, gib, Bytes, "namely this"},
				{MinStage, 0.005, Share, "duration of the stage as a share of the wall clock, at least"},
			},
			Basis: Event, Route: Note,
			Sources: []Source{{"DataFlint", "maxPartitionToBig: 5 GiB"}, forensics("1 GiB and at most 7 tasks"), {}},
			Changes: []Change{job("spark.sql.files.maxPartitionBytes", "128m", "if the files can be split; gzip cannot")},
			NotLive: "no metric has the input of one task",
		},
		{
			ID: FailedTasks, Title: "Failed tasks", Subject: OfStage, Unit: Share,
			Signal: "failed tasks as a share of all that ended; those resubmitted after an executor was lost do not count",
			Columns: []string{
				"stages.num_failed_tasks", "stages.num_resubmitted_tasks", "stages.num_complete_tasks", "stages.failure_reason", "stages.duration_ms",
			},
			Metrics: []string{"spark_task_count_total", "spark_phase_compute_seconds", "spark_phase_io_write_seconds"},
			Limit:   Limit{0.1, 0.3},
			Floors:  []Floor{{MinFailed, 10, Count, "tasks that failed, at least"}},
			Basis:   Shared, Route: Page,
			Sources: []Source{elephant("StagesHeuristic: 0.1 is low, 0.3 moderate")},
			Changes: []Change{job("spark.excludeOnFailure.enabled", "true", "if the failures are on one host; else mend their cause first")},
		},
		{
			ID: StageRetries, Title: "Stages run again", Subject: OfApplication, Unit: Count,
			Signal:  "attempts of stages after the first",
			Columns: []string{"stages.stage_attempt_id", "stages.failure_reason", "stages.submission_time", "stages.completion_time"},
			Metrics: []string{"spark_stage_count_total", "spark_stage_cost_seconds_total"},
			Limit:   Limit{1, 3},
			Basis:   Exact, Route: Page,
			Sources: []Source{forensics("stage retries"), practices("Spark stage retries")},
			Changes: []Change{
				job("spark.decommission.enabled", "true", "if executors were lost with Spot or scaled-in nodes"),
				job("spark.shuffle.io.retryWait", "15s", "if shuffle blocks could not be fetched from a busy node"),
			},
		},
		{
			ID: SlowHost, Title: "Slow host", Subject: OfStage, Unit: Times,
			Signal: "mean duration of the tasks on one host divided by that on the median host",
			Columns: []string{
				"task_summaries.hosts", "task_summaries.hosts_mean_ms", "task_summaries.worst_host", "task_summaries.worst_host_tasks",
				"task_summaries.worst_host_mean_ms", "stages.duration_ms",
			},
			Metrics: []string{"spark_executor_task_duration_seconds"},
			Limit:   Limit{2, 4},
			Floors: []Floor{
				{MinHosts, 3, Count, "hosts of the stage's tasks, at least"},
				{MinTasks, 15, Count, "tasks on the slow host, at least"},
				{MinHostExcess, 1000, Milliseconds, "its mean exceeds that of the median host by this at least"},
			},
			Basis: Shared, Route: Note,
			Sources: []Source{forensics("slow hosts: 3 hosts, 15 tasks, twice the median, 1 s"), {}},
			Changes: []Change{job("spark.excludeOnFailure.enabled", "true", "if its tasks fail, too; else replace the node")},
		},
		{
			ID: Speculation, Title: "Wasted speculation", Subject: OfStage, Unit: Share,
			Signal:  "killed tasks as a share of all that ended, while speculation is on",
			Columns: []string{"stages.num_killed_tasks", "stages.num_complete_tasks", "stages.duration_ms", "environments.value"},
			Metrics: []string{"spark_task_count_total"},
			Limit:   Limit{0.1, 0.3},
			Floors: []Floor{
				{MinFailed, 5, Count, "tasks that were killed, at least"},
				{MinStage, 0.005, Share, "duration of the stage as a share of the wall clock, at least"},
			},
			Basis: Event, Route: Note,
			Sources: []Source{forensics("5 tasks"), practices("speculation can duplicate or lose output in S3"), {}},
			Changes: []Change{job("spark.speculation", "false", "")},
		},
		{
			ID: ResultLarge, Title: "Large results to the driver", Subject: OfStage, Unit: Bytes,
			Signal:  "bytes that the tasks of a stage sent to the driver",
			Columns: []string{"stages.result_size", "stages.duration_ms"},
			Limit:   Limit{16 * mib, 0.8 * gib},
			Floors:  []Floor{{MinStage, 0.005, Share, "duration of the stage as a share of the wall clock, at least"}},
			Basis:   Event, Route: Note,
			Sources: []Source{
				{"aws-emr-advisor", "16 MiB per job"},
				{"Spark configuration", "spark.driver.maxResultSize is 1g; critical at four fifths of it, own"},
			},
			Changes: []Change{job("spark.driver.maxResultSize", "", "only if the result must reach the driver, and its memory holds it")},
			NotLive: "no metric has the results of one stage",
		},
	}
}
