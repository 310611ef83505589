package tables

// Completeness is a row of the table completeness: the rows that one endpoint of an
// application should have returned, and those seen. Nothing missing means nothing known to be.
type Completeness struct {
	Attempt
	Endpoint string `parquet:"endpoint,dict" doc:"applications, jobs, stages, tasks, task_summaries, executors, sql, sql_nodes or environments"`
	Expected *int64 `parquet:"expected,optional" doc:"rows that must exist by ids and counts; null if unknown"`
	Seen     int64  `parquet:"seen" doc:"rows that were read"`
	Missing  *int64 `parquet:"missing,optional" doc:"expected - seen; null if expected is null"`
	Reason   string `parquet:"reason,dict" doc:"retention, compaction, dropped_events, paging, truncation, missing_parts, cap, in_progress, unavailable, unsupported, or empty if nothing is missing"`
	Detail   string `parquet:"detail" doc:"in words"`
	Final    bool   `parquet:"final" doc:"reading again cannot find more"`
}

// Finding is a row of the table findings.
type Finding struct {
	Attempt
	Finding    string   `parquet:"finding,dict" doc:"kind, e.g. skew"`
	Severity   string   `parquet:"severity,dict" doc:"critical, warning or info"`
	StageID    *int64   `parquet:"stage_id,optional" doc:"stage concerned"`
	StageTry   *int64   `parquet:"stage_attempt_id,optional" doc:"attempt of the stage"`
	SQLID      *int64   `parquet:"sql_id,optional" doc:"SQL execution concerned"`
	Impact     *int64   `parquet:"impact_ms,optional" doc:"upper bound of the wall-clock time that it cost, in milliseconds"`
	ImpactRate *float64 `parquet:"impact_ratio,optional" doc:"share of the application's wall-clock time, 0 to 1"`
	Summary    string   `parquet:"summary" doc:"what was found, with its figures"`
	Evidence   []string `parquet:"evidence,list" doc:"keys of the rows that show it: table/column=value…"`
	Advice     string   `parquet:"advice" doc:"what to change"`
}

// IneffJobRaw is a row of the table ineffjobraw: the flags of a stage's attempt.
type IneffJobRaw struct {
	Attempt
	Stage
	SkewFlag           *bool  `parquet:"skew_flag,optional" doc:"median > 2 × minimum or maximum > 2 × median of the tasks' durations"`
	MemorySpillFlag    *bool  `parquet:"memory_spill_flag,optional" doc:"median or maximum of memory spilled by a task > 256 MiB"`
	DiskSpillFlag      *bool  `parquet:"disk_spill_flag,optional" doc:"median or maximum of disk spilled by a task > 256 MiB"`
	ChunkFlag          *bool  `parquet:"chunk_flag,optional" doc:"median or maximum of data read, written or shuffled by a task > 512 MiB"`
	ProcessingRateFlag *bool  `parquet:"processing_rate_flag,optional" doc:"median bytes per millisecond outside 0.01 to 10,000; not part of inefficient"`
	CompletionRateFlag *bool  `parquet:"completion_rate_flag,optional" doc:"task_completion_rate < 90"`
	Inefficient        bool   `parquet:"inefficient" doc:"any flag except processing_rate_flag is set"`
	StageMillis        *int64 `parquet:"stage_ms,optional" doc:"duration of the stage's attempt"`
}

// IneffJobAgg is a row of the table ineffjobagg: how inefficient an application was.
type IneffJobAgg struct {
	Attempt
	IneffStageAgg *float64 `parquet:"ineffstageagg,optional" doc:"time of inefficient stages / time of all stages, 0 to 100; the notebooks list clusters above 25, whose share is that of the sums of stage_ms in ineffjobraw"`
	StartTime     Millis   `parquet:"start_time,optional,timestamp(millisecond)" doc:"start of the application"`
}

// PhotonAnalysis is a row of the table photonanalysis: how much of an application Photon supports.
type PhotonAnalysis struct {
	Attempt
	JobPhotonPerc *float64 `parquet:"jobphotonperc,optional" doc:"share of the operators that Photon supports, 0 to 100; null until its rules are written"`
}
