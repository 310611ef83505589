package eventlog

import (
	"cmp"

	"github.com/emr-observatory/emr-observatory/phases"
)

// The types of this file are the parts of Spark's JSON that this project uses
// (org.apache.spark.util.JsonProtocol; events of SQL: Jackson's view of the case
// classes in org.apache.spark.sql.execution.ui). What a version of Spark leaves out is zero.

type logStart struct {
	Version string `json:"'Spark Version'"`
}

func (j logStart) event() phases.Event { return phases.LogStart{SparkVersion: j.Version} }

type applicationStart struct {
	Name    string `json:"'App Name'"`
	ID      string `json:"'App ID'"`
	Time    int64  `json:"Timestamp"`
	Attempt string `json:"'App Attempt ID'"`
}

func (j applicationStart) event() phases.Event {
	return phases.ApplicationStart{Time: j.Time, Name: j.Name, ID: j.ID, Attempt: j.Attempt}
}

type applicationEnd struct {
	Time int64 `json:"Timestamp"`
}

func (j applicationEnd) event() phases.Event { return phases.ApplicationEnd{Time: j.Time} }

type environmentUpdate struct {
	Spark  map[string]string `json:"'Spark Properties'"`
	System struct {
		Command string `json:"'sun.java.command'"`
		Folder  string `json:"'user.dir'"`
	} `json:"'System Properties'"`
}

func (j environmentUpdate) event() phases.Event {
	return phases.EnvironmentUpdate{Spark: j.Spark, Command: j.System.Command, Folder: j.System.Folder}
}

type executorAdded struct {
	Time int64  `json:"Timestamp"`
	ID   string `json:"'Executor ID'"`
}

func (j executorAdded) event() phases.Event { return phases.ExecutorAdded{Time: j.Time, ID: j.ID} }

type executorRemoved struct {
	Time int64  `json:"Timestamp"`
	ID   string `json:"'Executor ID'"`
}

func (j executorRemoved) event() phases.Event { return phases.ExecutorRemoved{Time: j.Time, ID: j.ID} }

type blockManagerAdded struct {
	Time int64 `json:"Timestamp"`
	ID   struct {
		Executor string `json:"'Executor ID'"`
	} `json:"'Block Manager ID'"`
}

func (j blockManagerAdded) event() phases.Event {
	return phases.BlockManagerAdded{Time: j.Time, Executor: j.ID.Executor}
}

type jobStart struct {
	ID         int64   `json:"'Job ID'"`
	Time       int64   `json:"'Submission Time'"`
	Stages     []int64 `json:"'Stage IDs'"`
	Properties struct {
		Execution   *int64 `json:"'spark.sql.execution.id',string"`
		Description string `json:"'spark.job.description'"`
		CallSite    string `json:"'callSite.short'"`
		Query       string `json:"'sql.streaming.queryId'"`
		Batch       string `json:"'streaming.sql.batchId'"`
		Thread      string `json:"'traceparent'"`
		Session     string `json:"'spark.observatory.traceparent'"` // platform.SparkTraceparent; a test compares
	} `json:"Properties"`
}

func (j jobStart) event() phases.Event {
	start := phases.JobStart{
		ID: j.ID, Time: j.Time, Stages: j.Stages, Execution: phases.NoExecution,
		Description: cmp.Or(j.Properties.Description, j.Properties.CallSite), Query: j.Properties.Query, Batch: j.Properties.Batch,
		ThreadParent: j.Properties.Thread, SessionParent: j.Properties.Session,
	}
	if j.Properties.Execution != nil {
		start.Execution = *j.Properties.Execution
	}
	return start
}

type jobEnd struct {
	ID     int64 `json:"'Job ID'"`
	Time   int64 `json:"'Completion Time'"`
	Result struct {
		Result    string `json:"Result"`
		Exception struct {
			Message string `json:"Message"`
		} `json:"Exception"`
	} `json:"'Job Result'"`
}

func (j jobEnd) event() phases.Event {
	end := phases.JobEnd{ID: j.ID, Time: j.Time}
	if j.Result.Result != "JobSucceeded" {
		end.Failure = orUnknown(j.Result.Exception.Message)
	}
	return end
}

type stageEvent struct {
	Info struct {
		ID        int64  `json:"'Stage ID'"`
		Attempt   int64  `json:"'Stage Attempt ID'"`
		Name      string `json:"'Stage Name'"`
		Tasks     int64  `json:"'Number of Tasks'"`
		Submitted int64  `json:"'Submission Time'"`
		Completed int64  `json:"'Completion Time'"`
		Failure   string `json:"'Failure Reason'"`
	} `json:"'Stage Info'"`
}

func (j stageEvent) stage() phases.Stage { return phases.Stage(j.Info) }

type stageSubmitted struct{ stageEvent }

func (j stageSubmitted) event() phases.Event { return phases.StageSubmitted{Stage: j.stage()} }

type stageCompleted struct{ stageEvent }

func (j stageCompleted) event() phases.Event { return phases.StageCompleted{Stage: j.stage()} }

type taskEvent struct {
	Stage   int64 `json:"'Stage ID'"`
	Attempt int64 `json:"'Stage Attempt ID'"`
	Info    struct {
		ID          int64  `json:"'Task ID'"`
		Index       int64  `json:"Index"`
		Attempt     int64  `json:"Attempt"`
		Launched    int64  `json:"'Launch Time'"`
		Finished    int64  `json:"'Finish Time'"`
		Executor    string `json:"'Executor ID'"`
		Host        string `json:"Host"`
		Speculative bool   `json:"Speculative"`
	} `json:"'Task Info'"`
}

func (j taskEvent) task() phases.Task {
	i := j.Info
	return phases.Task{
		ID: i.ID, StageID: j.Stage, StageAttempt: j.Attempt, Index: i.Index, Attempt: i.Attempt,
		Launched: i.Launched, Finished: i.Finished, Executor: i.Executor, Host: i.Host, Speculative: i.Speculative,
	}
}

type taskStart struct{ taskEvent }

func (j taskStart) event() phases.Event { return phases.TaskStart{Task: j.task()} }

type taskEnd struct {
	taskEvent
	Type    string        `json:"'Task Type'"`
	Reason  taskEndReason `json:"'Task End Reason'"`
	Metrics struct {
		Run      int64 `json:"'Executor Run Time'"`
		Spilled  int64 `json:"'Disk Bytes Spilled'"`
		ReadFrom struct {
			Remote int64 `json:"'Remote Bytes Read'"`
			Local  int64 `json:"'Local Bytes Read'"`
		} `json:"'Shuffle Read Metrics'"`
		WrittenTo struct {
			Bytes int64 `json:"'Shuffle Bytes Written'"`
		} `json:"'Shuffle Write Metrics'"`
		Input struct {
			Bytes int64 `json:"'Bytes Read'"`
		} `json:"'Input Metrics'"`
		Output struct {
			Bytes   int64 `json:"'Bytes Written'"`
			Records int64 `json:"'Records Written'"`
		} `json:"'Output Metrics'"`
	} `json:"'Task Metrics'"`
}

// taskEndReason is the union of the fields that the reasons have.
type taskEndReason struct {
	Reason      string `json:"Reason"`
	Class       string `json:"'Class Name'"`  // ExceptionFailure
	Description string `json:"Description"`   // ExceptionFailure
	Message     string `json:"Message"`       // FetchFailed
	Loss        string `json:"'Loss Reason'"` // ExecutorLostFailure
	Kill        string `json:"'Kill Reason'"` // TaskKilled
}

func (r taskEndReason) failure() string {
	if r.Reason == phases.Success {
		return ""
	}
	if r.Class != "" {
		return r.Class + ": " + r.Description
	}
	for _, text := range []string{r.Message, r.Loss, r.Kill} {
		if text != "" {
			return r.Reason + ": " + text
		}
	}
	return r.Reason
}

func (j taskEnd) event() phases.Event {
	m := j.Metrics
	return phases.TaskEnd{
		Task: j.task(), Type: j.Type, Outcome: j.Reason.Reason, Failure: j.Reason.failure(),
		Metrics: phases.TaskMetrics{
			RunMillis: m.Run, InputBytes: m.Input.Bytes, BytesWritten: m.Output.Bytes, RecordsWritten: m.Output.Records,
			ShuffleRead: m.ReadFrom.Remote + m.ReadFrom.Local, ShuffleWritten: m.WrittenTo.Bytes, DiskSpilled: m.Spilled,
		},
	}
}

type planNode struct {
	Name     string     `json:"nodeName"`
	Children []planNode `json:"children"`
}

func (n planNode) writes() bool {
	if phases.Writes(n.Name) {
		return true
	}
	for _, child := range n.Children {
		if child.writes() {
			return true
		}
	}
	return false
}

type sqlStart struct {
	ID          int64    `json:"executionId"`
	Root        *int64   `json:"rootExecutionId"` // Spark 3.4 and later
	Description string   `json:"description"`
	Plan        planNode `json:"sparkPlanInfo"`
	Time        int64    `json:"time"`
}

func (j sqlStart) event() phases.Event {
	start := phases.SQLStart{ID: j.ID, Time: j.Time, Root: j.ID, Description: j.Description, Writes: j.Plan.writes()}
	if j.Root != nil {
		start.Root = *j.Root
	}
	return start
}

type sqlPlan struct {
	ID   int64    `json:"executionId"`
	Plan planNode `json:"sparkPlanInfo"`
}

func (j sqlPlan) event() phases.Event { return phases.SQLPlan{ID: j.ID, Writes: j.Plan.writes()} }

type sqlEnd struct {
	ID      int64  `json:"executionId"`
	Time    int64  `json:"time"`
	Failure string `json:"errorMessage"`
}

func (j sqlEnd) event() phases.Event {
	return phases.SQLEnd{ID: j.ID, Time: j.Time, Failure: j.Failure}
}

func orUnknown(reason string) string {
	if reason == "" {
		return "unknown"
	}
	return reason
}
