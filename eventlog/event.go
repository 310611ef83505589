package eventlog

// Event is an event of Spark's listener bus: a pointer to one of the types of this file.
// Times are milliseconds since 1970; 0 is a time that Spark left out. Fields are those of
// org.apache.spark.util.JsonProtocol, for SQL those of
// org.apache.spark.sql.execution.ui. What a version of Spark leaves out is zero or nil.
//
// A TaskStart or TaskEnd and what it points to are valid until the next event is read.
// Other events, and all texts, may be kept.
type Event interface{ isEvent() }

// LogStart is the first line of a log.
type LogStart struct{ SparkVersion string }

// ApplicationStart is the start of a SparkContext.
type ApplicationStart struct {
	Time     int64
	Name, ID string
	User     string
	Attempt  string // YARN's, "" in client mode
	// DriverLogs are the URLs of the driver's logs by name.
	DriverLogs map[string]string
}

// ApplicationEnd is the stop of a SparkContext.
type ApplicationEnd struct{ Time int64 }

// EnvironmentUpdate carries the configuration. Spark sends it again when a job adds a file.
type EnvironmentUpdate struct {
	JVM, Spark, Hadoop, System, Metrics map[string]string
}

// ExecutorAdded is an executor that registered.
type ExecutorAdded struct {
	Time            int64
	ID, Host        string
	Cores           int64
	Logs            map[string]string // URLs by name
	ResourceProfile *int64
}

// ResourceProfileAdded is what stages and executors may ask for; since Spark 3.1.
type ResourceProfileAdded struct {
	ID       int64
	TaskCPUs float64 // cores of a task
}

// ExecutorRemoved is an executor that ended or was lost.
type ExecutorRemoved struct {
	Time   int64
	ID     string
	Reason string
}

// ExecutorExcluded is an executor, or all of a host, that get no more tasks. Spark 3.1 and
// later also writes the event of the older name, ExecutorBlacklisted; both are this type.
type ExecutorExcluded struct {
	Time    int64
	ID      string // "" if it is about a host
	Host    string // "" if it is about an executor
	Undo    bool   // it gets tasks again
	Stage   *int64 // of which it gets none; nil: of any
	Attempt int64  // of the stage
}

// BlockManagerAdded is a block manager that registered.
type BlockManagerAdded struct {
	Time              int64
	Executor          string
	Host              string
	Port              int64
	MaxMemory         int64
	MaxOnHeap, MaxOff *int64
}

// BlockManagerRemoved is a block manager that is gone.
type BlockManagerRemoved struct {
	Time     int64
	Executor string
}

// ExecutorMetrics are peaks of an executor's memory, in bytes (SparkListenerStageExecutorMetrics,
// or those of a TaskEnd), named as in org.apache.spark.metrics.ExecutorMetricType.
type ExecutorMetrics struct {
	JVMHeap          int64 `json:"JVMHeapMemory"`
	JVMOffHeap       int64 `json:"JVMOffHeapMemory"`
	OnHeapExecution  int64 `json:"OnHeapExecutionMemory"`
	OffHeapExecution int64 `json:"OffHeapExecutionMemory"`
	OnHeapStorage    int64 `json:"OnHeapStorageMemory"`
	OffHeapStorage   int64 `json:"OffHeapStorageMemory"`
	JVMRSS           int64 `json:"ProcessTreeJVMRSSMemory"`
	PythonRSS        int64 `json:"ProcessTreePythonRSSMemory"`
	OtherRSS         int64 `json:"ProcessTreeOtherRSSMemory"`
	TotalGCTime      int64 `json:"TotalGCTime"` // milliseconds; since Spark 3.3
}

// StageExecutorMetrics are an executor's peaks in a stage, or the driver's so far: stage -1.
type StageExecutorMetrics struct {
	Executor       string
	Stage, Attempt int64
	Peaks          ExecutorMetrics
}

// JobStart is a job, with all stages that it may need.
type JobStart struct {
	ID, Time   int64
	Stages     []Stage // without accumulators
	Properties JobProperties
}

// JobProperties are the local properties of a job that this project uses.
type JobProperties struct {
	Execution     *int64 // spark.sql.execution.id
	Description   string // spark.job.description
	Group         string // spark.jobGroup.id
	CallSite      string // callSite.short
	Pool          string // spark.scheduler.pool
	Query, Batch  string // sql.streaming.queryId, streaming.sql.batchId
	ThreadParent  string // traceparent
	SessionParent string // platform.SparkTraceparent
}

// JobEnd is the end of a job.
type JobEnd struct {
	ID, Time int64
	Failure  string // "" if it succeeded
}

// Stage is an attempt of a stage.
type Stage struct {
	ID, Attempt          int64
	Name                 string
	Tasks                int64
	Submitted, Completed int64
	Failure              string // "" if it succeeded, or still runs
	ResourceProfile      *int64
	Parents              []int64
	// Accumulators are totals over the stage's tasks, only of SQL metrics and only in StageCompleted.
	Accumulators []Accumulator
}

// Accumulator is the value of an accumulator. Only those with a number are kept.
type Accumulator struct {
	ID    int64
	Value int64
}

// StageSubmitted is an attempt that starts. Properties are those of its job.
type StageSubmitted struct {
	Stage
	Properties JobProperties
}

// StageCompleted is an attempt that ended.
type StageCompleted struct{ Stage }

// Task is an attempt of a task.
type Task struct {
	ID                    int64 // unique in the application
	StageID, StageAttempt int64
	Index, Attempt        int64
	Launched, Finished    int64
	GettingResult         int64 // when the driver began to fetch the result, 0 if it did not
	Executor, Host        string
	Locality              string
	Speculative           bool
	Failed, Killed        bool
}

// TaskStart is a task that was launched.
type TaskStart struct{ Task }

// Outcomes of tasks: of one that succeeded, and of one that threw an exception.
const (
	Success          = "Success"
	ExceptionFailure = "ExceptionFailure"
)

// TaskEnd is a task that ended.
type TaskEnd struct {
	Task
	Type    string // "ResultTask" or "ShuffleMapTask"
	Outcome string // class of the TaskEndReason: Success, ExceptionFailure, "TaskKilled", …
	Failure string // what went wrong, in words, beginning with its class; cut
	// Error is what Spark's UI and REST API show (TaskFailedReason.toErrorString), cut.
	Error string
	// CountsAsFailure is false for ends that Spark does not count (FetchFailed,
	// TaskKilled, TaskCommitDenied, an executor lost for reasons outside the application).
	CountsAsFailure bool
	Metrics         *TaskMetrics // nil if the task had none
	Peaks           *ExecutorMetrics
}

// TaskMetrics are a task's metrics, in Spark's units: milliseconds, but nanoseconds for
// CPU and shuffle write times; bytes; records.
type TaskMetrics struct {
	DeserializeTime, DeserializeCPUTime                  int64
	RunTime, CPUTime                                     int64
	ResultSize, JVMGCTime, ResultSerialization           int64
	MemorySpilled, DiskSpilled, PeakExecutionMemory      int64
	InputBytes, InputRecords, OutputBytes, OutputRecords int64
	RemoteBlocks, LocalBlocks, FetchWaitTime             int64
	RemoteBytes, RemoteToDisk, LocalBytes, ReadRecords   int64
	WriteBytes, WriteTime, WriteRecords                  int64
}

// SQLStart is a SQL execution that starts.
type SQLStart struct {
	ID, Time    int64
	Root        *int64 // the execution that it is part of, its own id if of none; since Spark 3.4
	Description string // cut
	PlanLength  int64  // characters of the physical plan's text, uncut
	Plan        PlanNode
}

// SQLPlan is a new version of the plan of an execution (adaptive execution).
type SQLPlan struct {
	ID         int64
	PlanLength int64
	Plan       PlanNode
}

// SQLMetrics are metrics that adaptive execution adds to an execution
// (SparkListenerSQLAdaptiveSQLMetricUpdates).
type SQLMetrics struct {
	ID      int64
	Metrics []PlanMetric
}

// DriverAccumulators are values of SQL metrics that the driver sets
// (SparkListenerDriverAccumUpdates).
type DriverAccumulators struct {
	Execution int64
	Updates   []Accumulator
}

// SQLEnd is the end of a SQL execution.
type SQLEnd struct {
	ID, Time int64
	Failure  string // "" if it succeeded; since Spark 3.4
}

// PlanNode is an operator of a plan (org.apache.spark.sql.execution.SparkPlanInfo).
type PlanNode struct {
	Name     string
	Text     string // simpleString, cut
	Children []PlanNode
	Metrics  []PlanMetric
}

// PlanMetric is a metric of an operator.
type PlanMetric struct {
	Name        string
	Accumulator int64
	Type        string // sum, size, timing, nsTiming or average
}

// Lost says that the source lacks events, and why.
type Lost struct {
	Cause  Cause
	Reason string // in words, with the place
}

// Cause is why events are missing.
type Cause string

// Causes.
const (
	Compacted Cause = "compacted" // the history server dropped events of ended jobs
	CutOff    Cause = "cut off"   // a file ends in a line or a block, and another follows
	Absent    Cause = "absent"    // a rolled file is not there
	Denied    Cause = "denied"    // a rolled file may not be opened
	Damaged   Cause = "damaged"   // text that is no event, or compressed data that is broken
	Unread    Cause = "unread"    // an event whose fields have other types than Spark's
)

// The types of Event.

func (*LogStart) isEvent()             {}
func (*ApplicationStart) isEvent()     {}
func (*ApplicationEnd) isEvent()       {}
func (*EnvironmentUpdate) isEvent()    {}
func (*ExecutorAdded) isEvent()        {}
func (*ResourceProfileAdded) isEvent() {}
func (*ExecutorRemoved) isEvent()      {}
func (*ExecutorExcluded) isEvent()     {}
func (*BlockManagerAdded) isEvent()    {}
func (*BlockManagerRemoved) isEvent()  {}
func (*StageExecutorMetrics) isEvent() {}
func (*JobStart) isEvent()             {}
func (*JobEnd) isEvent()               {}
func (*StageSubmitted) isEvent()       {}
func (*StageCompleted) isEvent()       {}
func (*TaskStart) isEvent()            {}
func (*TaskEnd) isEvent()              {}
func (*SQLStart) isEvent()             {}
func (*SQLPlan) isEvent()              {}
func (*SQLMetrics) isEvent()           {}
func (*DriverAccumulators) isEvent()   {}
func (*SQLEnd) isEvent()               {}
func (*Lost) isEvent()                 {}
