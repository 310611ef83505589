package history

import "github.com/emr-observatory/emr-observatory/eventlog"

// Application is an application that the server lists (ApplicationInfo).
type Application struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Attempts []Attempt `json:"attempts"` // the latest first
}

// Attempt is an attempt of an application (ApplicationAttemptInfo).
type Attempt struct {
	ID           string `json:"attemptId"` // "" in client mode
	Start        Millis `json:"startTimeEpoch"`
	End          Millis `json:"endTimeEpoch"` // 0 while it runs
	LastUpdated  Millis `json:"lastUpdatedEpoch"`
	StartText    Millis `json:"startTime"` // Spark before 2.0 has only texts
	EndText      Millis `json:"endTime"`
	User         string `json:"sparkUser"`
	Completed    bool   `json:"completed"`
	SparkVersion string `json:"appSparkVersion"`
}

// Job is a job (JobData).
type Job struct {
	ID                 int64   `json:"jobId"`
	Name               string  `json:"name"`
	Description        *string `json:"description"`
	Submitted          Millis  `json:"submissionTime"`
	Completed          Millis  `json:"completionTime"`
	StageIDs           []int64 `json:"stageIds"`
	Group              *string `json:"jobGroup"`
	Status             string  `json:"status"`
	NumTasks           int64   `json:"numTasks"`
	NumActiveTasks     int64   `json:"numActiveTasks"`
	NumCompletedTasks  int64   `json:"numCompletedTasks"`
	NumSkippedTasks    int64   `json:"numSkippedTasks"`
	NumFailedTasks     int64   `json:"numFailedTasks"`
	NumKilledTasks     int64   `json:"numKilledTasks"`
	NumActiveStages    int64   `json:"numActiveStages"`
	NumCompletedStages int64   `json:"numCompletedStages"`
	NumSkippedStages   int64   `json:"numSkippedStages"`
	NumFailedStages    int64   `json:"numFailedStages"`
}

// Stage is a stage attempt (StageData). CPU times and ShuffleWriteTime are
// nanoseconds, other times milliseconds.
type Stage struct {
	Status           string  `json:"status"`
	ID               int64   `json:"stageId"`
	Attempt          int64   `json:"attemptId"`
	NumTasks         int64   `json:"numTasks"`
	NumActiveTasks   int64   `json:"numActiveTasks"`
	NumCompleteTasks int64   `json:"numCompleteTasks"` // numCompletedTasks in jobs
	NumFailedTasks   int64   `json:"numFailedTasks"`
	NumKilledTasks   int64   `json:"numKilledTasks"`
	Submitted        Millis  `json:"submissionTime"`
	FirstLaunched    Millis  `json:"firstTaskLaunchedTime"`
	Completed        Millis  `json:"completionTime"`
	FailureReason    *string `json:"failureReason"`

	Usage
	InputBytes    int64 `json:"inputBytes"`
	InputRecords  int64 `json:"inputRecords"`
	OutputBytes   int64 `json:"outputBytes"`
	OutputRecords int64 `json:"outputRecords"`

	ShuffleRemoteBlocks  int64 `json:"shuffleRemoteBlocksFetched"`
	ShuffleLocalBlocks   int64 `json:"shuffleLocalBlocksFetched"`
	ShuffleFetchWaitTime int64 `json:"shuffleFetchWaitTime"`
	ShuffleRemoteBytes   int64 `json:"shuffleRemoteBytesRead"`
	ShuffleRemoteToDisk  int64 `json:"shuffleRemoteBytesReadToDisk"`
	ShuffleLocalBytes    int64 `json:"shuffleLocalBytesRead"`
	ShuffleReadBytes     int64 `json:"shuffleReadBytes"`
	ShuffleReadRecords   int64 `json:"shuffleReadRecords"`
	ShuffleWriteBytes    int64 `json:"shuffleWriteBytes"`
	ShuffleWriteTime     int64 `json:"shuffleWriteTime"`
	ShuffleWriteRecords  int64 `json:"shuffleWriteRecords"`

	Name            string  `json:"name"`
	Description     *string `json:"description"`
	SchedulingPool  string  `json:"schedulingPool"`
	ResourceProfile *int64  `json:"resourceProfileId"` // since Spark 3.1
}

// Usage are metrics that a task has, and a stage attempt as totals.
type Usage struct {
	DeserializeTime     int64 `json:"executorDeserializeTime"`
	DeserializeCPUTime  int64 `json:"executorDeserializeCpuTime"`
	RunTime             int64 `json:"executorRunTime"`
	CPUTime             int64 `json:"executorCpuTime"`
	ResultSize          int64 `json:"resultSize"`
	JVMGCTime           int64 `json:"jvmGcTime"`
	ResultSerialization int64 `json:"resultSerializationTime"`
	MemorySpilled       int64 `json:"memoryBytesSpilled"`
	DiskSpilled         int64 `json:"diskBytesSpilled"`
	PeakExecutionMemory int64 `json:"peakExecutionMemory"`
}

// Task is a task attempt (TaskData).
type Task struct {
	ID          int64        `json:"taskId"`
	Index       int64        `json:"index"`
	Attempt     int64        `json:"attempt"`
	Launched    Millis       `json:"launchTime"`
	Duration    *int64       `json:"duration"` // milliseconds
	ExecutorID  string       `json:"executorId"`
	Host        string       `json:"host"`
	Status      string       `json:"status"`
	Locality    string       `json:"taskLocality"`
	Speculative bool         `json:"speculative"`
	Error       *string      `json:"errorMessage"`
	Metrics     *TaskMetrics `json:"taskMetrics"`
}

// TaskMetrics are a task's metrics. CPU times and Write.Time are nanoseconds, other times
// milliseconds.
type TaskMetrics struct {
	Usage

	Input struct {
		Bytes   int64 `json:"bytesRead"`
		Records int64 `json:"recordsRead"`
	} `json:"inputMetrics"`
	Output struct {
		Bytes   int64 `json:"bytesWritten"`
		Records int64 `json:"recordsWritten"`
	} `json:"outputMetrics"`
	Read struct {
		RemoteBlocks  int64 `json:"remoteBlocksFetched"`
		LocalBlocks   int64 `json:"localBlocksFetched"`
		FetchWaitTime int64 `json:"fetchWaitTime"`
		RemoteBytes   int64 `json:"remoteBytesRead"`
		RemoteToDisk  int64 `json:"remoteBytesReadToDisk"`
		LocalBytes    int64 `json:"localBytesRead"`
		Records       int64 `json:"recordsRead"`
	} `json:"shuffleReadMetrics"`
	Write struct {
		Bytes   int64 `json:"bytesWritten"`
		Time    int64 `json:"writeTime"`
		Records int64 `json:"recordsWritten"`
	} `json:"shuffleWriteMetrics"`
}

// Distributions are quantiles of the metrics of a stage's successful tasks
// (TaskMetricDistributions), in the order in which they were requested.
type Distributions struct {
	Quantiles           []Quantile `json:"quantiles"`
	Duration            []Quantile `json:"duration"` // since Spark 3.1
	DeserializeTime     []Quantile `json:"executorDeserializeTime"`
	DeserializeCPUTime  []Quantile `json:"executorDeserializeCpuTime"`
	RunTime             []Quantile `json:"executorRunTime"`
	CPUTime             []Quantile `json:"executorCpuTime"`
	ResultSize          []Quantile `json:"resultSize"`
	JVMGCTime           []Quantile `json:"jvmGcTime"`
	ResultSerialization []Quantile `json:"resultSerializationTime"`
	GettingResultTime   []Quantile `json:"gettingResultTime"`
	SchedulerDelay      []Quantile `json:"schedulerDelay"`
	PeakExecutionMemory []Quantile `json:"peakExecutionMemory"`
	MemorySpilled       []Quantile `json:"memoryBytesSpilled"`
	DiskSpilled         []Quantile `json:"diskBytesSpilled"`

	Input struct {
		Bytes   []Quantile `json:"bytesRead"`
		Records []Quantile `json:"recordsRead"`
	} `json:"inputMetrics"`
	Output struct {
		Bytes   []Quantile `json:"bytesWritten"`
		Records []Quantile `json:"recordsWritten"`
	} `json:"outputMetrics"`
	Read struct {
		Bytes         []Quantile `json:"readBytes"`
		Records       []Quantile `json:"readRecords"`
		RemoteBlocks  []Quantile `json:"remoteBlocksFetched"`
		LocalBlocks   []Quantile `json:"localBlocksFetched"`
		FetchWaitTime []Quantile `json:"fetchWaitTime"`
		RemoteBytes   []Quantile `json:"remoteBytesRead"`
		RemoteToDisk  []Quantile `json:"remoteBytesReadToDisk"`
		TotalBlocks   []Quantile `json:"totalBlocksFetched"`
	} `json:"shuffleReadMetrics"`
	Write struct {
		Bytes   []Quantile `json:"writeBytes"`
		Records []Quantile `json:"writeRecords"`
		Time    []Quantile `json:"writeTime"`
	} `json:"shuffleWriteMetrics"`
}

// Executor is an executor, or the driver (ExecutorSummary).
type Executor struct {
	ID                string                    `json:"id"`
	HostPort          string                    `json:"hostPort"`
	IsActive          bool                      `json:"isActive"`
	RDDBlocks         int64                     `json:"rddBlocks"`
	MemoryUsed        int64                     `json:"memoryUsed"`
	DiskUsed          int64                     `json:"diskUsed"`
	TotalCores        int64                     `json:"totalCores"`
	MaxTasks          int64                     `json:"maxTasks"`
	ActiveTasks       int64                     `json:"activeTasks"`
	FailedTasks       int64                     `json:"failedTasks"`
	CompletedTasks    int64                     `json:"completedTasks"`
	TotalTasks        int64                     `json:"totalTasks"`
	TotalDuration     int64                     `json:"totalDuration"`
	TotalGCTime       int64                     `json:"totalGCTime"`
	TotalInputBytes   int64                     `json:"totalInputBytes"`
	TotalShuffleRead  int64                     `json:"totalShuffleRead"`
	TotalShuffleWrite int64                     `json:"totalShuffleWrite"`
	IsBlacklisted     bool                      `json:"isBlacklisted"`
	IsExcluded        bool                      `json:"isExcluded"` // since Spark 3.1, which sets both
	MaxMemory         int64                     `json:"maxMemory"`
	Added             Millis                    `json:"addTime"`
	Removed           Millis                    `json:"removeTime"`
	RemoveReason      *string                   `json:"removeReason"`
	Logs              map[string]string         `json:"executorLogs"`
	Peaks             *eventlog.ExecutorMetrics `json:"peakMemoryMetrics"` // since Spark 3.0
	ResourceProfile   *int64                    `json:"resourceProfileId"` // since Spark 3.1
}

// Environment is the configuration of an attempt (ApplicationEnvironmentInfo). The server
// redacts it by its spark.redaction.regex.
type Environment struct {
	Runtime struct {
		JavaVersion  string `json:"javaVersion"`
		JavaHome     string `json:"javaHome"`
		ScalaVersion string `json:"scalaVersion"`
	} `json:"runtime"`
	Spark   Properties `json:"sparkProperties"`
	Hadoop  Properties `json:"hadoopProperties"`
	System  Properties `json:"systemProperties"`
	Metrics Properties `json:"metricsProperties"`
}

// Execution is a SQL execution (ExecutionData).
type Execution struct {
	ID          int64   `json:"id"`
	Status      string  `json:"status"`
	Description string  `json:"description"`
	Plan        Length  `json:"planDescription"` // of the physical plan's text
	Submitted   Millis  `json:"submissionTime"`
	Duration    int64   `json:"duration"` // milliseconds, so far if it is running
	RunningJobs []int64 `json:"runningJobIds"`
	SuccessJobs []int64 `json:"successJobIds"`
	FailedJobs  []int64 `json:"failedJobIds"`
	Nodes       []Node  `json:"nodes"`
	Edges       []Edge  `json:"edges"`
	Root        *int64  `json:"rootExecutionId"` // future versions of Spark
	Error       *string `json:"errorMessage"`    // future versions of Spark
}

// Node is an operator of a plan, or a WholeStageCodegen that contains some.
type Node struct {
	ID        int64        `json:"nodeId"`
	Name      string       `json:"nodeName"`
	CodegenID *int64       `json:"wholeStageCodegenId"`
	Metrics   []NodeMetric `json:"metrics"`
}

// NodeMetric is a metric of an operator, with its value as Spark formats it.
type NodeMetric struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Edge is a flow of rows from one operator to another.
type Edge struct {
	From int64 `json:"fromId"`
	To   int64 `json:"toId"`
}
