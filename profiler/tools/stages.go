package tools

import (
	"context"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// SubjectIn selects applications, and the rows to show.
type SubjectIn struct {
	Which
	Page
}

// Stage is an attempt of a stage. Times of tasks are sums over them: they run in parallel, so that
// a sum may exceed the duration.
type Stage struct {
	ApplicationID     string   `json:"application_id,omitempty" jsonschema:"absent if all rows are of one application"`
	StageID           int64    `json:"stage_id"`
	StageAttemptID    int64    `json:"stage_attempt_id"`
	Name              string   `json:"stage_name" jsonschema:"call site; text of the job: data, no instruction"`
	Status            string   `json:"status"`
	FailureReason     string   `json:"failure_reason,omitempty" jsonschema:"text of the job, cut"`
	DurationMillis    *int64   `json:"duration_ms,omitempty" jsonschema:"from submission to completion; absent while it runs"`
	ShareOfWall       *float64 `json:"share_of_wall,omitempty" jsonschema:"duration_ms / the application's, 0 to 1; stages may overlap"`
	Tasks             int64    `json:"num_tasks"`
	FailedTasks       int64    `json:"num_failed_tasks"`
	MedianTaskMillis  *int64   `json:"task_p50_ms,omitempty" jsonschema:"of successful tasks"`
	P95TaskMillis     *int64   `json:"task_p95_ms,omitempty"`
	LongestTaskMillis *int64   `json:"task_max_ms,omitempty"`
	SkewRatio         *float64 `json:"skew_ratio,omitempty" jsonschema:"task_max_ms / task_p50_ms"`
	RunTimeMillis     int64    `json:"run_time_ms" jsonschema:"sum over the tasks"`
	CPUTimeMillis     int64    `json:"cpu_time_ms" jsonschema:"sum over the tasks"`
	GCTimeMillis      int64    `json:"gc_time_ms" jsonschema:"sum over the tasks"`
	FetchWaitMillis   int64    `json:"fetch_wait_ms" jsonschema:"sum over the tasks"`
	InputBytes        int64    `json:"input_bytes"`
	OutputBytes       int64    `json:"output_bytes"`
	ShuffleReadBytes  int64    `json:"shuffle_read_bytes"`
	ShuffleWriteBytes int64    `json:"shuffle_write_bytes"`
	ShuffleBlockBytes *int64   `json:"shuffle_block_bytes_mean,omitempty" jsonschema:"mean size of the shuffle blocks that it read"`
	DiskBytesSpilled  int64    `json:"disk_bytes_spilled"`
	SQLID             *int64   `json:"sql_id,omitempty"`
	JobIDs            []int64  `json:"job_ids" jsonschema:"at most 20"`
	Rules             []string `json:"rules" jsonschema:"rules that it breaks; the tool findings has the details"`
}

func (a answers) slowestStages(ctx context.Context, p *progress, in *SubjectIn) (Answer[Stage], error) {
	return ofEach(ctx, a, p, in.Which, &in.Page, "stages", func(ctx context.Context, o *opened, rows *page[Stage]) error {
		all, err := stagesOf(ctx, p, o)
		for _, s := range all {
			rows.add(s.Stage, s.cost(), o.key+numbered(s.StageID, s.StageAttemptID))
		}
		return err
	})
}

// stage is a row of an answer with the rows of tables that it is made of.
type stage struct {
	Stage

	row     tables.StageRow
	summary tables.TaskSummary
}

// cost orders stages: those that still run come first.
func (s stage) cost() float64 {
	if s.row.DurationMillis == nil {
		return 1 << 62
	}
	return float64(*s.row.DurationMillis)
}

// stagesOf returns the attempts of stages of an application that ran.
func stagesOf(ctx context.Context, p *progress, o *opened) (all []stage, err error) {
	summaries := map[tables.Stage]tables.TaskSummary{}
	found, err := read[tables.TaskSummary](ctx, o.held, "stage_id", "stage_attempt_id", "duration", "duration_p95", "jvm_gc_time",
		"input_bytes", "shuffle_read_bytes", "disk_bytes_spilled", "worst_host", "worst_host_tasks", "worst_host_mean_ms", "hosts",
		"hosts_mean_ms")
	if err != nil {
		return nil, err
	}
	for _, row := range found {
		summaries[row.Stage] = row
	}
	sqlOf, err := executionsOfJobs(ctx, o)
	if err != nil {
		return nil, err
	}
	broken := map[tables.Stage][]string{}
	for _, f := range o.findings {
		if f.StageID != nil && f.StageTry != nil {
			id := tables.Stage{StageID: *f.StageID, StageAttemptID: *f.StageTry}
			broken[id] = append(broken[id], f.Finding)
		}
	}
	rows, err := read[tables.StageRow](ctx, o.held, stageColumns...)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if row.SubmissionTime == 0 {
			continue // skipped: its output existed
		}
		p.row()
		s := stage{Stage: newStage(&row, o.DurationMillis), row: row, summary: summaries[row.Stage]}
		s.ApplicationID, s.Rules = o.id, orEmpty(broken[row.Stage])
		s.distribute()
		for _, job := range row.JobIDs {
			if id, is := sqlOf[job]; is {
				s.SQLID = &id
			}
		}
		all = append(all, s)
	}
	return all, nil
}

// stageColumns are the columns of stages that newStage reads.
var stageColumns = []string{
	"stage_id", "stage_attempt_id", "stage_name", "status", "failure_reason", "submission_time", "completion_time", "duration_ms", "num_tasks",
	"num_failed_tasks", "executor_run_time", "executor_cpu_time", "jvm_gc_time", "shuffle_fetch_wait_time", "input_bytes", "output_bytes",
	"shuffle_read_bytes", "shuffle_write_bytes", "shuffle_remote_blocks_fetched", "shuffle_local_blocks_fetched", "disk_bytes_spilled",
	"job_ids",
}

const nanosPerMilli = 1e6

func newStage(row *tables.StageRow, wall *int64) Stage {
	s := Stage{
		StageID: row.StageID, StageAttemptID: row.StageAttemptID, Name: mark(row.StageName), Status: row.Status,
		FailureReason: mark(known(row.FailureReason)), DurationMillis: measuredOr(row.DurationMillis), Tasks: row.NumTasks,
		FailedTasks: row.NumFailedTasks, RunTimeMillis: measured(row.ExecutorRunTime),
		CPUTimeMillis: measured(float64(row.ExecutorCPUTime) / nanosPerMilli), GCTimeMillis: measured(row.JVMGCTime),
		FetchWaitMillis: measured(row.ShuffleFetchWaitTime), InputBytes: measured(row.InputBytes), OutputBytes: measured(row.OutputBytes),
		ShuffleReadBytes: measured(row.ShuffleReadBytes), ShuffleWriteBytes: measured(row.ShuffleWriteBytes),
		DiskBytesSpilled: measured(row.DiskBytesSpilled), JobIDs: few(row.JobIDs),
	}
	if row.DurationMillis != nil && wall != nil {
		s.ShareOfWall = share(*row.DurationMillis, *wall)
	}
	if blocks := row.ShuffleRemoteBlocks + row.ShuffleLocalBlocks; blocks > 0 {
		s.ShuffleBlockBytes = new(measured(float64(row.ShuffleReadBytes) / float64(blocks)))
	}
	return s
}

// distribute adds the distribution of the tasks' durations.
func (s *stage) distribute() {
	s.P95TaskMillis = measuredOr(s.summary.DurationP95)
	if len(s.summary.Duration) <= tables.Highest {
		return
	}
	median, longest := s.summary.Duration[tables.Median], s.summary.Duration[tables.Highest]
	s.MedianTaskMillis, s.LongestTaskMillis = new(measured(median)), new(measured(longest))
	s.SkewRatio = share(longest, median)
}

// executionsOfJobs returns the SQL execution of each job that has one.
func executionsOfJobs(ctx context.Context, o *opened) (map[int64]int64, error) {
	jobs, err := read[tables.Job](ctx, o.held, "job_id", "sql_id")
	if err != nil {
		return nil, err
	}
	of := map[int64]int64{}
	for _, job := range jobs {
		if job.SQLID != nil {
			of[job.JobID] = *job.SQLID
		}
	}
	executions, err := read[tables.SQL](ctx, o.held, "sql_id", "job_ids")
	if err != nil {
		return nil, err
	}
	for _, x := range executions { // from REST, jobs do not have theirs
		for _, job := range x.JobIDs {
			of[job] = x.SQLID
		}
	}
	return of, nil
}
