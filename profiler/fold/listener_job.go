package fold

import (
	"slices"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// job is a job whose start was read (org.apache.spark.status.LiveJob).
type job struct {
	row       tables.Job
	written   tables.Job // row as Spark last wrote it
	ended     bool
	completed map[int64]struct{} // stages
	skipped   map[int64]struct{} // stages
	waits     int                // of an ended job: its stages with an open attempt
	texts     int                // what it counts for in listener.texts
}

// snapshot saves the row as Spark would write it now.
func (j *job) snapshot() {
	j.written = j.row
	j.written.NumCompletedStages, j.written.NumSkippedStages = int64(len(j.completed)), int64(len(j.skipped))
}

func (l *listener) jobStart(e *eventlog.JobStart) {
	l.noteTime(e.Time)
	if l.seen.lostJobs.has(e.ID) || !l.seen.jobs.add(e.ID) {
		return
	}
	p := &e.Properties
	j := &job{completed: map[int64]struct{}{}, skipped: map[int64]struct{}{}, row: tables.Job{
		JobID: e.ID, Status: JobRunning, SubmissionTime: e.Time, Description: nonEmpty(p.Description), JobGroup: nonEmpty(p.Group),
	}}
	if p.Execution != nil {
		j.row.SQLID = new(*p.Execution)
		x := l.execution(*p.Execution)
		x.jobs = append(x.jobs, executionJob{e.ID, JobRunning})
	}
	l.jobs[e.ID] = j
	last := int64(-1)
	for i := range e.Stages {
		info := &e.Stages[i]
		if info.ID > last {
			last, j.row.JobName = info.ID, info.Name
		}
		// Spark's own estimate: stages whose output exists may still be skipped.
		if info.Completed == 0 {
			j.row.NumTasks += info.Tasks
		}
		j.row.StageIDs = append(j.row.StageIDs, info.ID)
		group := l.stageGroup(info.ID)
		if slices.Contains(group.jobs, j) {
			continue
		}
		group.jobs, group.jobIDs = append(group.jobs, j), append(group.jobIDs, e.ID)
		group.live++
		if s := l.openStage(group, info.Attempt); s != nil {
			s.update(info)
			s.jobs = append(s.jobs, j)
		}
	}
	j.texts = len(p.Description) + len(p.Group) + len(j.row.JobName)
	l.texts += j.texts
}

func (l *listener) jobEnd(e *eventlog.JobEnd) error {
	l.noteTime(e.Time)
	j := l.jobs[e.ID]
	if j == nil {
		return l.lostJob(e)
	}
	delete(l.jobs, e.ID)
	l.texts -= j.texts
	var groups []*stageGroup
	for _, id := range j.row.StageIDs {
		if group := l.stageGroups[id]; group != nil && !slices.Contains(groups, group) {
			groups = append(groups, group)
		}
	}
	for _, group := range groups {
		for _, s := range slices.Clone(group.open) {
			if s.row.Status != StagePending {
				continue
			}
			s.row.Status = StageSkipped
			j.skipped[group.id] = struct{}{}
			j.row.NumSkippedTasks += s.row.NumTasks
			l.finish(s)
		}
	}
	j.ended, j.row.CompletionTime = true, e.Time
	j.row.Status, j.row.FailureReason = JobSucceeded, nonEmpty(e.Failure)
	if e.Failure != "" {
		j.row.Status = JobFailed
	}
	j.snapshot()
	if err := l.executionJobEnded(j); err != nil {
		return err
	}
	for _, group := range groups {
		group.live--
		if len(group.open) > 0 {
			j.waits++
			group.ended = append(group.ended, j)
		}
	}
	if j.waits == 0 {
		if err := l.job(&j.written); err != nil {
			return err
		}
	}
	for _, group := range groups {
		if err := l.release(group); err != nil {
			return err
		}
	}
	return nil
}

// lostJob writes the row of a job whose start was lost.
func (l *listener) lostJob(e *eventlog.JobEnd) error {
	if l.seen.jobs.has(e.ID) || !l.seen.lostJobs.add(e.ID) {
		return nil
	}
	row := &tables.Job{JobID: e.ID, Status: JobSucceeded, CompletionTime: e.Time, FailureReason: nonEmpty(e.Failure)}
	if e.Failure != "" {
		row.Status = JobFailed
	}
	return l.job(row)
}

func (l *listener) closeJobs() error {
	for _, id := range sorted(l.jobs) {
		j := l.jobs[id]
		j.snapshot()
		l.seen.openJobs++
		if err := l.job(&j.written); err != nil {
			return err
		}
	}
	return nil
}
