package rules

// Rules of applications.
const (
	JobFailure   ID = "job_failure"
	ResourceWait ID = "resource_wait"
	SlowWrite    ID = "write_slow"
	DriverBound  ID = "driver_bound"
	Slower       ID = "slower_than_usual"
	RenameCommit ID = "rename_commit"
	S3Throttled  ID = "s3_throttled"
)

// Floors of the rules of applications.
const (
	MinPhase   FloorName = "phase_ms"
	ShortWait  FloorName = "short_wait_ms"
	WaitShare  FloorName = "wait_share"
	MinRuns    FloorName = "runs"
	MostRuns   FloorName = "most_runs"
	Deviations FloorName = "deviations"
	Normal     FloorName = "normal"
	MinExcess  FloorName = "excess_ms"
)

func applications() []Rule {
	return []Rule{
		{
			ID: JobFailure, Title: "Failed application", Subject: OfApplication, Unit: Count,
			Signal: "applications that failed or were killed: this one",
			Columns: []string{
				"applications.outcome", "applications.num_failed_jobs", "jobs.failure_reason", "stages.failure_reason", "sql.error_message",
			},
			Limit: Limit{1, 1},
			Basis: Event, Route: Page, Sources: own(),
			NotLive: "the driver's plugin cannot know the exit code; the step's own record has it",
		},
		{
			ID: ResourceWait, Title: "Waiting for resources", Subject: OfApplication, Unit: Seconds,
			Signal:  "time in which no executor could run the work that was there",
			Columns: []string{"phases.duration_ms"},
			Metrics: []string{"spark_resource_wait_seconds", "spark_first_executor_wait_seconds"},
			Limit:   Limit{300, 600},
			Floors: []Floor{
				{ShortWait, 30_000, Milliseconds, "shorter wait that is found as well, if it is a large share"},
				{WaitShare, 0.3, Share, "such a share of the application's time, at least"},
			},
			Basis: Exact, Route: Page,
			Sources: []Source{
				{"requirements of this project", "what the data teams tolerate for which the timeline was made"},
				{"sparkforensics", "threshold tables: a cold start of more than 30 s; the share is own"},
			},
			Changes: []Change{
				{
					Classification: "capacity-scheduler", Property: "yarn.scheduler.capacity.maximum-am-resource-percent", Value: "0.5",
					When: "if applications are accepted, but their masters do not start",
				},
				job("spark.dynamicAllocation.initialExecutors", "", "if executors come one after the other"),
				job("spark.executor.memory", "", "smaller, if no node has room for a container of this size"),
			},
		},
		{
			ID: SlowWrite, Title: "Slow writes", Subject: OfApplication, Unit: Share,
			Signal: "time in which tasks wrote or a write committed, without what the stages that write computed, as a share of the wall clock",
			Columns: []string{
				"phases.duration_ms", "phases.ratio", "stages.output_bytes", "stages.output_records", "stages.executor_cpu_time",
				"stages.executor_run_time",
				"stages.shuffle_fetch_wait_time", "stages.jvm_gc_time", "stages.duration_ms",
			},
			Metrics: []string{"spark_phase_io_write_seconds", "spark_stage_write_compute_seconds_total", "spark_wall_seconds"},
			Limit:   Limit{0.3, 0.5},
			Floors:  []Floor{{MinPhase, 60_000, Milliseconds, "time of writing, at least"}},
			Basis:   Exact, Route: Note, Sources: own(),
			Changes: []Change{
				{
					Classification: "spark-defaults", Property: "spark.sql.parquet.output.committer.class",
					Value: "com.amazon.emr.committer.EmrOptimizedSparkSqlParquetOutputCommitter", Until: "emr-7.9",
					When: "if it was changed: EMR's committer writes to the final place, others rename, which S3 does by copying",
				},
				job("spark.sql.hive.convertMetastoreParquet", "true", "if it was changed: Hive's writer bypasses EMR's committer"),
			},
		},
		{
			ID: DriverBound, Title: "Waiting for the driver", Subject: OfApplication, Unit: Share,
			Signal:  "time in which only the driver worked, as a share of the wall clock",
			Columns: []string{"phases.duration_ms", "phases.ratio"},
			Metrics: []string{"spark_phase_driver_seconds", "spark_wall_seconds"},
			Limit:   Limit{0.3, 0.5},
			Floors:  []Floor{{MinPhase, 60_000, Milliseconds, "time of the driver, at least"}},
			Basis:   Exact, Route: Note,
			Sources: []Source{{"aws-emr-advisor", "gaps between jobs of more than 1 s"}, {}},
			Changes: []Change{
				job("spark.sql.sources.parallelPartitionDiscovery.threshold", "32", "if it was raised and the driver lists many paths"),
				job("spark.scheduler.mode", "FAIR", "if the program can start independent jobs from several threads"),
			},
		},
		{
			ID: Slower, Title: "Slower than usual", Subject: OfApplication, Unit: Times,
			Signal: "duration divided by the median of the earlier runs of the same name and shape of plans; digits in names do not count",
			Columns: []string{
				"applications.application_name", "applications.duration_ms", "applications.start_time", "applications.plan_shape", "phases.duration_ms",
			},
			Limit: Limit{1.2, 2},
			Floors: []Floor{
				{MinRuns, 5, Count, "earlier runs that ended by themselves, at least"},
				{MostRuns, 20, Count, "earlier runs that are compared: the latest"},
				{Deviations, 3, Times, "the excess, divided by the earlier runs' median absolute deviation (MAD), is at least this"},
				{Normal, 1.4826, Times, "standard deviations per MAD of normally distributed values"},
				{MinExcess, 60_000, Milliseconds, "the excess is at least this"},
			},
			Basis: Event, Route: Page,
			Sources: []Source{{"Iglewicz and Hoaglin", "How to Detect and Handle Outliers: the modified z-score; the limits are own"}},
			NotLive: "an application that runs has not ended",
		},
		{
			ID: RenameCommit, Title: "Commits by copying", Subject: OfApplication, Unit: Count,
			Signal:  "objects that the S3A file system copied: a rename in S3 is a copy",
			Metrics: []string{"hadoop_s3a_object_copy_requests_total"},
			Limit:   Limit{1, 1},
			Route:   Note,
			Sources: []Source{{"EMR", "magic commit protocol: the default with S3A, which renames nothing"}},
			Changes: []Change{{
				Classification: "spark-defaults", Property: "spark.sql.hive.convertMetastoreParquet", Value: "true", Since: "emr-7.10",
				When: "if it was changed: Hive's writer bypasses EMR's committer",
			}},
			NotInTables: "Spark's history has nothing of S3's requests",
		},
		{
			ID: S3Throttled, Title: "Throttled by S3", Subject: OfApplication, Unit: Share,
			Signal:  "requests that S3 refused with 503 Slow Down, as a share of all",
			Metrics: []string{"hadoop_s3a_store_io_throttled_total", "hadoop_s3a_store_io_request_total"},
			Limit:   Limit{0.01, 0.05},
			Route:   Page,
			Sources: []Source{{"AWS Knowledge Center", "3,500 writes and 5,500 reads a second per prefix; the shares are own"}},
			Changes: []Change{
				{
					Classification: "core-site", Property: "fs.s3a.aimd.enabled", Value: "true", Since: "emr-7.10",
					When: "if the load cannot be spread over more prefixes, or be written as fewer files",
				},
				{
					Classification: "emrfs-site", Property: "fs.s3.maxRetries", Value: "20", Until: "emr-7.9",
					When: "the same for EMRFS, which reports no metrics: below 7.10 this is not checked",
				},
			},
			NotInTables: "Spark's history has nothing of S3's requests",
		},
	}
}
