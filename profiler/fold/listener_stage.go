package fold

import (
	"cmp"
	"slices"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

type stageKey struct{ id, attempt int64 }

// stage is an open stage attempt (org.apache.spark.status.LiveStage).
type stage struct {
	group   *stageGroup
	row     tables.StageRow
	jobs    []*job
	indices indices // of successful tasks
	samples samples // of successful tasks
	// others are durations, scheduler delays and getting-result times of the other tasks: Spark
	// includes them in the quantiles.
	others [numMetrics][]int64
	hosts  hosts // of successful tasks
}

// stageGroup is what the attempts of a stage share. It is dropped once all its attempts,
// and all jobs that include the stage, have ended.
type stageGroup struct {
	id     int64
	jobs   []*job // that include the stage
	jobIDs []int64
	live   int    // number of jobs that have not ended
	ended  []*job // jobs that wait for an open attempt
	open   []*stage
	done   []doneStage // kept while a running job may reopen them
}

// doneStage is a stage attempt that ended.
type doneStage struct {
	row     tables.StageRow
	summary *tables.TaskSummary
}

func (l *listener) stageGroup(id int64) *stageGroup {
	group := l.stageGroups[id]
	if group == nil {
		group = &stageGroup{id: id}
		l.stageGroups[id] = group
	}
	return group
}

// defaultPool is org.apache.spark.ui.SparkUI.DEFAULT_POOL_NAME.
const defaultPool = "default"

// openStage returns a stage attempt, opening it if necessary. If a later job includes a
// stage that is already done, Spark's listener opens it anew. openStage returns nil if the
// row of the attempt is already written.
func (l *listener) openStage(group *stageGroup, number int64) *stage {
	key := stageKey{group.id, number}
	if s := l.open[key]; s != nil {
		return s
	}
	if l.seen.attempts.has(group.id, number) {
		return nil
	}
	s := &stage{group: group, row: tables.StageRow{
		Stage: tables.Stage{StageID: group.id, StageAttemptID: number}, Status: StagePending, SchedulingPool: new(defaultPool),
		NumResubmittedTasks: new(int64),
	}}
	l.open[key] = s
	group.open = append(group.open, s)
	return s
}

// stageOf returns the stage attempt of a task or of the end of a stage, nil if it is done.
// If the attempt's start was lost, stageOf opens it.
func (l *listener) stageOf(id, number int64) *stage {
	if s := l.open[stageKey{id, number}]; s != nil {
		return s
	}
	group := l.stageGroups[id]
	if group != nil && slices.ContainsFunc(group.done, func(d doneStage) bool { return d.row.StageAttemptID == number }) {
		return nil
	}
	if l.seen.attempts.has(id, number) {
		return nil
	}
	s := l.openStage(l.stageGroup(id), number)
	s.submit()
	return s
}

// update copies what an event's StageInfo says into the stage's row.
func (s *stage) update(info *eventlog.Stage) {
	s.row.StageName, s.row.NumTasks, s.row.FailureReason = info.Name, info.Tasks, nonEmpty(info.Failure)
	s.row.SubmissionTime, s.row.CompletionTime = info.Submitted, info.Completed
	if info.ResourceProfile != nil {
		s.row.ResourceProfileID = new(*info.ResourceProfile)
	}
}

func (l *listener) stageSubmitted(e *eventlog.StageSubmitted) {
	l.noteTime(e.Submitted)
	group := l.stageGroup(e.ID)
	s := l.openStage(group, e.Attempt)
	if s == nil {
		return
	}
	s.update(&e.Stage)
	s.row.Description, s.row.SchedulingPool = nonEmpty(e.Properties.Description), new(cmp.Or(e.Properties.Pool, defaultPool))
	if s.row.Status != StageActive { // else one of its tasks started first
		s.submit()
	}
}

// submit makes the attempt active in all running jobs that include the stage.
func (s *stage) submit() {
	s.row.Status = StageActive
	s.jobs = slices.DeleteFunc(slices.Clone(s.group.jobs), func(j *job) bool { return j.ended })
	for _, j := range s.jobs {
		delete(j.completed, s.group.id)
		j.row.NumActiveStages++
	}
}

func (l *listener) stageCompleted(e *eventlog.StageCompleted) error {
	l.noteTime(max(e.Submitted, e.Completed))
	s := l.stageOf(e.ID, e.Attempt)
	if s == nil {
		l.forgetDead()
		return nil
	}
	s.update(&e.Stage)
	if s.row.Status == StagePending && e.Submitted > 0 { // its submission event was lost
		s.submit()
	}
	switch {
	case e.Failure != "":
		s.row.Status = StageFailed
	case e.Submitted > 0:
		s.row.Status = StageComplete
	default: // old logs report skipped stages only here
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
	values := e.Accumulators()
	for _, j := range s.group.jobs {
		if j.row.SQLID != nil {
			l.execution(*j.row.SQLID).record(values)
		}
	}
	if s.row.NumActiveTasks == 0 {
		l.finish(s)
	}
	l.forgetDead()
	return l.release(s.group)
}

// finish closes an attempt: only a later job that includes the stage can change it.
func (l *listener) finish(s *stage) {
	group := s.group
	delete(l.open, stageKey{group.id, s.row.StageAttemptID})
	group.open = slices.DeleteFunc(group.open, func(other *stage) bool { return other == s })
	l.seen.stage(s, l.ended)
	done := doneStage{row: s.row, summary: l.summarize(s)}
	if s.samples.latest != nil {
		l.spare, s.samples.latest = append(l.spare, s.samples.latest[:0]), nil
	}
	for i := range group.done {
		if group.done[i].row.StageAttemptID == s.row.StageAttemptID { // Spark's store keeps the tasks
			group.done[i].row = s.row
			return
		}
	}
	group.done = append(group.done, done)
}

// release writes the jobs and attempts that no later event can change.
func (l *listener) release(group *stageGroup) error {
	if len(group.open) == 0 {
		for _, j := range group.ended {
			if j.waits--; j.waits == 0 {
				if err := l.job(&j.written); err != nil {
					return err
				}
			}
		}
		group.ended = nil
	}
	if group.live > 0 {
		return nil
	}
	var waiting []doneStage // reopened
	for i := range group.done {
		d := &group.done[i]
		if l.open[stageKey{group.id, d.row.StageAttemptID}] != nil {
			waiting = append(waiting, *d)
			continue
		}
		d.row.JobIDs = group.jobIDs
		l.seen.attempts.add(group.id, d.row.StageAttemptID)
		if err := l.stage(&d.row, d.summary); err != nil {
			return err
		}
	}
	group.done = waiting
	if len(group.open) == 0 {
		delete(l.stageGroups, group.id)
	}
	return nil
}

func (l *listener) closeStages() error {
	for _, id := range sorted(l.stageGroups) {
		group := l.stageGroups[id]
		group.live = 0
		for _, s := range slices.Clone(group.open) {
			if s.row.CompletionTime == 0 { // else it waits for the ends of tasks
				l.seen.openStages++
			}
			l.finish(s)
		}
		if err := l.release(group); err != nil {
			return err
		}
	}
	return nil
}
