package tables

import "reflect"

// StageRow is a row of the table stages: an attempt of a stage.
type StageRow struct {
	Attempt
	Stage
	StageName             string   `parquet:"stage_name" json:"name" doc:"call site"`
	Description           *string  `parquet:"description,optional" json:"description" doc:"description of its job"`
	Status                string   `parquet:"status,dict" json:"status" doc:"ACTIVE, COMPLETE, FAILED, PENDING or SKIPPED"`
	FailureReason         *string  `parquet:"failure_reason,optional" json:"failureReason" doc:"why it failed"`
	NumTasks              int64    `parquet:"num_tasks" json:"numTasks" doc:"tasks, as planned"`
	NumActiveTasks        int64    `parquet:"num_active_tasks" json:"numActiveTasks" doc:"running attempts"`
	NumCompleteTasks      int64    `parquet:"num_complete_tasks" json:"numCompleteTasks" doc:"attempts that succeeded"`
	NumFailedTasks        int64    `parquet:"num_failed_tasks" json:"numFailedTasks" doc:"attempts that failed"`
	NumKilledTasks        int64    `parquet:"num_killed_tasks" json:"numKilledTasks" doc:"attempts that were killed"`
	ExecutorRunTime       int64    `parquet:"executor_run_time" json:"executorRunTime" doc:"milliseconds, of all tasks"`
	ExecutorCPUTime       int64    `parquet:"executor_cpu_time" json:"executorCpuTime" doc:"nanoseconds, of all tasks"`
	DeserializeTime       int64    `parquet:"executor_deserialize_time" json:"executorDeserializeTime" doc:"milliseconds, of all tasks"`
	DeserializeCPUTime    int64    `parquet:"executor_deserialize_cpu_time" json:"executorDeserializeCpuTime" doc:"nanoseconds, of all tasks"`
	ResultSize            int64    `parquet:"result_size" json:"resultSize" doc:"bytes sent to the driver"`
	JVMGCTime             int64    `parquet:"jvm_gc_time" json:"jvmGcTime" doc:"milliseconds, of all tasks"`
	ResultSerialization   int64    `parquet:"result_serialization_time" json:"resultSerializationTime" doc:"milliseconds, of all tasks"`
	PeakExecutionMemory   int64    `parquet:"peak_execution_memory" json:"peakExecutionMemory" doc:"bytes, summed over tasks, as Spark does"`
	SubmissionTime        Millis   `parquet:"submission_time,optional,timestamp(millisecond)" json:"submissionTime" doc:"start"`
	FirstTaskLaunchedTime Millis   `parquet:"first_task_launched_time,optional,timestamp(millisecond)" json:"firstTaskLaunchedTime" doc:"launch of its first task"`
	CompletionTime        Millis   `parquet:"completion_time,optional,timestamp(millisecond)" json:"completionTime" doc:"end"`
	DurationMillis        *int64   `parquet:"duration_ms,optional" doc:"completion_time - submission_time"`
	InputBytes            int64    `parquet:"input_bytes" json:"inputBytes" doc:"bytes read"`
	InputRecords          int64    `parquet:"input_records" json:"inputRecords" doc:"records read"`
	OutputBytes           int64    `parquet:"output_bytes" json:"outputBytes" doc:"bytes written"`
	OutputRecords         int64    `parquet:"output_records" json:"outputRecords" doc:"records written"`
	ShuffleReadBytes      int64    `parquet:"shuffle_read_bytes" doc:"shuffle bytes read, local and remote"`
	ShuffleReadRecords    int64    `parquet:"shuffle_read_records" json:"shuffleReadRecords" doc:"shuffle records read"`
	ShuffleRemoteBytes    int64    `parquet:"shuffle_remote_bytes_read" json:"shuffleRemoteBytesRead" doc:"shuffle bytes read from other hosts"`
	ShuffleRemoteToDisk   int64    `parquet:"shuffle_remote_bytes_read_to_disk" json:"shuffleRemoteBytesReadToDisk" doc:"of them, bytes fetched to disk"`
	ShuffleLocalBytes     int64    `parquet:"shuffle_local_bytes_read" json:"shuffleLocalBytesRead" doc:"shuffle bytes read from the same host"`
	ShuffleRemoteBlocks   int64    `parquet:"shuffle_remote_blocks_fetched" json:"shuffleRemoteBlocksFetched" doc:"shuffle blocks from other hosts"`
	ShuffleLocalBlocks    int64    `parquet:"shuffle_local_blocks_fetched" json:"shuffleLocalBlocksFetched" doc:"shuffle blocks from the same host"`
	ShuffleFetchWaitTime  int64    `parquet:"shuffle_fetch_wait_time" json:"shuffleFetchWaitTime" doc:"milliseconds that tasks waited for shuffle blocks"`
	ShuffleWriteBytes     int64    `parquet:"shuffle_write_bytes" json:"shuffleWriteBytes" doc:"shuffle bytes written"`
	ShuffleWriteTime      int64    `parquet:"shuffle_write_time" json:"shuffleWriteTime" doc:"nanoseconds"`
	ShuffleWriteRecords   int64    `parquet:"shuffle_write_records" json:"shuffleWriteRecords" doc:"shuffle records written"`
	MemoryBytesSpilled    int64    `parquet:"memory_bytes_spilled" json:"memoryBytesSpilled" doc:"in-memory bytes of spilled data"`
	DiskBytesSpilled      int64    `parquet:"disk_bytes_spilled" json:"diskBytesSpilled" doc:"on-disk bytes of spilled data"`
	SchedulingPool        *string  `parquet:"scheduling_pool,optional,dict" json:"schedulingPool" doc:"pool of the fair scheduler"`
	ResourceProfileID     *int64   `parquet:"resource_profile_id,optional" json:"resourceProfileId" doc:"resource profile; since Spark 3.1"`
	JobIDs                []int64  `parquet:"job_ids,list" doc:"jobs that list it"`
	TaskCompletionRate    *float64 `parquet:"task_completion_rate,optional" doc:"num_complete_tasks / num_tasks, 0 to 100"`
	AvgRunTimePerTask     *float64 `parquet:"avg_executor_run_time_per_task,optional" doc:"executor_run_time / num_tasks, milliseconds"`
	TotalDataProcessedMB  float64  `parquet:"total_data_processed_mb" doc:"input and output, MiB"`
	ShuffleDataMB         float64  `parquet:"shuffle_data_mb" doc:"shuffle read and write, MiB"`
	NumResubmittedTasks   *int64   `parquet:"num_resubmitted_tasks,optional" doc:"of num_failed_tasks, those that had succeeded and ran again since their executor was lost with their output; logs only"`
}

// Task is a row of the table tasks: an attempt of a task.
type Task struct {
	Attempt
	Stage
	TaskID       int64   `parquet:"task_id" doc:"attempt of the task; unique in an attempt of an application"`
	Index        int64   `parquet:"index" doc:"position of the task in its stage: the partition, unless only some are computed"`
	TaskAttempt  int64   `parquet:"attempt" doc:"attempt of the task, from 0"`
	LaunchTime   Millis  `parquet:"launch_time,optional,timestamp(millisecond)" doc:"start"`
	FinishTime   Millis  `parquet:"finish_time,optional,timestamp(millisecond)" doc:"end"`
	Duration     *int64  `parquet:"duration,optional" doc:"milliseconds from start to end"`
	ExecutorID   string  `parquet:"executor_id,dict" doc:"executor"`
	Host         string  `parquet:"host,dict" doc:"its host"`
	Status       string  `parquet:"status,dict" doc:"RUNNING, SUCCESS, FAILED or KILLED"`
	TaskLocality string  `parquet:"task_locality,dict" doc:"PROCESS_LOCAL, NODE_LOCAL, RACK_LOCAL, NO_PREF or ANY"`
	Speculative  bool    `parquet:"speculative" doc:"it is a speculative copy"`
	ErrorMessage *string `parquet:"error_message,optional" doc:"why it failed or was killed, truncated"`
	TaskMetrics
}

// TaskMetrics are the metrics of one task, null if it has none, or if all are 0: Spark's API
// does not tell these two apart.
type TaskMetrics struct {
	DeserializeTime      *int64 `parquet:"executor_deserialize_time,optional" doc:"milliseconds"`
	DeserializeCPUTime   *int64 `parquet:"executor_deserialize_cpu_time,optional" doc:"nanoseconds"`
	RunTime              *int64 `parquet:"executor_run_time,optional" doc:"milliseconds"`
	CPUTime              *int64 `parquet:"executor_cpu_time,optional" doc:"nanoseconds"`
	ResultSize           *int64 `parquet:"result_size,optional" doc:"bytes"`
	JVMGCTime            *int64 `parquet:"jvm_gc_time,optional" doc:"milliseconds"`
	ResultSerialization  *int64 `parquet:"result_serialization_time,optional" doc:"milliseconds"`
	MemoryBytesSpilled   *int64 `parquet:"memory_bytes_spilled,optional" doc:"bytes"`
	DiskBytesSpilled     *int64 `parquet:"disk_bytes_spilled,optional" doc:"bytes"`
	PeakExecutionMemory  *int64 `parquet:"peak_execution_memory,optional" doc:"bytes"`
	InputBytes           *int64 `parquet:"input_bytes,optional" doc:"bytes"`
	InputRecords         *int64 `parquet:"input_records,optional" doc:"records"`
	OutputBytes          *int64 `parquet:"output_bytes,optional" doc:"bytes"`
	OutputRecords        *int64 `parquet:"output_records,optional" doc:"records"`
	ShuffleRemoteBlocks  *int64 `parquet:"shuffle_remote_blocks_fetched,optional" doc:"blocks"`
	ShuffleLocalBlocks   *int64 `parquet:"shuffle_local_blocks_fetched,optional" doc:"blocks"`
	ShuffleFetchWaitTime *int64 `parquet:"shuffle_fetch_wait_time,optional" doc:"milliseconds"`
	ShuffleRemoteBytes   *int64 `parquet:"shuffle_remote_bytes_read,optional" doc:"bytes"`
	ShuffleRemoteToDisk  *int64 `parquet:"shuffle_remote_bytes_read_to_disk,optional" doc:"bytes"`
	ShuffleLocalBytes    *int64 `parquet:"shuffle_local_bytes_read,optional" doc:"bytes"`
	ShuffleReadRecords   *int64 `parquet:"shuffle_read_records,optional" doc:"records"`
	ShuffleWriteBytes    *int64 `parquet:"shuffle_write_bytes,optional" doc:"bytes"`
	ShuffleWriteTime     *int64 `parquet:"shuffle_write_time,optional" doc:"nanoseconds"`
	ShuffleWriteRecords  *int64 `parquet:"shuffle_write_records,optional" doc:"records"`
}

// TaskSummary is a row of the table task_summaries: the distribution of each metric over
// the successful tasks of a stage's attempt. Each list has a value for each of Quantiles.
type TaskSummary struct {
	Attempt
	Stage
	Distributions
	RawJSON     string   `parquet:"raw_json" doc:"the same as JSON, in the format of Spark's taskSummary"`
	DurationP95 *float64 `parquet:"duration_p95,optional" doc:"95th percentile of duration, milliseconds"`
	HostSpread
}

// HostSpread says how far the tasks of one host took longer than those of the others. It is
// null from REST, which does not report hosts without all tasks.
type HostSpread struct {
	Hosts          *int64   `parquet:"hosts,optional" doc:"hosts that its successful tasks ran on; logs only"`
	HostsMean      *float64 `parquet:"hosts_mean_ms,optional" doc:"mean duration of the tasks of the median host, milliseconds; logs only"`
	WorstHost      *string  `parquet:"worst_host,optional,dict" doc:"host whose tasks together took most longer than as many of the median host; logs only"`
	WorstHostTasks *int64   `parquet:"worst_host_tasks,optional" doc:"its tasks; logs only"`
	WorstHostMean  *float64 `parquet:"worst_host_mean_ms,optional" doc:"their mean duration, milliseconds; logs only"`
}

// Distributions are the distributions of a TaskSummary (TaskMetricDistributions of Spark's REST
// API, which groups some).
type Distributions struct {
	Duration            []float64 `parquet:"duration,list" json:"duration" doc:"milliseconds"`
	DeserializeTime     []float64 `parquet:"executor_deserialize_time,list" json:"executorDeserializeTime" doc:"milliseconds"`
	DeserializeCPUTime  []float64 `parquet:"executor_deserialize_cpu_time,list" json:"executorDeserializeCpuTime" doc:"nanoseconds"`
	RunTime             []float64 `parquet:"executor_run_time,list" json:"executorRunTime" doc:"milliseconds"`
	CPUTime             []float64 `parquet:"executor_cpu_time,list" json:"executorCpuTime" doc:"nanoseconds"`
	ResultSize          []float64 `parquet:"result_size,list" json:"resultSize" doc:"bytes"`
	JVMGCTime           []float64 `parquet:"jvm_gc_time,list" json:"jvmGcTime" doc:"milliseconds"`
	ResultSerialization []float64 `parquet:"result_serialization_time,list" json:"resultSerializationTime" doc:"milliseconds"`
	GettingResultTime   []float64 `parquet:"getting_result_time,list" json:"gettingResultTime" doc:"milliseconds"`
	SchedulerDelay      []float64 `parquet:"scheduler_delay,list" json:"schedulerDelay" doc:"milliseconds"`
	PeakExecutionMemory []float64 `parquet:"peak_execution_memory,list" json:"peakExecutionMemory" doc:"bytes"`
	MemoryBytesSpilled  []float64 `parquet:"memory_bytes_spilled,list" json:"memoryBytesSpilled" doc:"bytes"`
	DiskBytesSpilled    []float64 `parquet:"disk_bytes_spilled,list" json:"diskBytesSpilled" doc:"bytes"`
	InputDistributions  `json:"inputMetrics"`
	OutputDistributions `json:"outputMetrics"`
	ReadDistributions   `json:"shuffleReadMetrics"`
	WriteDistributions  `json:"shuffleWriteMetrics"`
}

// InputDistributions are of what tasks read from outside of Spark.
type InputDistributions struct {
	InputBytes   []float64 `parquet:"input_bytes,list" json:"bytesRead" doc:"bytes"`
	InputRecords []float64 `parquet:"input_records,list" json:"recordsRead" doc:"records"`
}

// OutputDistributions are of what tasks wrote outside of Spark.
type OutputDistributions struct {
	OutputBytes   []float64 `parquet:"output_bytes,list" json:"bytesWritten" doc:"bytes"`
	OutputRecords []float64 `parquet:"output_records,list" json:"recordsWritten" doc:"records"`
}

// ReadDistributions are of what tasks read of other stages' output.
type ReadDistributions struct {
	ShuffleReadBytes     []float64 `parquet:"shuffle_read_bytes,list" json:"readBytes" doc:"bytes"`
	ShuffleReadRecords   []float64 `parquet:"shuffle_read_records,list" json:"readRecords" doc:"records"`
	ShuffleRemoteBlocks  []float64 `parquet:"shuffle_remote_blocks_fetched,list" json:"remoteBlocksFetched" doc:"blocks"`
	ShuffleLocalBlocks   []float64 `parquet:"shuffle_local_blocks_fetched,list" json:"localBlocksFetched" doc:"blocks"`
	ShuffleFetchWaitTime []float64 `parquet:"shuffle_fetch_wait_time,list" json:"fetchWaitTime" doc:"milliseconds"`
	ShuffleRemoteBytes   []float64 `parquet:"shuffle_remote_bytes_read,list" json:"remoteBytesRead" doc:"bytes"`
	ShuffleRemoteToDisk  []float64 `parquet:"shuffle_remote_bytes_read_to_disk,list" json:"remoteBytesReadToDisk" doc:"bytes"`
	ShuffleTotalBlocks   []float64 `parquet:"shuffle_total_blocks_fetched,list" json:"totalBlocksFetched" doc:"blocks"`
}

// WriteDistributions are of what tasks wrote for other stages.
type WriteDistributions struct {
	ShuffleWriteBytes   []float64 `parquet:"shuffle_write_bytes,list" json:"writeBytes" doc:"bytes"`
	ShuffleWriteRecords []float64 `parquet:"shuffle_write_records,list" json:"writeRecords" doc:"records"`
	ShuffleWriteTime    []float64 `parquet:"shuffle_write_time,list" json:"writeTime" doc:"nanoseconds"`
}

// distributionFields are the fields of Distributions that are lists. It takes long to find them.
var distributionFields = func() (indexes [][]int) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Distributions]()) {
		if field.Type == reflect.TypeFor[[]float64]() {
			indexes = append(indexes, field.Index)
		}
	}
	return indexes
}()

// Lists returns all lists, in the order of the columns.
func (d *Distributions) Lists() (lists []*[]float64) {
	all := reflect.ValueOf(d).Elem()
	lists = make([]*[]float64, 0, len(distributionFields))
	for _, index := range distributionFields {
		if list, ok := all.FieldByIndex(index).Addr().Interface().(*[]float64); ok {
			lists = append(lists, list)
		}
	}
	return lists
}

// Quantiles lists the quantiles in each list of a TaskSummary. Spark takes the value at index
// floor(q·n) of the sorted n tasks (org.apache.spark.status.AppStatusStore.taskSummary).
func Quantiles() []float64 { return []float64{0, 0.25, 0.5, 0.75, 1} }

// Indexes in such a list.
const (
	Lowest  = 0
	Median  = 2
	Highest = 4
)
