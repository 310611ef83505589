package phases

import (
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
)

// NoExecution is the SQL execution of a job that belongs to none.
const NoExecution int64 = -1

// Event is what Spark's listener bus told its listeners, one of the types of this
// file. Times are milliseconds since the epoch; 0 is a time that Spark left out.
type Event interface{ event() }

// LogStart is the first line of an event log.
type LogStart struct{ SparkVersion string }

// ApplicationStart is the start of a SparkContext.
type ApplicationStart struct {
	Time     int64
	Name, ID string
	Attempt  string // YARN's, "" in client mode
}

// ApplicationEnd is the stop of a SparkContext.
type ApplicationEnd struct{ Time int64 }

// EnvironmentUpdate carries the configuration. Spark sends it again when a job adds a file.
type EnvironmentUpdate struct {
	Spark   map[string]string // properties of the SparkConf
	Command string            // sun.java.command of the driver
	Folder  string            // the driver's working directory
}

// ExecutorAdded is an executor that registered.
type ExecutorAdded struct {
	Time     int64
	ID, Host string
	Profile  int64 // of its resources; 0 is the default
}

// ExecutorRemoved is an executor that ended or was lost.
type ExecutorRemoved struct {
	Time int64
	ID   string
}

// ExecutorExcluded is an executor, or all of a host, that get no more tasks.
type ExecutorExcluded struct {
	Time           int64
	Executor, Host string // one of the two
	Undo           bool   // they get tasks again
	ForStage       bool   // they get none of one attempt of a stage
	Stage, Attempt int64  // which, 0 otherwise
}

// BlockManagerAdded is a block manager that registered.
type BlockManagerAdded struct {
	Time     int64
	Executor string
}

// JobStart is a job, with all stages that it may need.
type JobStart struct {
	ID, Time    int64
	Stages      []int64
	Execution   int64  // SQL execution, or NoExecution
	Description string // by SparkContext.setJobDescription, else the call site
	Query       string // id of the streaming query, "" if none
	Batch       string // number of the streaming query's micro-batch

	ThreadParent  string // traceparent of the thread (SparkContext.setLocalProperty)
	SessionParent string // platform.SparkTraceparent in the session's configuration
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
	Profile              int64  // of the resources that its tasks need; 0 is the default
}

// StageSubmitted is an attempt that starts.
type StageSubmitted struct{ Stage }

// StageCompleted is an attempt that ended.
type StageCompleted struct{ Stage }

// Task is an attempt of a task.
type Task struct {
	ID                    int64 // unique in the application
	StageID, StageAttempt int64
	Index, Attempt        int64
	Launched, Finished    int64
	Executor, Host        string
	Speculative           bool
}

// TaskStart is a task that was launched.
type TaskStart struct{ Task }

// TaskEnd is a task that ended.
type TaskEnd struct {
	Task
	Type    string // "ResultTask" or "ShuffleMapTask"
	Outcome string // class of the TaskEndReason: "Success", "ExceptionFailure", "TaskKilled", …
	Failure string // what went wrong, in words
	Metrics TaskMetrics
}

// TaskMetrics are those of a task's metrics that this project uses; zero where Spark
// had none.
type TaskMetrics struct {
	RunMillis      int64
	InputBytes     int64
	BytesWritten   int64 // to a sink
	RecordsWritten int64
	ShuffleRead    int64 // bytes
	ShuffleWritten int64 // bytes
	DiskSpilled    int64 // bytes
}

// SQLStart is a SQL execution that starts.
type SQLStart struct {
	ID, Time    int64
	Root        int64 // the execution that it is part of, or its own id
	Description string
	Writes      bool // the plan has a write command
}

// SQLPlan is a new version of the plan of an execution.
type SQLPlan struct {
	ID     int64
	Writes bool
}

// SQLEnd is the end of a SQL execution.
type SQLEnd struct {
	ID, Time int64
	Failure  string // "" if it succeeded
}

// Lost says that the source lacks events, and why. No listener gets it.
type Lost struct{ Reason string }

// Writes tells whether a node of a plan, by its name, writes.
func Writes(nodeName string) bool {
	return slices.ContainsFunc(platform.SparkWriteCommands(), func(command string) bool { return strings.Contains(nodeName, command) })
}

func (Lost) event()              {}
func (LogStart) event()          {}
func (ApplicationStart) event()  {}
func (ApplicationEnd) event()    {}
func (EnvironmentUpdate) event() {}
func (ExecutorAdded) event()     {}
func (ExecutorRemoved) event()   {}
func (ExecutorExcluded) event()  {}
func (BlockManagerAdded) event() {}
func (JobStart) event()          {}
func (JobEnd) event()            {}
func (StageSubmitted) event()    {}
func (StageCompleted) event()    {}
func (TaskStart) event()         {}
func (TaskEnd) event()           {}
func (SQLStart) event()          {}
func (SQLPlan) event()           {}
func (SQLEnd) event()            {}
