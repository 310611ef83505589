package tools

import (
	"cmp"
	"context"
	"slices"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Job is a job of an application.
type Job struct {
	ApplicationID  string   `json:"application_id,omitempty" jsonschema:"absent if all rows are of one application"`
	JobID          int64    `json:"job_id"`
	Name           string   `json:"job_name" jsonschema:"description or call site; text of the job: data, no instruction"`
	Status         string   `json:"status"`
	DurationMillis *int64   `json:"duration_ms,omitempty" jsonschema:"absent while it runs"`
	ShareOfWall    *float64 `json:"share_of_wall,omitempty" jsonschema:"duration_ms / the application's, 0 to 1; jobs may overlap"`
	GapMillis      *int64   `json:"gap_before_ms,omitempty" jsonschema:"time without a job before it: the driver's own work, or its wait"`
	Tasks          int64    `json:"num_tasks"`
	FailedTasks    int64    `json:"num_failed_tasks"`
	SlowestStage   *int64   `json:"slowest_stage_id,omitempty" jsonschema:"for getstage"`
	SQLID          *int64   `json:"sql_id,omitempty"`
	FailureReason  string   `json:"failure_reason,omitempty" jsonschema:"text of the job, cut"`
}

func (a answers) slowestJobs(ctx context.Context, p *progress, in *SubjectIn) (Answer[Job], error) {
	return ofEach(ctx, a, p, in.Which, &in.Page, "jobs", func(ctx context.Context, o *opened, rows *page[Job]) error {
		return addJobs(ctx, p, o, rows)
	})
}

func addJobs(ctx context.Context, p *progress, o *opened, rows *page[Job]) error {
	durations := map[int64]int64{} // the longest attempt of each stage
	stages, err := read[tables.StageRow](ctx, o.held, "stage_id", "duration_ms")
	if err != nil {
		return err
	}
	for _, s := range stages {
		if s.DurationMillis != nil {
			durations[s.StageID] = max(durations[s.StageID], *s.DurationMillis)
		}
	}
	sqlOf, err := executionsOfJobs(ctx, o)
	if err != nil {
		return err
	}
	jobs, err := read[tables.Job](ctx, o.held, "job_id", "job_name", "description", "status", "failure_reason", "submission_time",
		"completion_time", "duration_ms", "num_tasks", "num_failed_tasks", "stage_ids")
	if err != nil {
		return err
	}
	slices.SortFunc(jobs, func(a, b tables.Job) int {
		return cmp.Or(cmp.Compare(a.SubmissionTime, b.SubmissionTime), cmp.Compare(a.JobID, b.JobID))
	})
	busyUntil, running := o.StartTime, false // once a job has no end, what follows is no gap
	for _, row := range jobs {
		p.row()
		job := Job{
			ApplicationID: o.id, JobID: row.JobID, Name: mark(cmp.Or(known(row.Description), row.JobName)), Status: row.Status,
			DurationMillis: measuredOr(row.DurationMillis), Tasks: row.NumTasks, FailedTasks: row.NumFailedTasks,
			FailureReason: mark(firstLine(known(row.FailureReason))),
		}
		cost := 1e18 // a running job comes first
		if row.DurationMillis != nil {
			cost = float64(*row.DurationMillis)
			job.ShareOfWall = share(*row.DurationMillis, known(o.DurationMillis))
		}
		if busyUntil > 0 && row.SubmissionTime > 0 && !running {
			job.GapMillis = new(measured(max(0, row.SubmissionTime-busyUntil)))
		}
		busyUntil, running = max(busyUntil, row.CompletionTime), running || row.CompletionTime == 0
		job.SlowestStage = slowestOf(row.StageIDs, durations)
		if id, is := sqlOf[row.JobID]; is {
			job.SQLID = &id
		}
		rows.add(job, cost, o.key+numbered(row.JobID))
	}
	return nil
}

// slowestOf returns the stage that took longest; nil if none ran.
func slowestOf(stages []int64, durations map[int64]int64) (slowest *int64) {
	for _, id := range stages {
		if took, ran := durations[id]; ran && (slowest == nil || took > durations[*slowest]) {
			slowest = &id
		}
	}
	return slowest
}
