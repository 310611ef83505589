package rules

// Rules of shuffles.
const (
	FetchWait         ID = "fetch_wait"
	SmallBlocks       ID = "small_blocks"
	LargeShuffleReads ID = "large_shuffle_reads"
)

// Floors of the rules of shuffles.
const (
	MinBlocks FloorName = "blocks"
	MinWait   FloorName = "fetch_wait_share"
)

func shuffles() []Rule {
	return []Rule{
		{
			ID: FetchWait, Title: "Waiting for shuffle blocks", Subject: OfStage, Unit: Share,
			Signal:  "time that tasks waited for shuffle blocks as a share of their run time",
			Columns: []string{"stages.shuffle_fetch_wait_time", "stages.executor_run_time", "stages.duration_ms"},
			Metrics: []string{"spark_task_time_seconds_total", "spark_stage_cost_seconds_total"},
			Limit:   Limit{0.2, 0.4},
			Floors:  []Floor{{MinRunTime, 10_000, Milliseconds, "run time of all tasks together, at least"}},
			Basis:   Shared, Route: Note, Sources: own(),
			Changes: []Change{
				job("spark.reducer.maxSizeInFlight", "96m", "if blocks are large and the network is not busy"),
				job("spark.sql.shuffle.partitions", "", "if blocks are small: fewer partitions make larger ones"),
			},
		},
		{
			ID: SmallBlocks, Title: "Small shuffle blocks", Subject: OfStage, Unit: Bytes,
			Signal: "mean size of the shuffle blocks that the stage read",
			Columns: []string{
				"stages.shuffle_read_bytes", "stages.shuffle_remote_blocks_fetched", "stages.shuffle_local_blocks_fetched",
				"stages.shuffle_fetch_wait_time", "stages.executor_run_time", "stages.duration_ms",
			},
			Limit: Limit{64 << 10, 16 << 10},
			Floors: []Floor{
				{MinBlocks, 10_000, Count, "blocks that the stage read, at least"},
				{MinWait, 0.1, Share, "time that its tasks waited for them as a share of their run time, at least"},
				target(),
			},
			Basis: Shared, Route: Note,
			Sources: []Source{practices("2.2 KB per block called for fewer partitions"), {}},
			Changes: []Change{
				job("spark.sql.adaptive.coalescePartitions.parallelismFirst", "false", "so that adaptive execution merges small partitions"),
				job("spark.sql.shuffle.partitions", "", "fewer, still a multiple of the application's cores"),
			},
			NotLive: "no metric counts shuffle blocks",
		},
		{
			ID: LargeShuffleReads, Title: "Large shuffle reads", Subject: OfStage, Unit: Bytes,
			Signal:  "shuffle bytes that the task with most of them read",
			Columns: []string{"task_summaries.shuffle_read_bytes", "stages.shuffle_read_bytes", "stages.duration_ms"},
			Metrics: []string{"spark_task_shuffle_read_bytes"},
			Limit:   Limit{512 * mib, 2 * gib},
			Live: &Live{
				Signal: "95th percentile of the shuffle bytes that a task read", Unit: Bytes, Limit: Limit{200 * mib, 512 * mib}, Sources: own(),
			},
			Floors: []Floor{{MinStage, 0.005, Share, "duration of the stage as a share of the wall clock, at least"}, target()},
			Basis:  Event, Route: Note,
			Sources: []Source{{"spark-observability-agent", "efficiency_analysis: 512 MB per task"}, {}},
			Changes: morePartitions(),
		},
	}
}
