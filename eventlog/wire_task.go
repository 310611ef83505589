package eventlog

import "fmt"

// Fields here, and in the other wire_*.go, are in the order in which Spark writes them
// (org.apache.spark.util.JsonProtocol): see skimmer.expected.

//easyjson:json
type taskStart struct {
	Stage   int64    `json:"Stage ID"`
	Attempt int64    `json:"Stage Attempt ID"`
	Info    taskInfo `json:"Task Info"`
}

//easyjson:json
type taskEnd struct {
	Stage   int64            `json:"Stage ID"`
	Attempt int64            `json:"Stage Attempt ID"`
	Type    word             `json:"Task Type"`
	Reason  taskEndReason    `json:"Task End Reason"`
	Info    taskInfo         `json:"Task Info"`
	Peaks   *ExecutorMetrics `json:"Task Executor Metrics"`
	Metrics *taskMetrics     `json:"Task Metrics"`
}

type taskInfo struct {
	ID            int64 `json:"Task ID"`
	Index         int64 `json:"Index"`
	Attempt       int64 `json:"Attempt"`
	Launched      int64 `json:"Launch Time"`
	Executor      word  `json:"Executor ID"`
	Host          word  `json:"Host"`
	Locality      word  `json:"Locality"`
	Speculative   bool  `json:"Speculative"`
	GettingResult int64 `json:"Getting Result Time"`
	Finished      int64 `json:"Finish Time"`
	Failed        bool  `json:"Failed"`
	Killed        bool  `json:"Killed"`
}

// task returns the task of a stage attempt.
func (i *taskInfo) task(stage, attempt int64) Task {
	return Task{
		ID: i.ID, StageID: stage, StageAttempt: attempt, Index: i.Index, Attempt: i.Attempt,
		Launched: i.Launched, Finished: i.Finished, GettingResult: i.GettingResult,
		Executor: string(i.Executor), Host: string(i.Host), Locality: string(i.Locality),
		Speculative: i.Speculative, Failed: i.Failed, Killed: i.Killed,
	}
}

// end makes the event, in the decoder's memory.
func (j *taskEnd) end(d *decoder) *TaskEnd {
	t := &d.taskEnd
	t.event = TaskEnd{
		Type: string(j.Type), Outcome: string(j.Reason.Reason), CountsAsFailure: j.Reason.counts(),
		Failure: j.Reason.failure(), Error: j.Reason.text(),
	}
	t.event.Task = j.Info.task(j.Stage, j.Attempt)
	if j.Metrics != nil {
		t.metrics = j.Metrics.metrics()
		t.event.Metrics = &t.metrics
	}
	if j.Peaks != nil {
		t.peaks = *j.Peaks
		t.event.Peaks = &t.peaks
	}
	return &t.event
}

type taskMetrics struct {
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
	Read                struct {
		RemoteBlocks  int64 `json:"Remote Blocks Fetched"`
		LocalBlocks   int64 `json:"Local Blocks Fetched"`
		FetchWaitTime int64 `json:"Fetch Wait Time"`
		RemoteBytes   int64 `json:"Remote Bytes Read"`
		RemoteToDisk  int64 `json:"Remote Bytes Read To Disk"`
		LocalBytes    int64 `json:"Local Bytes Read"`
		Records       int64 `json:"Total Records Read"`
	} `json:"Shuffle Read Metrics"`
	Write struct {
		Bytes   int64 `json:"Shuffle Bytes Written"`
		Time    int64 `json:"Shuffle Write Time"`
		Records int64 `json:"Shuffle Records Written"`
	} `json:"Shuffle Write Metrics"`
	Input struct {
		Bytes   int64 `json:"Bytes Read"`
		Records int64 `json:"Records Read"`
	} `json:"Input Metrics"`
	Output struct {
		Bytes   int64 `json:"Bytes Written"`
		Records int64 `json:"Records Written"`
	} `json:"Output Metrics"`
}

func (m *taskMetrics) metrics() TaskMetrics {
	return TaskMetrics{
		DeserializeTime: m.DeserializeTime, DeserializeCPUTime: m.DeserializeCPUTime, RunTime: m.RunTime, CPUTime: m.CPUTime,
		ResultSize: m.ResultSize, JVMGCTime: m.JVMGCTime, ResultSerialization: m.ResultSerialization,
		MemorySpilled: m.MemorySpilled, DiskSpilled: m.DiskSpilled, PeakExecutionMemory: m.PeakExecutionMemory,
		InputBytes: m.Input.Bytes, InputRecords: m.Input.Records, OutputBytes: m.Output.Bytes, OutputRecords: m.Output.Records,
		RemoteBlocks: m.Read.RemoteBlocks, LocalBlocks: m.Read.LocalBlocks, FetchWaitTime: m.Read.FetchWaitTime,
		RemoteBytes: m.Read.RemoteBytes, RemoteToDisk: m.Read.RemoteToDisk, LocalBytes: m.Read.LocalBytes, ReadRecords: m.Read.Records,
		WriteBytes: m.Write.Bytes, WriteTime: m.Write.Time, WriteRecords: m.Write.Records,
	}
}

// taskEndReason is the union of the fields that the reasons have.
type taskEndReason struct {
	Reason      word            `json:"Reason"`
	Class       string          `json:"Class Name"`            // ExceptionFailure
	Description string          `json:"Description"`           // ExceptionFailure
	StackTrace  string          `json:"Full Stack Trace"`      // ExceptionFailure
	Address     *blockManagerID `json:"Block Manager Address"` // FetchFailed
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
	for _, text := range []string{r.Message, r.Loss, r.Kill} {
		if text != "" {
			return string(r.Reason) + ": " + text
		}
	}
	return string(r.Reason)
}

// text is what Spark's UI shows (TaskFailedReason.toErrorString; of TaskKilled its reason).
func (r *taskEndReason) text() string {
	switch r.Reason {
	case Success:
		return ""
	case ExceptionFailure:
		if r.StackTrace != "" {
			return r.StackTrace
		}
		return r.failure()
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
	return string(r.Reason)
}
