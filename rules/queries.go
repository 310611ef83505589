package rules

// Rules of SQL executions.
const (
	SmallFilesRead    ID = "small_files_read"
	SmallFilesWritten ID = "small_files_written"
	SlowCommit        ID = "commit_slow"
	LargeBroadcast    ID = "broadcast_large"
	CrossJoin         ID = "cross_join"
	PythonUDF         ID = "python_udf"
)

// Floors of the rules of SQL executions.
const (
	MinFiles  FloorName = "files"
	MinSQL    FloorName = "sql_share"
	MinRows   FloorName = "rows"
	MinCommit FloorName = "commit_ms"
)

// minSQL is the floor of findings about SQL executions that claim no time.
func minSQL() Floor {
	return Floor{MinSQL, 0.005, Share, "duration of the execution as a share of the wall clock, at least"}
}

const noSQLMetrics = "SQL metrics reach the event log only"

func queries() []Rule {
	files := Source{"DataFlint", "small files: below 3 MB and more than 100"}
	return []Rule{
		{
			ID: SmallFilesRead, Title: "Small files read", Subject: OfSQL, Unit: Bytes,
			Signal:  "mean size of the files that a scan read",
			Columns: []string{"sql_nodes.metric", "sql_nodes.value", "sql.duration_ms"},
			Limit:   Limit{3 * mib, mib},
			Floors:  []Floor{{MinFiles, 100, Count, "files, more than"}, minSQL()},
			Basis:   Event, Route: Note, Sources: []Source{files, forensics("3 MiB and 100 files"), practices("files of 128 MB or more")},
			Changes: []Change{job("spark.sql.files.openCostInBytes", "1048576",
				"if files cannot be compacted: a quarter of the default, so that a task reads four times as many")},
			NotLive: noSQLMetrics,
		},
		{
			ID: SmallFilesWritten, Title: "Small files written", Subject: OfSQL, Unit: Bytes,
			Signal: "mean size of the files that a write made; where Spark does not know it, of what the writing tasks read for each file",
			Columns: []string{
				"sql_nodes.metric", "sql_nodes.value", "sql.duration_ms", "sql.job_ids", "jobs.stage_ids", "stages.output_bytes",
				"stages.output_records", "stages.input_bytes", "stages.shuffle_read_bytes",
			},
			Limit:  Limit{3 * mib, mib},
			Floors: []Floor{{MinFiles, 100, Count, "files, more than"}, minSQL()},
			Basis:  Event, Route: Note, Sources: []Source{files, practices("files of 128 MB or more")},
			Changes: []Change{job("spark.sql.adaptive.advisoryPartitionSizeInBytes", "128m",
				"with the hint REBALANCE before the write: the size of each file's data in memory")},
			NotLive: noSQLMetrics,
		},
		{
			ID: SlowCommit, Title: "Slow commit", Subject: OfSQL, Unit: Share,
			Signal:  "time in which the driver committed the write as a share of the execution's duration",
			Columns: []string{"sql_nodes.metric", "sql_nodes.value", "sql.duration_ms"},
			Limit:   Limit{0.2, 0.4},
			Floors:  []Floor{{MinCommit, 30_000, Milliseconds, "time of the commit, at least"}},
			Basis:   Exact, Route: Note,
			Sources: own(),
			NotLive: noSQLMetrics,
		},
		{
			ID: LargeBroadcast, Title: "Large broadcasts", Subject: OfSQL, Unit: Bytes,
			Signal:  "data size of a BroadcastExchange",
			Columns: []string{"sql_nodes.node_name", "sql_nodes.metric", "sql_nodes.value", "sql.duration_ms"},
			Limit:   Limit{gib, 4 * gib},
			Floors:  []Floor{minSQL()},
			Basis:   Event, Route: Note,
			Sources: []Source{
				{"DataFlint", "large broadcast: 1 GiB"}, forensics("1 GiB"), practices("broadcast joins: below 1 GB"),
				{"Spark", "BroadcastExchangeExec refuses 8 GiB; half of it is critical, own"},
			},
			Changes: []Change{
				job("spark.sql.autoBroadcastJoinThreshold", "10485760", "if it was raised; else remove the query's broadcast hint"),
				job("spark.sql.adaptive.autoBroadcastJoinThreshold", "10485760", "the same for joins that adaptive execution changes"),
			},
			NotLive: noSQLMetrics,
		},
		{
			ID: CrossJoin, Title: "Cross joins", Subject: OfSQL, Unit: Times,
			Signal:  "rows that a join without an equality condition returned, divided by those that the execution scanned",
			Columns: []string{"sql_nodes.node_name", "sql_nodes.metric", "sql_nodes.value", "sql.duration_ms"},
			Limit:   Limit{10, 100},
			Floors:  []Floor{{MinRows, 1e6, Count, "rows that the join returned, at least"}, minSQL()},
			Basis:   Event, Route: Note,
			Sources: []Source{forensics("1e6 rows and 10 times the larger input"), {}},
			NotLive: noSQLMetrics,
		},
		{
			ID: PythonUDF, Title: "Time in Python", Subject: OfSQL, Unit: Share,
			Signal: "time to run Python workers as a share of the run time of the execution's stages; before Spark 4, which measures it, the " +
				"time in which tasks of these stages, if they do not write, neither computed in the JVM, nor collected garbage, nor waited for " +
				"a shuffle",
			Columns: []string{
				"sql_nodes.node_name", "sql_nodes.metric", "sql_nodes.value", "sql.job_ids", "sql.duration_ms", "jobs.stage_ids",
				"stages.executor_run_time", "stages.executor_cpu_time", "stages.jvm_gc_time", "stages.shuffle_fetch_wait_time",
				"stages.shuffle_write_time", "stages.output_bytes", "stages.output_records",
			},
			Limit:  Limit{0.3, 0.6},
			Floors: []Floor{{MinRunTime, 10_000, Milliseconds, "run time of the execution's stages together, at least"}},
			Basis:  Shared, Route: Note, Sources: own(),
			Changes: []Change{
				job("spark.sql.execution.arrow.pyspark.enabled", "true", "for pandas UDFs and toPandas; built-in functions need no Python"),
			},
			NotLive: noSQLMetrics,
		},
	}
}
