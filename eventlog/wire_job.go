package eventlog

import (
	"strconv"
)

//easyjson:json
type jobStart struct {
	ID         int64         `json:"Job ID"`
	Time       int64         `json:"Submission Time"`
	Stages     []stageInfo   `json:"Stage Infos"`
	StageIDs   []int64       `json:"Stage IDs"`
	Properties jobProperties `json:"Properties"`
}

func (j *jobStart) event(*decoder) Event {
	start := &JobStart{ID: j.ID, Time: j.Time, Properties: j.Properties.properties()}
	for i := range j.Stages {
		start.Stages = append(start.Stages, j.Stages[i].stage())
	}
	if len(j.Stages) == 0 {
		for _, id := range j.StageIDs {
			start.Stages = append(start.Stages, Stage{ID: id})
		}
	}
	return start
}

type jobProperties struct {
	Execution   string `json:"spark.sql.execution.id"`
	Description string `json:"spark.job.description"`
	Group       string `json:"spark.jobGroup.id"`
	CallSite    string `json:"callSite.short"`
	Pool        string `json:"spark.scheduler.pool"`
	Query       string `json:"sql.streaming.queryId"`
	Batch       string `json:"streaming.sql.batchId"`
	Thread      string `json:"traceparent"`
	Session     string `json:"spark.observatory.traceparent"` // platform.SparkTraceparent; a test compares
}

func (j *jobProperties) properties() JobProperties {
	p := JobProperties{
		Description: j.Description, Group: j.Group, CallSite: j.CallSite, Pool: j.Pool,
		Query: j.Query, Batch: j.Batch, ThreadParent: j.Thread, SessionParent: j.Session,
	}
	if id, err := strconv.ParseInt(j.Execution, 10, 64); err == nil {
		p.Execution = &id
	}
	return p
}

//easyjson:json
type jobEnd struct {
	ID     int64 `json:"Job ID"`
	Time   int64 `json:"Completion Time"`
	Result struct {
		Result    string `json:"Result"`
		Exception struct {
			Message string `json:"Message"`
		} `json:"Exception"`
	} `json:"Job Result"`
}

func (j *jobEnd) event(*decoder) Event {
	end := &JobEnd{ID: j.ID, Time: j.Time}
	if j.Result.Result != "JobSucceeded" {
		end.Failure = orUnknown(j.Result.Exception.Message)
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
	ID              int64         `json:"Stage ID"`
	Attempt         int64         `json:"Stage Attempt ID"`
	Name            string        `json:"Stage Name"`
	Tasks           int64         `json:"Number of Tasks"`
	Parents         []int64       `json:"Parent IDs"`
	Submitted       int64         `json:"Submission Time"`
	Completed       int64         `json:"Completion Time"`
	Failure         string        `json:"Failure Reason"`
	Accumulables    []accumulable `json:"Accumulables"`
	ResourceProfile *int64        `json:"Resource Profile Id"`
}

func (j *stageInfo) stage() Stage {
	s := Stage{
		ID: j.ID, Attempt: j.Attempt, Name: j.Name, Tasks: j.Tasks,
		Submitted: j.Submitted, Completed: j.Completed, Failure: j.Failure,
		ResourceProfile: j.ResourceProfile, Parents: j.Parents,
	}
	for i := range j.Accumulables {
		if a := &j.Accumulables[i]; a.Metadata == "sql" && a.Value != nil {
			s.Accumulators = append(s.Accumulators, Accumulator{ID: a.ID, Value: int64(*a.Value)})
		}
	}
	return s
}

// accumulable is the total of an accumulator over a stage. Spark writes the values of SQL
// metrics as texts, and lists for others.
type accumulable struct {
	ID       int64    `json:"ID"`
	Value    *integer `json:"Value"`
	Metadata string   `json:"Metadata"`
}

//easyjson:json
type stageSubmitted struct {
	Info       stageInfo     `json:"Stage Info"`
	Properties jobProperties `json:"Properties"`
}

func (j *stageSubmitted) event(*decoder) Event {
	return &StageSubmitted{Stage: j.Info.stage(), Properties: j.Properties.properties()}
}

//easyjson:json
type stageCompleted struct {
	Info stageInfo `json:"Stage Info"`
}

func (j *stageCompleted) event(*decoder) Event { return &StageCompleted{Stage: j.Info.stage()} }

//easyjson:json
type stageExecutorMetrics struct {
	Executor string          `json:"Executor ID,nocopy"` // event keeps what words returns for it
	Stage    int64           `json:"Stage ID"`
	Attempt  int64           `json:"Stage Attempt ID"`
	Peaks    ExecutorMetrics `json:"Executor Metrics"`
}

func (j *stageExecutorMetrics) event(d *decoder) Event {
	return &StageExecutorMetrics{Executor: d.words.of(j.Executor), Stage: j.Stage, Attempt: j.Attempt, Peaks: j.Peaks}
}

// executorMetricsUpdate is a heartbeat. Of logs, only the driver's are there, whose peaks
// belong to no stage (org.apache.spark.scheduler.EventLoggingListener.onExecutorMetricsUpdate).
//
//easyjson:json
type executorMetricsUpdate struct {
	Executor string                 `json:"Executor ID"`
	Updates  []stageExecutorMetrics `json:"Executor Metrics Updated"`
}

func (j *executorMetricsUpdate) event(d *decoder) Event {
	if len(j.Updates) == 0 {
		return nil
	}
	latest := &j.Updates[len(j.Updates)-1]
	latest.Executor = j.Executor
	return latest.event(d)
}
