package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/emr-observatory/emr-observatory/phases/redaction"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// StagesIn selects the application whose stages to list.
type StagesIn struct {
	ApplicationID string  `json:"application_id" jsonschema:"application, e.g. application_1700000000000_0001"`
	AttemptID     *string `json:"attempt_id,omitempty" jsonschema:"attempt; by default the latest"`
	ClusterID     string  `json:"cluster_id,omitempty" jsonschema:"cluster; needed if several have the application id"`
	Limit         int     `json:"limit,omitempty" jsonschema:"how many to show, at most 200; by default 20"`
}

// StagesOut holds the slowest stages of an attempt of an application.
type StagesOut struct {
	Application Application `json:"application"`
	Stages      []Stage     `json:"stages" jsonschema:"attempts of stages that ran, the slowest first"`
	Total       int         `json:"total" jsonschema:"how many attempts of stages ran"`
	Truncated   bool        `json:"truncated" jsonschema:"not all of them are shown"`
	Findings    []Finding   `json:"findings" jsonschema:"findings about the stages shown, the most costly first"`
	Missing     []Missing   `json:"missing" jsonschema:"parts of the application that were not seen; empty if nothing is known to be missing"`
}

// Stage is an attempt of a stage. Run, CPU and GC times are sums over its tasks, in
// milliseconds.
type Stage struct {
	StageID           int64    `json:"stage_id"`
	StageAttemptID    int64    `json:"stage_attempt_id"`
	Name              string   `json:"name" jsonschema:"call site"`
	Status            string   `json:"status"`
	FailureReason     string   `json:"failure_reason,omitempty" jsonschema:"truncated"`
	DurationMillis    *int64   `json:"duration_ms,omitempty" jsonschema:"from submission to completion; absent while it runs"`
	ShareOfWall       *float64 `json:"share_of_wall,omitempty" jsonschema:"duration_ms / the application's, 0 to 1; stages may overlap"`
	Tasks             int64    `json:"tasks" jsonschema:"as planned"`
	FailedTasks       int64    `json:"failed_tasks"`
	MedianTaskMillis  *float64 `json:"median_task_ms,omitempty" jsonschema:"of successful tasks"`
	LongestTaskMillis *float64 `json:"longest_task_ms,omitempty" jsonschema:"of successful tasks"`
	SkewRatio         *float64 `json:"skew_ratio,omitempty" jsonschema:"longest_task_ms / median_task_ms"`
	RunTimeMillis     int64    `json:"run_time_ms" jsonschema:"sum over the tasks, which run in parallel; may exceed duration_ms"`
	CPUTimeMillis     int64    `json:"cpu_time_ms" jsonschema:"sum over the tasks, which run in parallel; may exceed duration_ms"`
	GCTimeMillis      int64    `json:"gc_time_ms" jsonschema:"sum over the tasks"`
	InputBytes        int64    `json:"input_bytes"`
	OutputBytes       int64    `json:"output_bytes"`
	ShuffleReadBytes  int64    `json:"shuffle_read_bytes"`
	ShuffleWriteBytes int64    `json:"shuffle_write_bytes"`
	DiskBytesSpilled  int64    `json:"disk_bytes_spilled"`
}

// Finding is a finding about a stage.
type Finding struct {
	Finding        string   `json:"finding" jsonschema:"kind, e.g. skew"`
	Severity       string   `json:"severity"`
	StageID        *int64   `json:"stage_id,omitempty"`
	StageAttemptID *int64   `json:"stage_attempt_id,omitempty"`
	ImpactMillis   *int64   `json:"impact_ms,omitempty" jsonschema:"upper bound of the wall-clock time that it cost"`
	Summary        string   `json:"summary"`
	Advice         string   `json:"advice"`
	Evidence       []string `json:"evidence" jsonschema:"keys of the rows that show it"`
}

// Missing is a part of an application that was not seen.
type Missing struct {
	Endpoint string `json:"endpoint"`
	Seen     int64  `json:"seen"`
	Missing  *int64 `json:"missing,omitempty" jsonschema:"absent if unknown"`
	Reason   string `json:"reason"`
	Detail   string `json:"detail,omitempty"`
}

// textLimit is the number of characters to which texts are truncated.
const textLimit = 300

func (a answers) slowestStages(ctx context.Context, p *progress, in StagesIn) (StagesOut, error) {
	out := StagesOut{Stages: []Stage{}, Findings: []Finding{}, Missing: []Missing{}}
	most, err := limit(in.Limit)
	if err != nil {
		return out, err
	}
	p.begin("find application " + in.ApplicationID)
	application, err := a.application(ctx, lake.Filter{ClusterID: in.ClusterID, ApplicationID: in.ApplicationID, AttemptID: in.AttemptID})
	if err != nil {
		return out, err
	}
	out.Application = newApplication(&application)
	rows := &stageRows{summaries: map[tables.Stage]tables.TaskSummary{}}
	p.begin("read the stages of " + in.ApplicationID)
	if err := a.rows.Attempt(ctx, application.Attempt, counted{rows, p}); err != nil {
		return out, fmt.Errorf("read the stages of %s: %w", in.ApplicationID, err)
	}
	slices.SortStableFunc(rows.stages, func(a, b tables.StageRow) int {
		return cmp.Or(cmp.Compare(length(b), length(a)), cmp.Compare(a.StageID, b.StageID), cmp.Compare(a.StageAttemptID, b.StageAttemptID))
	})
	out.Total = len(rows.stages)
	shown := map[tables.Stage]bool{}
	for _, row := range rows.stages[:min(most, out.Total)] {
		shown[row.Stage] = true
		out.Stages = append(out.Stages, newStage(&row, rows.summaries[row.Stage], application.DurationMillis))
	}
	out.Truncated = out.Total > len(out.Stages)
	for _, f := range rows.findings {
		if f.StageID != nil && f.StageTry != nil && shown[tables.Stage{StageID: *f.StageID, StageAttemptID: *f.StageTry}] {
			out.Findings = append(out.Findings, newFinding(&f))
		}
	}
	slices.SortStableFunc(out.Findings, func(a, b Finding) int { return cmp.Compare(value(b.ImpactMillis), value(a.ImpactMillis)) })
	out.Missing = append(out.Missing, rows.missing...)
	return out, nil
}

// application returns the latest attempt that the filter selects. An application id on
// several clusters is an error.
func (a answers) application(ctx context.Context, f lake.Filter) (tables.Application, error) {
	var found *tables.Application
	var unread []error
	var own error // why an attempt of it could not be read
	for row, err := range a.rows.Applications(ctx, f) {
		var gap *Unread
		switch {
		case errors.As(err, &gap):
			if gap.ApplicationID == f.ApplicationID {
				own = gap.Err
			}
			unread = append(unread, err)
		case err != nil:
			return row, fmt.Errorf("find application %s: %w", f.ApplicationID, err)
		case found != nil && found.Cluster != row.Cluster:
			return row, fmt.Errorf("application %s exists on clusters %s and %s: give cluster_id",
				f.ApplicationID, found.ClusterID, row.ClusterID)
		case found == nil || row.StartTime >= found.StartTime:
			found = &row
		}
	}
	if found == nil && own != nil {
		return tables.Application{}, fmt.Errorf("application %s could not be read: %w", f.ApplicationID, own)
	}
	if found == nil && len(unread) > 0 {
		return tables.Application{}, fmt.Errorf("application %s is not found; %d clusters or logs that may have it cannot be read: %w",
			f.ApplicationID, len(unread), unread[0])
	}
	if found == nil {
		return tables.Application{}, fmt.Errorf("application %s is not known: get_application_id lists known ones", f.ApplicationID)
	}
	return *found, nil
}

// stageRows is a sink that collects the rows about stages.
type stageRows struct {
	stages    []tables.StageRow
	summaries map[tables.Stage]tables.TaskSummary
	findings  []tables.Finding
	missing   []Missing
}

func (r *stageRows) Put(row tables.Row) error {
	switch row := row.(type) {
	case *tables.StageRow:
		if row.SubmissionTime > 0 {
			r.stages = append(r.stages, *row)
		}
	case *tables.TaskSummary:
		r.summaries[row.Stage] = tables.TaskSummary{Distributions: tables.Distributions{Duration: slices.Clone(row.Duration)}}
	case *tables.Finding:
		r.findings = append(r.findings, *row)
	case *tables.Completeness:
		if row.Reason != "" {
			r.missing = append(r.missing, Missing{
				Endpoint: row.Endpoint, Seen: row.Seen, Missing: row.Missing, Reason: row.Reason, Detail: redaction.Cut(row.Detail, textLimit),
			})
		}
	}
	return nil
}

// length returns a stage's duration for sorting: running stages are the longest.
func length(s tables.StageRow) int64 {
	if s.DurationMillis == nil {
		return 1<<63 - 1
	}
	return *s.DurationMillis
}

func value(number *int64) int64 {
	if number == nil {
		return 0
	}
	return *number
}

func newStage(row *tables.StageRow, summary tables.TaskSummary, wall *int64) Stage {
	s := Stage{
		StageID: row.StageID, StageAttemptID: row.StageAttemptID, Name: redaction.Cut(row.StageName, textLimit), Status: row.Status,
		DurationMillis: row.DurationMillis, Tasks: row.NumTasks, FailedTasks: row.NumFailedTasks,
		RunTimeMillis: row.ExecutorRunTime, CPUTimeMillis: row.ExecutorCPUTime / 1e6, GCTimeMillis: row.JVMGCTime,
		InputBytes: row.InputBytes, OutputBytes: row.OutputBytes, ShuffleReadBytes: row.ShuffleReadBytes,
		ShuffleWriteBytes: row.ShuffleWriteBytes, DiskBytesSpilled: row.DiskBytesSpilled,
	}
	if row.FailureReason != nil {
		s.FailureReason = redaction.Cut(*row.FailureReason, textLimit)
	}
	if row.DurationMillis != nil && wall != nil && *wall > 0 {
		share := float64(*row.DurationMillis) / float64(*wall)
		s.ShareOfWall = &share
	}
	if quantiles := summary.Duration; len(quantiles) == len(tables.Quantiles()) {
		median, longest := quantiles[len(quantiles)/2], quantiles[len(quantiles)-1]
		s.MedianTaskMillis, s.LongestTaskMillis = &median, &longest
		if median > 0 {
			ratio := longest / median
			s.SkewRatio = &ratio
		}
	}
	return s
}

func newFinding(f *tables.Finding) Finding {
	return Finding{
		Finding: f.Finding, Severity: f.Severity, StageID: f.StageID, StageAttemptID: f.StageTry, ImpactMillis: f.Impact,
		Summary: f.Summary, Advice: f.Advice, Evidence: append([]string{}, f.Evidence...),
	}
}
