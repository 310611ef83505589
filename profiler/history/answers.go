package history

import (
	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

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

// Executor is an executor, or the driver (ExecutorSummary).
type Executor struct {
	tables.Executor
	Logs  map[string]string         `json:"executorLogs"`
	Peaks *eventlog.ExecutorMetrics `json:"peakMemoryMetrics"` // since Spark 3.0
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
