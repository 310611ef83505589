package calibration

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"iter"
	"slices"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/findings"
	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Judged is an application by its event log.
type Judged struct {
	Application tables.Application
	Phases      map[platform.Phase]int64 // in milliseconds
	CPU         int64                    // milliseconds of the tasks
	Findings    []tables.Finding         // the most costly first, without rules that were not checked
}

// release is the first of which S3A, to which these jobs write, is the file system for S3.
const release = "emr-7.10.0"

// Judge folds the event log of an application into rows, and judges them.
func Judge(ctx context.Context, folder fs.FS, name string) (Judged, error) {
	log, err := eventlog.Open(folder, name)
	if err != nil {
		return Judged{}, err // names the log
	}
	var r rows
	summary, err := fold.Log(ctx, log, tables.Cluster{ClusterID: "j-CALIBRATION"}, fold.Options{}, &r)
	if err != nil {
		return Judged{}, err // names the log
	}
	all, err := findings.Judge(r.sorted(summary.Application))
	if err != nil {
		return Judged{}, fmt.Errorf("judge %s: %w", name, err)
	}
	judged := Judged{Application: summary.Application, Phases: map[platform.Phase]int64{}}
	for _, row := range r.stages {
		judged.CPU += row.ExecutorCPUTime / 1_000_000
	}
	for _, row := range r.phases {
		judged.Phases[platform.Phase(row.Phase)] = row.DurationMillis
	}
	for _, f := range all {
		if f.NotChecked == "" {
			judged.Findings = append(judged.Findings, f)
		}
	}
	return judged, nil
}

// rows keeps in memory what findings need.
type rows struct {
	environment []tables.Environment
	phases      []tables.Phase
	executors   []tables.Executor
	stages      []tables.StageRow
	summaries   []tables.TaskSummary
	jobs        []tables.Job
	sql         []tables.SQL
	nodes       []tables.SQLNode
}

// Put keeps a row.
func (r *rows) Put(row tables.Row) error {
	switch row := row.(type) {
	case *tables.Environment:
		r.environment = append(r.environment, *row)
	case *tables.Phase:
		r.phases = append(r.phases, *row)
	case *tables.Executor:
		r.executors = append(r.executors, *row)
	case *tables.StageRow:
		r.stages = append(r.stages, *row)
	case *tables.TaskSummary:
		r.summaries = append(r.summaries, *row)
	case *tables.Job:
		r.jobs = append(r.jobs, *row)
	case *tables.SQL:
		r.sql = append(r.sql, *row)
	case *tables.SQLNode:
		r.nodes = append(r.nodes, *row)
	}
	return nil
}

// sorted returns the rows in the order of their keys.
func (r *rows) sorted(application tables.Application) findings.Rows {
	byStage := func(a, b tables.Stage) int {
		return cmp.Or(cmp.Compare(a.StageID, b.StageID), cmp.Compare(a.StageAttemptID, b.StageAttemptID))
	}
	slices.SortFunc(r.stages, func(a, b tables.StageRow) int { return byStage(a.Stage, b.Stage) })
	slices.SortFunc(r.summaries, func(a, b tables.TaskSummary) int { return byStage(a.Stage, b.Stage) })
	slices.SortFunc(r.executors, func(a, b tables.Executor) int { return cmp.Compare(a.ExecutorID, b.ExecutorID) })
	slices.SortFunc(r.jobs, func(a, b tables.Job) int { return cmp.Compare(a.JobID, b.JobID) })
	slices.SortFunc(r.sql, func(a, b tables.SQL) int { return cmp.Compare(a.SQLID, b.SQLID) })
	slices.SortStableFunc(r.nodes, func(a, b tables.SQLNode) int {
		return cmp.Or(cmp.Compare(a.SQLID, b.SQLID), cmp.Compare(a.NodeID, b.NodeID))
	})
	return findings.Rows{
		Release: release, Application: application,
		Environment: each(r.environment), Phases: each(r.phases), Executors: each(r.executors), Stages: each(r.stages),
		Summaries: each(r.summaries), Jobs: each(r.jobs), SQL: each(r.sql), Nodes: each(r.nodes),
	}
}

func each[T any](all []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, row := range all {
			if !yield(row, nil) {
				return
			}
		}
	}
}
