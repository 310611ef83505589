package fold

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/emr-observatory/emr-observatory/profiler/history"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// distribution is the quantiles of a stage attempt.
type distribution struct {
	summary *tables.TaskSummary
	partial bool // the server has evicted tasks of the stage
	err     error
}

func (r *rest) stages(ctx context.Context) error {
	all, err := r.ui.Stages(ctx)
	if err != nil {
		for _, name := range []string{Stages, TaskSummaries, Tasks} {
			if name == Tasks && !r.options.Tasks {
				continue
			}
			if err := r.unavailable(ctx, name, err); err != nil {
				return err
			}
		}
		return nil
	}
	slices.SortFunc(all, func(a, b tables.StageRow) int {
		return cmp.Or(cmp.Compare(a.StageID, b.StageID), cmp.Compare(a.StageAttemptID, b.StageAttemptID))
	})
	distributions, err := r.distributions(ctx, all)
	if err != nil {
		return err
	}
	seen := newAttempts()
	for i := range all {
		s := &all[i]
		seen.add(s.StageID, s.StageAttemptID)
		s.JobIDs = r.jobsOf[s.StageID]
		if err := r.stage(s, distributions[i].summary); err != nil {
			return err
		}
	}
	expected := seen.expected()
	e := endpoint{name: Stages, expected: &expected, seen: seen.seen(), reason: Retention}
	e.detail = fmt.Sprintf("ids imply %d stage attempts, but only %d are listed: the server keeps the latest (spark.ui.retainedStages)%s",
		expected, e.seen, r.orCompacted())
	if err := r.available(e); err != nil {
		return err
	}
	if err := r.summaries(all, distributions, expected-e.seen); err != nil {
		return err
	}
	if r.options.Tasks {
		return r.tasks(ctx, all, expected-e.seen)
	}
	return nil
}

// distributions reads the quantiles of all stages that have any.
func (r *rest) distributions(ctx context.Context, all []tables.StageRow) ([]distribution, error) {
	found := make([]distribution, len(all))
	if err := r.findPartial(ctx, all, found); err != nil {
		return nil, err
	}
	requested, _ := quantiles()
	group, limited := errgroup.WithContext(ctx)
	group.SetLimit(concurrentSummaries)
	for i := range all {
		if !Ran(all[i].Status) || found[i].partial {
			continue
		}
		group.Go(func() error {
			s, d := &all[i], &found[i]
			summary, err := r.ui.TaskSummary(limited, s.StageID, s.StageAttemptID, requested)
			if err == nil && summary != nil {
				d.summary, err = summaryRow(summary)
			}
			if limited.Err() != nil {
				return err
			}
			d.err = err
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("read quantiles of application %s: %w", r.application.ID, err)
	}
	return found, nil
}

// concurrentSummaries is how many stages' quantiles are requested at a time; the client
// also limits its requests.
const concurrentSummaries = 8

// findPartial finds the stages of which the server has evicted tasks: their quantiles would
// only cover the remaining tasks. The server's limit is the same for all stages, so the
// search goes from the largest stage down and ends at the first complete one.
func (r *rest) findPartial(ctx context.Context, all []tables.StageRow, found []distribution) error {
	bySize := make([]int, 0, len(all))
	for i := range all {
		if all[i].NumCompleteTasks > 0 {
			bySize = append(bySize, i)
		}
	}
	slices.SortStableFunc(bySize, func(a, b int) int { return cmp.Compare(minTasks(&all[b]), minTasks(&all[a])) })
	for _, i := range bySize {
		s := &all[i]
		complete, err := r.ui.HasTasks(ctx, s.StageID, s.StageAttemptID, minTasks(s))
		if r.unlisted = err; complete || err != nil {
			break
		}
		found[i].partial = true
	}
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("read tasks of application %s: %w", r.application.ID, err)
	}
	return nil
}

// minTasks returns how many task attempts a stage attempt had at least. Failures are left
// out: Spark counts a successful attempt whose output was lost as failed, too
// (org.apache.spark.Resubmitted).
func minTasks(s *tables.StageRow) int64 {
	return s.NumActiveTasks + s.NumCompleteTasks + s.NumKilledTasks
}

// summaries writes the completeness of the quantiles. missingStages counts the stage
// attempts that the server does not list.
func (r *rest) summaries(all []tables.StageRow, found []distribution, missingStages int64) error {
	e := endpoint{name: TaskSummaries, expected: new(int64)}
	failed, partial := 0, 0
	var first error
	for i := range found {
		switch d := &found[i]; {
		case d.summary != nil:
			e.seen++
			*e.expected++
		case d.err != nil:
			failed++
			*e.expected++
			first = cmp.Or(first, d.err)
		case d.partial:
			partial++
			*e.expected++
		}
	}
	if missingStages > 0 {
		e.expected = nil // some of the missing stages may have had no successful task
	}
	e.reason = Retention
	e.detail = fmt.Sprintf("the server evicted tasks of %d stages (spark.ui.retainedTasks), so their quantiles are left out; "+
		"%d stages are missing", partial, missingStages)
	if r.unlisted != nil {
		e.expected = nil
		e.reason = reasonOf(r.unlisted)
		e.detail = fmt.Sprintf("tasks cannot be listed, so quantiles may lack those that the server evicted: %v", r.unlisted)
	}
	if failed > 0 {
		e.reason, e.detail = reasonOf(first), fmt.Sprintf("requests for %d of %d stages failed, the first: %v", failed, len(all), first)
	}
	if failed > 0 || r.unlisted != nil {
		r.failed++
	}
	return r.available(e)
}

// tasks writes the task attempts, one stage at a time. The task ids show how many are
// missing with their stages: Spark counts them up from 0 within an application.
func (r *rest) tasks(ctx context.Context, all []tables.StageRow, missingStages int64) error {
	e := endpoint{name: Tasks, expected: new(int64), reason: Retention}
	var failed int
	var first error
	latest := int64(-1)
	for i := range all {
		s := &all[i]
		expected := minTasks(s) + s.NumFailedTasks
		if !Ran(s.Status) {
			continue
		}
		tasks, err := r.ui.Tasks(ctx, s.StageID, s.StageAttemptID)
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("read tasks of application %s: %w", r.application.ID, err)
		case err != nil:
			failed++
			*e.expected += expected
			if first == nil || errors.Is(first, history.ErrLeftOut) {
				first = err
			}
			continue
		}
		ended := int64(0)
		for j := range tasks {
			if tasks[j].Status != TaskFailed {
				ended++
			}
			latest = max(latest, tasks[j].ID)
			if err := r.task(taskRowOf(s.Stage, &tasks[j])); err != nil {
				return err
			}
		}
		e.seen += int64(len(tasks))
		if ended >= minTasks(s) { // none is missing; failures may be counted twice
			expected = int64(len(tasks))
		}
		*e.expected += max(expected, int64(len(tasks)))
	}
	if missingStages > 0 {
		*e.expected = max(*e.expected, latest+1)
	}
	e.detail = fmt.Sprintf("ids and stage counts imply %d tasks, but only %d are listed: the server keeps the latest of each stage "+
		"(spark.ui.retainedTasks)", *e.expected, e.seen)
	if failed > 0 {
		r.failed++
		e.reason, e.detail = reasonOf(first), fmt.Sprintf("requests for %d of %d stages failed, the first: %v", failed, len(all), first)
	}
	return r.available(e)
}

func taskRowOf(stage tables.Stage, t *history.Task) *tables.Task {
	row := &tables.Task{
		Stage: stage, TaskID: t.ID, Index: t.Index, TaskAttempt: t.Attempt,
		LaunchTime: int64(t.Launched), ExecutorID: t.ExecutorID, Host: t.Host, Status: t.Status,
		TaskLocality: t.Locality, Speculative: t.Speculative, ErrorMessage: t.Error,
	}
	if t.Status != TaskRunning { // the duration of a running task grows
		row.Duration = cmp.Or(t.Duration, new(int64)) // Spark leaves out a duration of 0 (TaskDataWrapper.toApi)
		if t.Launched > 0 {
			row.FinishTime = row.LaunchTime + *row.Duration
		}
	}
	// Spark reports a task without metrics as one whose metrics are 0
	// (org.apache.spark.util.JsonProtocol.taskMetricsFromJson).
	if m := t.Metrics; m != nil && *m != (history.TaskMetrics{}) {
		row.TaskMetrics = tables.TaskMetrics{
			DeserializeTime: &m.DeserializeTime, DeserializeCPUTime: &m.DeserializeCPUTime, RunTime: &m.RunTime, CPUTime: &m.CPUTime,
			ResultSize: &m.ResultSize, JVMGCTime: &m.JVMGCTime, ResultSerialization: &m.ResultSerialization,
			MemoryBytesSpilled: &m.MemorySpilled, DiskBytesSpilled: &m.DiskSpilled, PeakExecutionMemory: &m.PeakExecutionMemory,
			InputBytes: &m.Input.Bytes, InputRecords: &m.Input.Records, OutputBytes: &m.Output.Bytes, OutputRecords: &m.Output.Records,
			ShuffleRemoteBlocks: &m.Read.RemoteBlocks, ShuffleLocalBlocks: &m.Read.LocalBlocks, ShuffleFetchWaitTime: &m.Read.FetchWaitTime,
			ShuffleRemoteBytes: &m.Read.RemoteBytes, ShuffleRemoteToDisk: &m.Read.RemoteToDisk, ShuffleLocalBytes: &m.Read.LocalBytes,
			ShuffleReadRecords: &m.Read.Records, ShuffleWriteBytes: &m.Write.Bytes, ShuffleWriteTime: &m.Write.Time,
			ShuffleWriteRecords: &m.Write.Records,
		}
	}
	return row
}

// quantiles returns tables.Quantiles and p95Quantile in ascending order, as Spark's API
// does, and the index of p95Quantile.
func quantiles() (all []float64, p95 int) {
	all = append(tables.Quantiles(), p95Quantile)
	slices.Sort(all)
	return all, slices.Index(all, p95Quantile)
}

// summaryRow returns the row of quantiles.
func summaryRow(d *tables.Distributions) (row *tables.TaskSummary, err error) {
	requested, extra := quantiles()
	row = &tables.TaskSummary{}
	if len(d.Duration) == len(requested) {
		row.DurationP95 = new(d.Duration[extra])
	}
	for _, list := range d.Lists() {
		switch n := len(*list); n {
		case len(requested):
			*list = slices.Delete(*list, extra, extra+1)
		default:
			row.DurationP95, err = nil, fmt.Errorf("quantiles: %d values, must be %d", n, len(requested))
			fallthrough
		case 0: // this version of Spark lacks the metric
			*list = nil
		}
	}
	row.Distributions = *d
	return row, err
}
