package eventlog

import "cmp"

// JobStart is a job, with all stages that it may need.
//
//easyjson:json
type JobStart struct {
	ID         int64         `json:"Job ID"`
	Time       int64         `json:"Submission Time"`
	Stages     []Stage       `json:"Stage Infos"`
	StageIDs   []int64       `json:"Stage IDs"` // nil: they are those of Stages
	Properties JobProperties `json:"Properties"`
}

func (j *JobStart) event(*decoder) Event {
	if len(j.Stages) == 0 {
		for _, id := range j.StageIDs {
			j.Stages = append(j.Stages, Stage{ID: id})
		}
	}
	j.StageIDs = nil
	return j
}

// JobProperties are the local properties of a job that this project uses.
type JobProperties struct {
	Execution    *int64 `json:"spark.sql.execution.id" skim:"integer"`
	Description  string `json:"spark.job.description"`
	Group        string `json:"spark.jobGroup.id"`
	CallSite     string `json:"callSite.short"`
	Pool         string `json:"spark.scheduler.pool"`
	Query        string `json:"sql.streaming.queryId"`
	Batch        string `json:"streaming.sql.batchId"`
	ThreadParent string `json:"traceparent"`
	Tags         string `json:"spark.job.tags"`
	// Names of package platform; a test compares.
	SessionParent    string `json:"spark.observatory.traceparent"`
	ConnectOperation string `json:"spark.observatory.connect.operation"`
	AirflowDAG       string `json:"spark.observatory.airflow.dag_id"`
	AirflowTask      string `json:"spark.observatory.airflow.task_id"`
	AirflowRun       string `json:"spark.observatory.airflow.run_id"`
	AirflowTry       string `json:"spark.observatory.airflow.try_number"`
}

// JobEnd is the end of a job.
type JobEnd struct {
	ID, Time int64
	Failure  string // "" if it succeeded
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
		end.Failure = cmp.Or(j.Result.Exception.Message, "unknown")
	}
	return end
}

// Stage is an attempt of a stage.
type Stage struct {
	ID        int64  `json:"Stage ID"`
	Attempt   int64  `json:"Stage Attempt ID"`
	Name      string `json:"Stage Name"`
	Tasks     int64  `json:"Number of Tasks"`
	Submitted int64  `json:"Submission Time"`
	Completed int64  `json:"Completion Time"`
	Failure   string `json:"Failure Reason"` // "" if it succeeded, or still runs
	// Accumulables are totals over the stage's tasks, only in StageCompleted.
	Accumulables    []Accumulable `json:"Accumulables"`
	ResourceProfile *int64        `json:"Resource Profile Id"`
}

// Accumulable is the total of an accumulator over a stage. Spark writes the values of SQL
// metrics as texts, and lists for others.
type Accumulable struct {
	ID       int64  `json:"ID"`
	Value    *int64 `json:"Value" skim:"integer"` // nil of those that are no number
	Metadata string `json:"Metadata"`
}

// Accumulator is the value of an accumulator of a SQL metric.
type Accumulator struct{ ID, Value int64 }

// Accumulators returns the values of the SQL metrics among the stage's accumulables.
func (s *Stage) Accumulators() (found []Accumulator) {
	for _, a := range s.Accumulables {
		if a.Metadata == "sql" && a.Value != nil {
			found = append(found, Accumulator{a.ID, *a.Value})
		}
	}
	return found
}

// StageSubmitted is an attempt that starts. Properties are those of its job.
//
//easyjson:json
type StageSubmitted struct {
	Stage      `json:"Stage Info"`
	Properties JobProperties `json:"Properties"`
}

// StageCompleted is an attempt that ended.
//
//easyjson:json
type StageCompleted struct {
	Stage `json:"Stage Info"`
}
