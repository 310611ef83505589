package eventlog

import (
	"cmp"

	"github.com/emr-observatory/emr-observatory/phases"
)

// Phase returns what the engine of package phases needs of an event; nil if nothing.
func Phase(event Event) phases.Event {
	switch e := event.(type) {
	case *TaskStart:
		return phases.TaskStart{Task: e.Phase()}
	case *TaskEnd:
		return e.Phase()
	case *StageSubmitted:
		return phases.StageSubmitted{Stage: e.phase()}
	case *StageCompleted:
		return phases.StageCompleted{Stage: e.phase()}
	case *JobStart:
		return e.phase()
	case *JobEnd:
		return phases.JobEnd{ID: e.ID, Time: e.Time, Failure: e.Failure}
	case *SQLStart:
		root := e.ID
		if e.Root != nil {
			root = *e.Root
		}
		return phases.SQLStart{ID: e.ID, Time: e.Time, Root: root, Description: e.Description, Writes: e.Plan.writes()}
	case *SQLPlan:
		return phases.SQLPlan{ID: e.ID, Writes: e.Plan.writes()}
	case *SQLEnd:
		return phases.SQLEnd{ID: e.ID, Time: e.Time, Failure: e.Failure}
	}
	return applicationPhase(event)
}

func applicationPhase(event Event) phases.Event {
	switch e := event.(type) {
	case *LogStart:
		return phases.LogStart{SparkVersion: e.SparkVersion}
	case *ApplicationStart:
		return phases.ApplicationStart{Time: e.Time, Name: e.Name, ID: e.ID, Attempt: e.Attempt}
	case *ApplicationEnd:
		return phases.ApplicationEnd{Time: e.Time}
	case *EnvironmentUpdate:
		return phases.EnvironmentUpdate{Spark: e.Spark, Command: e.System["sun.java.command"], Folder: e.System["user.dir"]}
	case *ExecutorAdded:
		return phases.ExecutorAdded{Time: e.Time, ID: e.ID, Host: e.Host, Profile: profile(e.ResourceProfile)}
	case *ExecutorRemoved:
		return phases.ExecutorRemoved{Time: e.Time, ID: e.ID}
	case *ExecutorExcluded:
		return e.phase()
	case *BlockManagerAdded:
		return phases.BlockManagerAdded{Time: e.Time, Executor: e.Executor}
	case *Lost:
		return phases.Lost{Reason: e.Reason}
	}
	return nil
}

// Phase returns what the engine of package phases needs of a task.
func (t *Task) Phase() phases.Task {
	return phases.Task{
		ID: t.ID, StageID: t.StageID, StageAttempt: t.StageAttempt, Index: t.Index, Attempt: t.Attempt,
		Launched: t.Launched, Finished: t.Finished, Executor: t.Executor, Host: t.Host, Speculative: t.Speculative,
	}
}

// Phase returns what the engine of package phases needs of the end of a task.
func (t *TaskEnd) Phase() phases.TaskEnd {
	end := phases.TaskEnd{Task: t.Task.Phase(), Type: t.Type, Outcome: t.Outcome, Failure: t.Failure}
	if m := t.Metrics; m != nil {
		end.Metrics = phases.TaskMetrics{
			RunMillis: m.RunTime, InputBytes: m.InputBytes, BytesWritten: m.OutputBytes, RecordsWritten: m.OutputRecords,
			ShuffleRead: m.RemoteBytes + m.LocalBytes, ShuffleWritten: m.WriteBytes, DiskSpilled: m.DiskSpilled,
		}
	}
	return end
}

func (s *Stage) phase() phases.Stage {
	return phases.Stage{
		ID: s.ID, Attempt: s.Attempt, Name: s.Name, Tasks: s.Tasks, Submitted: s.Submitted, Completed: s.Completed, Failure: s.Failure,
		Profile: profile(s.ResourceProfile),
	}
}

// profile returns the id of a resource profile: the default, 0, before Spark 3.1, which has none.
func profile(id *int64) int64 {
	if id == nil {
		return 0
	}
	return *id
}

func (e *ExecutorExcluded) phase() phases.Event {
	if e.ID == "" && e.Host == "" {
		return nil // the event names neither
	}
	excluded := phases.ExecutorExcluded{Time: e.Time, Executor: e.ID, Host: e.Host, Undo: e.Undo}
	if e.Stage != nil {
		excluded.ForStage, excluded.Stage, excluded.Attempt = true, *e.Stage, e.Attempt
	}
	return excluded
}

func (j *JobStart) phase() phases.Event {
	p := &j.Properties
	start := phases.JobStart{
		ID: j.ID, Time: j.Time, Execution: phases.NoExecution, Description: cmp.Or(p.Description, p.CallSite),
		Query: p.Query, Batch: p.Batch, ThreadParent: p.ThreadParent, SessionParent: p.SessionParent,
	}
	for i := range j.Stages {
		start.Stages = append(start.Stages, j.Stages[i].ID)
	}
	if p.Execution != nil {
		start.Execution = *p.Execution
	}
	return start
}

// writes reports whether an operator of the plan writes.
func (n *PlanNode) writes() bool {
	if phases.Writes(n.Name) {
		return true
	}
	for i := range n.Children {
		if n.Children[i].writes() {
			return true
		}
	}
	return false
}
