package eventlog

import (
	"cmp"
	"fmt"
)

// Task is an attempt of a task.
type Task struct {
	StageID       int64  `json:"-"`
	StageAttempt  int64  `json:"-"`
	ID            int64  `json:"Task ID"` // unique in the application
	Index         int64  `json:"Index"`
	Attempt       int64  `json:"Attempt"`
	Launched      int64  `json:"Launch Time"`
	Executor      string `json:"Executor ID" skim:"word"`
	Host          string `json:"Host" skim:"word"`
	Locality      string `json:"Locality" skim:"word"`
	Speculative   bool   `json:"Speculative"`
	GettingResult int64  `json:"Getting Result Time"` // when the driver began to fetch the result, 0 if it did not
	Finished      int64  `json:"Finish Time"`
	Failed        bool   `json:"Failed"`
	Killed        bool   `json:"Killed"`
}

// TaskStart is a task that was launched.
type TaskStart struct{ Task }

//easyjson:json
type taskStart struct {
	Stage   int64 `json:"Stage ID"`
	Attempt int64 `json:"Stage Attempt ID"`
	Info    Task  `json:"Task Info"`
}

// of returns the task with its stage attempt.
func (t Task) of(stage, attempt int64) Task {
	t.StageID, t.StageAttempt = stage, attempt
	return t
}

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

//easyjson:json
type taskEnd struct {
	Stage   int64            `json:"Stage ID"`
	Attempt int64            `json:"Stage Attempt ID"`
	Type    string           `json:"Task Type" skim:"word"`
	Reason  taskEndReason    `json:"Task End Reason"`
	Info    Task             `json:"Task Info"`
	Peaks   *ExecutorMetrics `json:"Task Executor Metrics"`
	Metrics *TaskMetrics     `json:"Task Metrics"`
}

func (j *taskEnd) end() TaskEnd {
	return TaskEnd{
		Task: j.Info.of(j.Stage, j.Attempt), Type: j.Type, Outcome: j.Reason.Reason, CountsAsFailure: j.Reason.counts(),
		Failure: j.Reason.failure(), Error: j.Reason.text(), Metrics: j.Metrics, Peaks: j.Peaks,
	}
}

// TaskMetrics are a task's metrics, in Spark's units: milliseconds, but nanoseconds for
// CPU and shuffle write times; bytes; records.
type TaskMetrics struct {
	DeserializeTime     int64 `json:"Executor Deserialize Time"`
	DeserializeCPUTime  int64 `json:"Executor Deserialize CPU Time"`
	RunTime             int64 `json:"Executor Run Time"`
	CPUTime             int64 `json:"Executor CPU Time"`
	PeakExecutionMemory int64 `json:"Peak Execution Memory"`
	ResultSize          int64 `json:"Result Size"`
	JVMGCTime           int64 `json:"JVM GC Time"`
	ResultSerialization int64 `json:"Result Serialization Time"`
	MemorySpilled       int64 `json:"Memory Bytes Spilled"`
	DiskSpilled         int64 `json:"Disk Bytes Spilled"`
	ShuffleRead         `json:"Shuffle Read Metrics"`
	ShuffleWrite        `json:"Shuffle Write Metrics"`
	TaskInput           `json:"Input Metrics"`
	TaskOutput          `json:"Output Metrics"`
}

// ShuffleRead are metrics of what a task read of other stages' output.
type ShuffleRead struct {
	RemoteBlocks  int64 `json:"Remote Blocks Fetched"`
	LocalBlocks   int64 `json:"Local Blocks Fetched"`
	FetchWaitTime int64 `json:"Fetch Wait Time"`
	RemoteBytes   int64 `json:"Remote Bytes Read"`
	RemoteToDisk  int64 `json:"Remote Bytes Read To Disk"`
	LocalBytes    int64 `json:"Local Bytes Read"`
	ReadRecords   int64 `json:"Total Records Read"`
}

// ShuffleWrite are metrics of what a task wrote for other stages.
type ShuffleWrite struct {
	WriteBytes   int64 `json:"Shuffle Bytes Written"`
	WriteTime    int64 `json:"Shuffle Write Time"`
	WriteRecords int64 `json:"Shuffle Records Written"`
}

// TaskInput are metrics of what a task read from outside of Spark.
type TaskInput struct {
	InputBytes   int64 `json:"Bytes Read"`
	InputRecords int64 `json:"Records Read"`
}

// TaskOutput are metrics of what a task wrote outside of Spark.
type TaskOutput struct {
	OutputBytes   int64 `json:"Bytes Written"`
	OutputRecords int64 `json:"Records Written"`
}

// taskEndReason is the union of the fields that the reasons have.
type taskEndReason struct {
	Reason      string          `json:"Reason" skim:"word"`
	Class       string          `json:"Class Name"`            // ExceptionFailure
	Description string          `json:"Description"`           // ExceptionFailure
	StackTrace  string          `json:"Full Stack Trace"`      // ExceptionFailure
	Address     *BlockManagerID `json:"Block Manager Address"` // FetchFailed
	Shuffle     int64           `json:"Shuffle ID"`
	Map         int64           `json:"Map ID"`
	MapIndex    int64           `json:"Map Index"`
	Reduce      int64           `json:"Reduce ID"`
	Message     string          `json:"Message"`            // FetchFailed
	Executor    string          `json:"Executor ID"`        // ExecutorLostFailure
	ByApp       *bool           `json:"Exit Caused By App"` // ExecutorLostFailure
	Loss        string          `json:"Loss Reason"`        // ExecutorLostFailure
	Kill        string          `json:"Kill Reason"`        // TaskKilled
	Job         int64           `json:"Job ID"`             // TaskCommitDenied
	Partition   int64           `json:"Partition ID"`
	AttemptNum  int64           `json:"Attempt Number"`
}

// counts reports whether the end counts as a failure (TaskFailedReason.countTowardsTaskFailures).
func (r *taskEndReason) counts() bool {
	switch r.Reason {
	case Success, "FetchFailed", "TaskKilled", "TaskCommitDenied":
		return false
	case "ExecutorLostFailure":
		return r.ByApp == nil || *r.ByApp
	}
	return true
}

// failure names the reason shortly.
func (r *taskEndReason) failure() string {
	if r.Reason == Success {
		return ""
	}
	if r.Class != "" {
		return r.Class + ": " + r.Description
	}
	if text := cmp.Or(r.Message, r.Loss, r.Kill); text != "" {
		return r.Reason + ": " + text
	}
	return r.Reason
}

// text is what Spark's UI shows (TaskFailedReason.toErrorString; of TaskKilled its reason).
func (r *taskEndReason) text() string {
	switch r.Reason {
	case Success:
		return ""
	case ExceptionFailure:
		return cmp.Or(r.StackTrace, r.failure())
	case "TaskKilled":
		return r.Kill
	case "Resubmitted":
		return "Resubmitted (resubmitted due to lost executor)"
	case "TaskResultLost":
		return "TaskResultLost (result lost from block manager)"
	case "FetchFailed":
		address := "null"
		if a := r.Address; a != nil {
			address = fmt.Sprintf("BlockManagerId(%s, %s, %d, None)", a.Executor, a.Host, a.Port)
		}
		return fmt.Sprintf("FetchFailed(%s, shuffleId=%d, mapIndex=%d, mapId=%d, reduceId=%d, message=\n%s\n)",
			address, r.Shuffle, r.MapIndex, r.Map, r.Reduce, r.Message)
	case "ExecutorLostFailure":
		by := "unrelated to the running tasks"
		if r.ByApp == nil || *r.ByApp {
			by = "caused by one of the running tasks"
		}
		text := fmt.Sprintf("ExecutorLostFailure (executor %s exited %s)", r.Executor, by)
		if r.Loss != "" {
			text += " Reason: " + r.Loss
		}
		return text
	case "TaskCommitDenied":
		return fmt.Sprintf("TaskCommitDenied (Driver denied task commit) for job: %d, partition: %d, attemptNumber: %d",
			r.Job, r.Partition, r.AttemptNum)
	}
	return r.Reason
}
