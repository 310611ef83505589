package fold

import (
	"cmp"
	"slices"

	"github.com/emr-observatory/emr-observatory/profiler/eventlog"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

type stageKey struct{ id, attempt int64 }

// stage is an open attempt of a stage (org.apache.spark.status.LiveStage).
type stage struct {
	of      *stageID
	row     tables.StageRow
	jobs    []*job
	indices indices // of tasks that succeeded
	samples samples // of tasks that succeeded
	// others are those metrics of the other tasks that Spark does not leave out of their
	// quantiles, up to gettingResult.
	others [gettingResult + 1][]int64
}

// stageID is what the attempts of a stage have in common. It is forgotten once all jobs
// that name it have ended, and all its attempts.
type stageID struct {
	id     int64
	jobs   []*job // that name it
	jobIDs []int64
	live   int    // of them, those that have not ended
	ended  []*job // of them, those that wait for an open attempt
	open   []*stage
	done   []doneStage // until no job can name the stage again
}

// doneStage is an attempt that ended.
type doneStage struct {
	row     tables.StageRow
	summary *tables.TaskSummary
	p95     float64
}

func (l *listener) stageID(id int64) *stageID {
	of := l.stageIDs[id]
	if of == nil {
		of = &stageID{id: id}
		l.stageIDs[id] = of
	}
	return of
}

// defaultPool is org.apache.spark.ui.SparkUI.DEFAULT_POOL_NAME.
const defaultPool = "default"

// openStage returns the attempt, opened if it was not. A job can name a stage again that
// was done: Spark's listener then begins it again. It returns nil if its row is written.
func (l *listener) openStage(of *stageID, number int64) *stage {
	key := stageKey{of.id, number}
	if s := l.open[key]; s != nil {
		return s
	}
	if l.seen.attempts.has(of.id, number) {
		return nil
	}
	s := &stage{of: of, row: tables.StageRow{
		Stage: tables.Stage{StageID: of.id, StageAttemptID: number}, Status: StagePending, SchedulingPool: new(defaultPool),
	}}
	l.open[key] = s
	of.open = append(of.open, s)
	return s
}

// stageOf returns the attempt that a task or the end of a stage names; nil if it is done.
// If its start was lost, it is opened.
func (l *listener) stageOf(id, number int64) *stage {
	if s := l.open[stageKey{id, number}]; s != nil {
		return s
	}
	of := l.stageIDs[id]
	if of != nil && slices.ContainsFunc(of.done, func(d doneStage) bool { return d.row.StageAttemptID == number }) {
		return nil
	}
	if l.seen.attempts.has(id, number) {
		return nil
	}
	s := l.openStage(l.stageID(id), number)
	s.submit()
	return s
}

// inform fills in what an event says of the stage.
func (s *stage) inform(info *eventlog.Stage) {
	s.row.StageName, s.row.NumTasks, s.row.FailureReason = info.Name, info.Tasks, nonEmpty(info.Failure)
	s.row.SubmissionTime, s.row.CompletionTime = info.Submitted, info.Completed
	if info.ResourceProfile != nil {
		s.row.ResourceProfileID = new(*info.ResourceProfile)
	}
}

func (l *listener) stageSubmitted(e *eventlog.StageSubmitted) {
	l.see(e.Submitted)
	of := l.stageID(e.ID)
	s := l.openStage(of, e.Attempt)
	if s == nil {
		return
	}
	s.inform(&e.Stage)
	s.row.Description, s.row.SchedulingPool = nonEmpty(e.Properties.Description), new(cmp.Or(e.Properties.Pool, defaultPool))
	if s.row.Status != StageActive { // else one of its tasks came first
		s.submit()
	}
}

// submit makes the attempt one of all jobs that are open and name it.
func (s *stage) submit() {
	s.row.Status = StageActive
	s.jobs = slices.DeleteFunc(slices.Clone(s.of.jobs), func(j *job) bool { return j.ended })
	for _, j := range s.jobs {
		delete(j.completed, s.of.id)
		j.row.NumActiveStages++
	}
}

func (l *listener) stageCompleted(e *eventlog.StageCompleted) error {
	l.see(max(e.Submitted, e.Completed))
	s := l.stageOf(e.ID, e.Attempt)
	if s == nil {
		l.forgetDead()
		return nil
	}
	s.inform(&e.Stage)
	if s.row.Status == StagePending && e.Submitted > 0 { // the event of its submission was lost
		s.submit()
	}
	switch {
	case e.Failure != "":
		s.row.Status = StageFailed
	case e.Submitted > 0:
		s.row.Status = StageComplete
	default: // old logs tell only here that a stage was skipped
		s.row.Status = StageSkipped
	}
	for _, j := range s.jobs {
		switch s.row.Status {
		case StageComplete:
			j.completed[e.ID] = struct{}{}
		case StageSkipped:
			j.skipped[e.ID] = struct{}{}
			j.row.NumSkippedTasks += e.Tasks
		default:
			j.row.NumFailedStages++
		}
		j.row.NumActiveStages--
	}
	for _, j := range s.of.jobs {
		if j.row.SQLID != nil {
			l.execution(*j.row.SQLID).report(e.Accumulators)
		}
	}
	if s.row.NumActiveTasks == 0 {
		l.finish(s)
	}
	l.forgetDead()
	return l.release(s.of)
}

// finish ends an attempt: nothing changes it but a job that names its stage again.
func (l *listener) finish(s *stage) {
	of := s.of
	delete(l.open, stageKey{of.id, s.row.StageAttemptID})
	of.open = slices.DeleteFunc(of.open, func(other *stage) bool { return other == s })
	l.seen.stage(s, l.ended)
	done := doneStage{row: s.row}
	done.summary, done.p95 = l.summarize(s)
	for i := range of.done {
		if of.done[i].row.StageAttemptID == s.row.StageAttemptID { // its tasks stay in Spark's store
			of.done[i].row = s.row
			return
		}
	}
	of.done = append(of.done, done)
}

// release writes what no later event changes.
func (l *listener) release(of *stageID) error {
	if len(of.open) == 0 {
		for _, j := range of.ended {
			if j.waits--; j.waits == 0 {
				if err := l.job(&j.written); err != nil {
					return err
				}
			}
		}
		of.ended = nil
	}
	if of.live > 0 {
		return nil
	}
	var waiting []doneStage // begun again
	for i := range of.done {
		d := &of.done[i]
		if l.open[stageKey{of.id, d.row.StageAttemptID}] != nil {
			waiting = append(waiting, *d)
			continue
		}
		d.row.JobIDs = of.jobIDs
		l.seen.attempts.add(of.id, d.row.StageAttemptID)
		if err := l.stage(&d.row, d.summary, d.p95); err != nil {
			return err
		}
	}
	of.done = waiting
	if len(of.open) == 0 {
		delete(l.stageIDs, of.id)
	}
	return nil
}

func (l *listener) closeStages() error {
	for _, id := range sorted(l.stageIDs) {
		of := l.stageIDs[id]
		of.live = 0
		for _, s := range slices.Clone(of.open) {
			if s.row.CompletionTime == 0 { // else tasks of it have no end
				l.seen.openStages++
			}
			l.finish(s)
		}
		if err := l.release(of); err != nil {
			return err
		}
	}
	return nil
}
