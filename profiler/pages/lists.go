package pages

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/report"
)

func (b *builder) jobs(ctx context.Context) error {
	var rows []tables.Job
	err := each(ctx, b, func(row tables.Job) { rows = append(rows, row) })
	slices.SortStableFunc(rows, func(x, y tables.Job) int { return cmp.Compare(known(y.DurationMillis), known(x.DurationMillis)) })
	shown := rows[:min(len(rows), mostJobs)]
	b.page.Omitted.Jobs = len(rows) - len(shown)
	slices.SortStableFunc(shown, func(x, y tables.Job) int { return cmp.Compare(x.SubmissionTime, y.SubmissionTime) })
	for _, row := range shown {
		b.page.Jobs = append(b.page.Jobs, report.Span{
			Label: label(fmt.Sprintf("job %d: %s", row.JobID, cmp.Or(text(row.Description), row.JobName))),
			Start: at(row.SubmissionTime), End: at(row.CompletionTime), Failed: row.Status == "FAILED",
		})
	}
	return err
}

// sessions lists the longest operations of a Spark Connect server by session. There may be
// millions: no more are kept than are shown.
func (b *builder) sessions(ctx context.Context) error {
	var shown []tables.Operation
	all := 0
	err := each(ctx, b, func(row tables.Operation) {
		all++
		at, _ := slices.BinarySearchFunc(shown, row, func(x, y tables.Operation) int {
			return cmp.Or(cmp.Compare(known(y.DurationMillis), known(x.DurationMillis)), -1) // of equals the first stay
		})
		if at < mostOperations {
			shown = slices.Insert(shown[:min(len(shown), mostOperations-1)], at, row)
		}
	})
	b.page.Omitted.Operations = all - len(shown)
	slices.SortStableFunc(shown, func(x, y tables.Operation) int { return cmp.Compare(x.SubmissionTime, y.SubmissionTime) })
	index := map[string]int{}
	for _, row := range shown {
		i, known := index[row.SessionID]
		if !known {
			i = len(b.page.Sessions)
			index[row.SessionID] = i
			b.page.Sessions = append(b.page.Sessions, report.Session{ID: row.SessionID, User: label(row.User)})
		}
		s := &b.page.Sessions[i]
		s.Operations = append(s.Operations, report.Span{
			Label: label(operationLabel(row)), Start: at(row.SubmissionTime), End: at(row.CompletionTime), Failed: row.ErrorMessage != nil,
		})
	}
	return err
}

// operationLabel says what an operation was: its statement, else how many jobs it ran.
func operationLabel(row tables.Operation) string {
	switch {
	case row.Statement != nil:
		return *row.Statement
	case len(row.JobIDs) == 1:
		return fmt.Sprintf("a plan with job %d", row.JobIDs[0])
	case len(row.JobIDs) > 1:
		return fmt.Sprintf("a plan with %d jobs", len(row.JobIDs))
	}
	return "a plan or command without a job"
}

func (b *builder) stages(ctx context.Context) error {
	var rows []tables.StageRow
	run := int64(0)
	err := each(ctx, b, func(row tables.StageRow) {
		run += row.ExecutorRunTime
		if row.SubmissionTime > 0 {
			rows = append(rows, row)
		}
	})
	if err != nil {
		return err
	}
	b.page.IdleCoreHours = max(0, b.page.CoreHours-float64(run)/1e3/time.Hour.Seconds())
	slices.SortStableFunc(rows, func(x, y tables.StageRow) int { return cmp.Compare(y.ExecutorRunTime, x.ExecutorRunTime) })
	shown := rows[:min(len(rows), mostStages)]
	b.page.Omitted.Stages = len(rows) - len(shown)
	durations := map[tables.Stage][]float64{}
	err = each(ctx, b, func(row tables.TaskSummary) { durations[row.Stage] = row.Duration })
	for _, row := range shown {
		b.page.Stages = append(b.page.Stages, stage(row, durations[row.Stage]))
	}
	return err
}

func stage(row tables.StageRow, durations []float64) report.Stage {
	id := fmt.Sprint(row.StageID)
	if row.StageAttemptID > 0 {
		id += fmt.Sprintf(".%d", row.StageAttemptID)
	}
	s := report.Stage{
		Span: report.Span{
			Label: label("stage " + id + ": " + row.StageName), Start: at(row.SubmissionTime), End: at(row.CompletionTime),
			Failed: row.Status == "FAILED",
		},
		ID: id, Tasks: row.NumTasks, Run: milliseconds(row.ExecutorRunTime), Spilled: row.DiskBytesSpilled,
		Read: row.InputBytes + row.ShuffleReadBytes, Written: row.OutputBytes + row.ShuffleWriteBytes,
	}
	if row.ExecutorRunTime > 0 {
		s.GC = min(1, float64(row.JVMGCTime)/float64(row.ExecutorRunTime))
	}
	if len(durations) > tables.Highest {
		s.MedianTask, s.Longest = milliseconds(int64(durations[tables.Median])), milliseconds(int64(durations[tables.Highest]))
	}
	return s
}

func (b *builder) executors(ctx context.Context) error {
	err := each(ctx, b, func(row tables.Executor) {
		if row.ExecutorID == fold.DriverExecutor || row.AddTime == 0 {
			return
		}
		class := text(row.RemoveClass)
		b.page.Executors = append(b.page.Executors, report.Executor{
			Span: report.Span{
				Label: label("executor " + row.ExecutorID + " on " + row.HostPort), Start: at(row.AddTime), End: at(row.RemoveTime),
				Failed: tables.IsLoss(class),
			},
			Cores: row.TotalCores, Class: class, Reason: label(text(row.RemoveReason)),
		})
	})
	slices.SortStableFunc(b.page.Executors, func(x, y report.Executor) int { return x.Start.Compare(y.Start) })
	shown := min(len(b.page.Executors), mostExecutors)
	b.page.Omitted.Executors = len(b.page.Executors) - shown
	b.page.Executors = b.page.Executors[:shown]
	return err
}

// spent takes the attempt's row of application_costs. Those who read only event logs have none.
func (b *builder) spent(ctx context.Context) error {
	return each(ctx, b, func(row tables.ApplicationCost) {
		own := row.Kind == tables.CostApplication && row.ApplicationID == b.row.ApplicationID && row.AttemptID == b.row.AttemptID
		if own && row.USD != nil {
			b.page.Spent = &report.Spent{USD: *row.USD, SpotUSD: known(row.SpotUSD), PriceDate: known(row.PriceDate)}
		}
	})
}
