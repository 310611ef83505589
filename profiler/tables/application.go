package tables

import (
	"slices"
	"strings"
)

// Application is a row of the table applications: an attempt of a Spark application.
type Application struct {
	Attempt
	ApplicationName  string   `parquet:"application_name" doc:"spark.app.name"`
	DurationMillis   *int64   `parquet:"duration_ms,optional" doc:"end_time - start_time; null while the application runs"`
	DurationMinutes  *float64 `parquet:"duration_minutes,optional" doc:"duration_ms in minutes"`
	StartTime        Millis   `parquet:"start_time,optional,timestamp(millisecond)" doc:"when the SparkContext started"`
	EndTime          Millis   `parquet:"end_time,optional,timestamp(millisecond)" doc:"when the SparkContext stopped; null while it runs or if the driver was killed"`
	SubmitTime       Millis   `parquet:"submit_time,optional,timestamp(millisecond)" doc:"spark.app.submitTime"`
	LastEventTime    Millis   `parquet:"last_event_time,optional,timestamp(millisecond)" doc:"latest time of any event; logs only"`
	Completed        bool     `parquet:"completed" doc:"the application ended by itself; false while it runs or if its driver was killed"`
	SparkVersion     string   `parquet:"spark_version,dict" doc:"version of Spark"`
	SparkUser        string   `parquet:"spark_user,dict" doc:"user who ran it"`
	Queue            *string  `parquet:"queue,optional,dict" doc:"YARN's queue (spark.yarn.queue)"`
	DeployMode       *string  `parquet:"deploy_mode,optional,dict" doc:"client or cluster"`
	Master           *string  `parquet:"master,optional,dict" doc:"spark.master"`
	ExecutorCores    *int64   `parquet:"executor_cores,optional" doc:"spark.executor.cores"`
	ExecutorMemory   *int64   `parquet:"executor_memory_bytes,optional" doc:"spark.executor.memory, in bytes"`
	DriverMemory     *int64   `parquet:"driver_memory_bytes,optional" doc:"spark.driver.memory, in bytes"`
	MaxTotalCores    *int64   `parquet:"max_total_cores,optional" doc:"most cores that executors had at a time"`
	CoreMillis       *int64   `parquet:"core_ms,optional" doc:"executors' cores times their lifetime, in core-milliseconds"`
	NumJobs          int64    `parquet:"num_jobs" doc:"jobs"`
	NumFailedJobs    int64    `parquet:"num_failed_jobs" doc:"jobs that failed"`
	NumStages        int64    `parquet:"num_stages" doc:"attempts of stages that were submitted"`
	NumTasks         int64    `parquet:"num_tasks" doc:"attempts of tasks that were launched"`
	NumFailedTasks   int64    `parquet:"num_failed_tasks" doc:"attempts of tasks that failed; killed ones are not failed"`
	NumSQLExecutions int64    `parquet:"num_sql_executions" doc:"SQL executions"`
	StepID           *string  `parquet:"step_id,optional,dict" doc:"EMR step that started it, from the step's own record or log; never inferred from overlapping times"`
	TraceID          *string  `parquet:"trace_id,optional" doc:"trace of the application in Tempo (spark.observatory.traceparent)"`
	Outcome          *string  `parquet:"outcome,optional,dict" doc:"succeeded, failed or killed, by the driver's exit code (since Spark 4.0) or the state of the step that ran it alone; null if unknown"`
	PlanShape        *string  `parquet:"plan_shape,optional" doc:"identifies the set of its executions' plan_shape; null without executions, or if a plan is missing"`
	FailureCause     *string  `parquet:"failure_cause,optional" doc:"why the step that ran it alone failed, by the step's logs in S3: the exception and the line that raised it, or how the program ended; null if unknown"`
	MasterCores      *int64   `parquet:"application_master_cores,optional" doc:"cores of YARN's application master: spark.driver.cores in cluster mode, spark.yarn.am.cores in client mode; null if not set, which is 1"`
	AirflowDAG       *string  `parquet:"airflow_dag_id,optional,dict" doc:"Airflow's DAG whose task started it (spark.observatory.airflow.dag_id)"`
	AirflowTask      *string  `parquet:"airflow_task_id,optional,dict" doc:"Airflow's task that started it"`
	AirflowRun       *string  `parquet:"airflow_run_id,optional" doc:"run of the DAG"`
	AirflowTry       *int64   `parquet:"airflow_try_number,optional" doc:"try of the task, from 1"`
}

// Outcomes of applications.
const (
	Succeeded = "succeeded"
	Failed    = "failed"
	Killed    = "killed"
)

// Job is a row of the table jobs.
type Job struct {
	Attempt
	JobID              int64    `parquet:"job_id" json:"jobId" doc:"job"`
	JobName            string   `parquet:"job_name" json:"name" doc:"call site of its last stage"`
	Description        *string  `parquet:"description,optional" json:"description" doc:"SparkContext.setJobDescription"`
	JobGroup           *string  `parquet:"job_group,optional" json:"jobGroup" doc:"SparkContext.setJobGroup"`
	Status             string   `parquet:"status,dict" json:"status" doc:"RUNNING, SUCCEEDED, FAILED or UNKNOWN"`
	FailureReason      *string  `parquet:"failure_reason,optional" doc:"exception of a failed job; logs only"`
	SubmissionTime     Millis   `parquet:"submission_time,optional,timestamp(millisecond)" json:"submissionTime" doc:"start"`
	CompletionTime     Millis   `parquet:"completion_time,optional,timestamp(millisecond)" json:"completionTime" doc:"end"`
	DurationMillis     *int64   `parquet:"duration_ms,optional" doc:"completion_time - submission_time"`
	NumTasks           int64    `parquet:"num_tasks" json:"numTasks" doc:"tasks of all its stages, as planned"`
	NumActiveTasks     int64    `parquet:"num_active_tasks" json:"numActiveTasks" doc:"running tasks"`
	NumCompletedTasks  int64    `parquet:"num_completed_tasks" json:"numCompletedTasks" doc:"attempts that succeeded"`
	NumSkippedTasks    int64    `parquet:"num_skipped_tasks" json:"numSkippedTasks" doc:"tasks of skipped stages"`
	NumFailedTasks     int64    `parquet:"num_failed_tasks" json:"numFailedTasks" doc:"attempts that failed"`
	NumKilledTasks     int64    `parquet:"num_killed_tasks" json:"numKilledTasks" doc:"attempts that were killed"`
	NumActiveStages    int64    `parquet:"num_active_stages" json:"numActiveStages" doc:"running stages"`
	NumCompletedStages int64    `parquet:"num_completed_stages" json:"numCompletedStages" doc:"stages that completed"`
	NumSkippedStages   int64    `parquet:"num_skipped_stages" json:"numSkippedStages" doc:"stages skipped because their output already existed"`
	NumFailedStages    int64    `parquet:"num_failed_stages" json:"numFailedStages" doc:"stages that failed"`
	StageIDs           []int64  `parquet:"stage_ids,list" json:"stageIds" doc:"stages that it may need"`
	SQLID              *int64   `parquet:"sql_id,optional" doc:"SQL execution of the job; logs only"`
	TaskSuccessRate    *float64 `parquet:"task_success_rate,optional" doc:"num_completed_tasks / num_tasks, 0 to 100"`
}

// Executor is a row of the table executors. The driver is one, too.
type Executor struct {
	Attempt
	ExecutorID         string  `parquet:"executor_id,dict" json:"id" doc:"a number, or driver"`
	HostPort           string  `parquet:"host_port" json:"hostPort" doc:"host and port of its block manager"`
	IsActive           bool    `parquet:"is_active" json:"isActive" doc:"it has not been removed"`
	RDDBlocks          *int64  `parquet:"rdd_blocks,optional" json:"rddBlocks" doc:"cached blocks at the end; REST only"`
	MemoryUsed         *int64  `parquet:"memory_used,optional" json:"memoryUsed" doc:"bytes of storage memory at the end; REST only"`
	DiskUsed           *int64  `parquet:"disk_used,optional" json:"diskUsed" doc:"bytes on disk at the end; REST only"`
	TotalCores         int64   `parquet:"total_cores" json:"totalCores" doc:"cores"`
	MaxTasks           int64   `parquet:"max_tasks" json:"maxTasks" doc:"tasks that it runs at a time"`
	ActiveTasks        int64   `parquet:"active_tasks" json:"activeTasks" doc:"running tasks"`
	FailedTasks        int64   `parquet:"failed_tasks" json:"failedTasks" doc:"attempts that failed"`
	CompletedTasks     int64   `parquet:"completed_tasks" json:"completedTasks" doc:"attempts that succeeded"`
	TotalTasks         int64   `parquet:"total_tasks" json:"totalTasks" doc:"active, failed and completed"`
	TotalDuration      int64   `parquet:"total_duration" json:"totalDuration" doc:"milliseconds of all its tasks"`
	TotalGCTime        int64   `parquet:"total_gc_time" json:"totalGCTime" doc:"milliseconds of garbage collection in its tasks"`
	TotalInputBytes    int64   `parquet:"total_input_bytes" json:"totalInputBytes" doc:"bytes read by its tasks"`
	TotalShuffleRead   int64   `parquet:"total_shuffle_read" json:"totalShuffleRead" doc:"shuffle bytes read by its tasks"`
	TotalShuffleWrite  int64   `parquet:"total_shuffle_write" json:"totalShuffleWrite" doc:"shuffle bytes written by its tasks"`
	IsBlacklisted      bool    `parquet:"is_blacklisted" json:"isBlacklisted" doc:"same as is_excluded, under its name before Spark 3.1"`
	IsExcluded         bool    `parquet:"is_excluded" json:"isExcluded" doc:"Spark gives it no more tasks"`
	MaxMemory          int64   `parquet:"max_memory" json:"maxMemory" doc:"bytes of storage memory"`
	AddTime            Millis  `parquet:"add_time,optional,timestamp(millisecond)" json:"addTime" doc:"when it registered"`
	RemoveTime         Millis  `parquet:"remove_time,optional,timestamp(millisecond)" json:"removeTime" doc:"when it was removed"`
	RemoveReason       *string `parquet:"remove_reason,optional" json:"removeReason" doc:"why"`
	ResourceProfileID  *int64  `parquet:"resource_profile_id,optional" json:"resourceProfileId" doc:"resource profile; since Spark 3.1"`
	PeakJVMHeap        *int64  `parquet:"peak_jvm_heap_bytes,optional" doc:"JVMHeapMemory; since Spark 3.0"`
	PeakJVMOffHeap     *int64  `parquet:"peak_jvm_off_heap_bytes,optional" doc:"JVMOffHeapMemory; since Spark 3.0"`
	PeakOnHeapExec     *int64  `parquet:"peak_on_heap_execution_bytes,optional" doc:"OnHeapExecutionMemory; since Spark 3.0"`
	PeakOffHeapExec    *int64  `parquet:"peak_off_heap_execution_bytes,optional" doc:"OffHeapExecutionMemory; since Spark 3.0"`
	PeakOnHeapStorage  *int64  `parquet:"peak_on_heap_storage_bytes,optional" doc:"OnHeapStorageMemory; since Spark 3.0"`
	PeakOffHeapStorage *int64  `parquet:"peak_off_heap_storage_bytes,optional" doc:"OffHeapStorageMemory; since Spark 3.0"`
	PeakProcessTreeRSS *int64  `parquet:"peak_process_tree_rss_bytes,optional" doc:"resident memory of JVM, Python and others, where Spark measures it"`
	ExecutorLogs       string  `parquet:"executor_logs" doc:"URLs of its logs by name, as JSON"`
	RemoveClass        *string `parquet:"remove_class,optional,dict" doc:"kind of remove_reason: idle, lost, decommissioned, killed, preempted, memory or other"`
}

// Classes of removals of executors: the values of the label reason of
// spark_executor_removed_total, in the order of observatory.spark.ExecutorStatistics.
const (
	RemovedIdle           = "idle"
	RemovedLost           = "lost"
	RemovedDecommissioned = "decommissioned"
	RemovedKilled         = "killed"
	RemovedPreempted      = "preempted"
	RemovedMemory         = "memory"
	RemovedOther          = "other"
)

// Losses are the classes of executors that were removed although the application could have used
// them.
func Losses() []string { return []string{RemovedLost, RemovedKilled, RemovedMemory, RemovedPreempted} }

// IsLoss reports whether a class is one of Losses.
func IsLoss(class string) bool { return slices.Contains(Losses(), class) }

// Host returns the host of an executor, without the port of its block manager.
func (e *Executor) Host() string {
	host, _, _ := strings.Cut(e.HostPort, ":")
	return host
}

// Environment is a row of the table environments: one property of an application.
type Environment struct {
	Attempt
	Section string `parquet:"section,dict" doc:"spark, hadoop, system, metrics or runtime"`
	Name    string `parquet:"name,dict" doc:"property"`
	Value   string `parquet:"value" doc:"value; masked if Spark's own redaction pattern or ours matches"`
	Masked  bool   `parquet:"masked" doc:"the value was masked"`
}

// Phase is a row of the table phases: an application's time in one phase.
type Phase struct {
	Attempt
	Phase          string  `parquet:"phase,dict" doc:"resource_wait, compute, io_write, driver, submit or idle"`
	DurationMillis int64   `parquet:"duration_ms" doc:"milliseconds of wall-clock time; the phases of an application add up to all of it"`
	Ratio          float64 `parquet:"ratio" doc:"share of the wall-clock time, 0 to 1"`
	Approximate    bool    `parquet:"approximate" doc:"events are missing"`
}
