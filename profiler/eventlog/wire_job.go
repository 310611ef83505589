package eventlog

import (
	"strconv"
)

type jobStart struct {
	ID         int64         `json:"'Job ID'"`
	Time       int64         `json:"'Submission Time'"`
	StageIDs   []int64       `json:"'Stage IDs'"`
	Stages     []stageInfo   `json:"'Stage Infos'"`
	Properties jobProperties `json:"Properties"`
}

func (j *jobStart) event(d *decoder) Event {
	start := &JobStart{ID: j.ID, Time: j.Time, Properties: j.Properties.properties()}
	for i := range j.Stages {
		start.Stages = append(start.Stages, j.Stages[i].stage(d))
	}
	if len(j.Stages) == 0 {
		for _, id := range j.StageIDs {
			start.Stages = append(start.Stages, Stage{ID: id})
		}
	}
	return start
}

type jobProperties struct {
	Execution   string `json:"'spark.sql.execution.id'"`
	Description string `json:"'spark.job.description'"`
	Group       string `json:"'spark.jobGroup.id'"`
	CallSite    string `json:"'callSite.short'"`
	Pool        string `json:"'spark.scheduler.pool'"`
	Query       string `json:"'sql.streaming.queryId'"`
	Batch       string `json:"'streaming.sql.batchId'"`
	Thread      string `json:"'traceparent'"`
	Session     string `json:"'spark.observatory.traceparent'"` // platform.SparkTraceparent; a test compares
}

func (j *jobProperties) properties() JobProperties {
	p := JobProperties{
		Description: cut(j.Description, maxText), Group: cut(j.Group, maxText), CallSite: cut(j.CallSite, maxText), Pool: j.Pool,
		Query: j.Query, Batch: j.Batch, ThreadParent: j.Thread, SessionParent: j.Session,
	}
	if id, err := strconv.ParseInt(j.Execution, 10, 64); err == nil {
		p.Execution = &id
	}
	return p
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

func (j *jobEnd) event(*decoder) Event {
	end := &JobEnd{ID: j.ID, Time: j.Time}
	if j.Result.Result != "JobSucceeded" {
		end.Failure = orUnknown(cut(j.Result.Exception.Message, maxText))
	}
	return end
}

func orUnknown(reason string) string {
	if reason == "" {
		return "unknown"
	}
	return reason
}

type stageInfo struct {
	ID              int64         `json:"'Stage ID'"`
	Attempt         int64         `json:"'Stage Attempt ID'"`
	Name            string        `json:"'Stage Name'"`
	Details         string        `json:"Details"`
	Tasks           int64         `json:"'Number of Tasks'"`
	Submitted       int64         `json:"'Submission Time'"`
	Completed       int64         `json:"'Completion Time'"`
	Failure         string        `json:"'Failure Reason'"`
	ResourceProfile *int64        `json:"'Resource Profile Id'"`
	Parents         []int64       `json:"'Parent IDs'"`
	Accumulables    []accumulable `json:"Accumulables"`
}

func (j *stageInfo) stage(*decoder) Stage {
	s := Stage{
		ID: j.ID, Attempt: j.Attempt, Name: cut(j.Name, maxText), Details: cut(j.Details, maxText), Tasks: j.Tasks,
		Submitted: j.Submitted, Completed: j.Completed, Failure: cut(j.Failure, maxText),
		ResourceProfile: j.ResourceProfile, Parents: j.Parents,
	}
	for i := range j.Accumulables {
		if a := &j.Accumulables[i]; a.Metadata == "sql" && a.Value.known {
			s.Accumulators = append(s.Accumulators, Accumulator{ID: a.ID, Value: a.Value.value})
		}
	}
	return s
}

// accumulable is the total of an accumulator over a stage. Spark writes the values of SQL
// metrics as texts, and lists for others.
type accumulable struct {
	ID       int64  `json:"ID"`
	Value    number `json:"Value"`
	Metadata string `json:"Metadata"`
}

// number is a value that is an integer, plain or as text; unknown if it is anything else.
type number struct {
	value int64
	known bool
}

func (n *number) UnmarshalJSON(text []byte) error {
	if len(text) > 1 && text[0] == '"' {
		text = text[1 : len(text)-1]
	}
	value, err := strconv.ParseInt(string(text), 10, 64)
	*n = number{value, err == nil}
	return nil
}

type stageSubmitted struct {
	Info       stageInfo     `json:"'Stage Info'"`
	Properties jobProperties `json:"Properties"`
}

func (j *stageSubmitted) event(d *decoder) Event {
	return &StageSubmitted{Stage: j.Info.stage(d), Properties: j.Properties.properties()}
}

type stageCompleted struct {
	Info stageInfo `json:"'Stage Info'"`
}

func (j *stageCompleted) event(d *decoder) Event { return &StageCompleted{Stage: j.Info.stage(d)} }

type stageExecutorMetrics struct {
	Executor string          `json:"'Executor ID'"`
	Stage    int64           `json:"'Stage ID'"`
	Attempt  int64           `json:"'Stage Attempt ID'"`
	Peaks    executorMetrics `json:"'Executor Metrics'"`
}

func (j *stageExecutorMetrics) event(d *decoder) Event {
	return &StageExecutorMetrics{Executor: d.words.of(j.Executor), Stage: j.Stage, Attempt: j.Attempt, Peaks: ExecutorMetrics(j.Peaks)}
}

// executorMetrics are some of org.apache.spark.metrics.ExecutorMetricType.
type executorMetrics struct {
	JVMHeap          int64 `json:"JVMHeapMemory"`
	JVMOffHeap       int64 `json:"JVMOffHeapMemory"`
	OnHeapExecution  int64 `json:"OnHeapExecutionMemory"`
	OffHeapExecution int64 `json:"OffHeapExecutionMemory"`
	OnHeapStorage    int64 `json:"OnHeapStorageMemory"`
	OffHeapStorage   int64 `json:"OffHeapStorageMemory"`
	JVMRSS           int64 `json:"ProcessTreeJVMRSSMemory"`
	PythonRSS        int64 `json:"ProcessTreePythonRSSMemory"`
	OtherRSS         int64 `json:"ProcessTreeOtherRSSMemory"`
	TotalGCTime      int64 `json:"TotalGCTime"`
}
