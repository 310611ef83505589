package fold

import (
	"slices"

	"github.com/emr-observatory/emr-observatory/profiler/eventlog"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// job is one that has started (org.apache.spark.status.LiveJob).
type job struct {
	row       tables.Job
	written   tables.Job // of a job that ended: as Spark wrote it last
	ended     bool
	completed map[int64]struct{} // stages
	skipped   map[int64]struct{} // stages
	waits     int                // of a job that ended: stages of it with an open attempt
}

// update notes the row as Spark writes it now.
func (j *job) update() {
	j.written = j.row
	j.written.NumCompletedStages, j.written.NumSkippedStages = int64(len(j.completed)), int64(len(j.skipped))
}

func (l *listener) jobStart(e *eventlog.JobStart) {
	l.see(e.Time)
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
		// Spark's own estimate: stages whose output is there may still be skipped.
		if info.Completed == 0 {
			j.row.NumTasks += info.Tasks
		}
		j.row.StageIDs = append(j.row.StageIDs, info.ID)
		of := l.stageID(info.ID)
		if slices.Contains(of.jobs, j) {
			continue
		}
		of.jobs, of.jobIDs = append(of.jobs, j), append(of.jobIDs, e.ID)
		of.live++
		if s := l.openStage(of, info.Attempt); s != nil {
			s.inform(info)
			s.jobs = append(s.jobs, j)
		}
	}
}

func (l *listener) jobEnd(e *eventlog.JobEnd) error {
	l.see(e.Time)
	j := l.jobs[e.ID]
	if j == nil {
		return l.lostJob(e)
	}
	delete(l.jobs, e.ID)
	var ids []*stageID
	for _, id := range j.row.StageIDs {
		if of := l.stageIDs[id]; of != nil && !slices.Contains(ids, of) {
			ids = append(ids, of)
		}
	}
	for _, of := range ids {
		for _, s := range slices.Clone(of.open) {
			if s.row.Status != StagePending {
				continue
			}
			s.row.Status = StageSkipped
			j.skipped[of.id] = struct{}{}
			j.row.NumSkippedTasks += s.row.NumTasks
			l.finish(s)
		}
	}
	j.ended, j.row.CompletionTime = true, e.Time
	j.row.Status, j.row.FailureReason = JobSucceeded, nonEmpty(e.Failure)
	if e.Failure != "" {
		j.row.Status = JobFailed
	}
	j.update()
	if err := l.executionJobEnded(j); err != nil {
		return err
	}
	for _, of := range ids {
		of.live--
		if len(of.open) > 0 {
			j.waits++
			of.ended = append(of.ended, j)
		}
	}
	if j.waits == 0 {
		if err := l.job(&j.written); err != nil {
			return err
		}
	}
	for _, of := range ids {
		if err := l.release(of); err != nil {
			return err
		}
	}
	return nil
}

// lostJob writes what is known of a job whose start was lost.
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
		j.update()
		l.seen.openJobs++
		if err := l.job(&j.written); err != nil {
			return err
		}
	}
	return nil
}
