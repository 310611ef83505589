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

// distribution is what a stage's attempt has of quantiles.
type distribution struct {
	summary *tables.TaskSummary
	p95     float64
	partial bool // the server has dropped tasks of the stage
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
	slices.SortFunc(all, func(a, b history.Stage) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Attempt, b.Attempt))
	})
	distributions, err := r.distributions(ctx, all)
	if err != nil {
		return err
	}
	seen := newAttempts()
	for i := range all {
		s := &all[i]
		seen.add(s.ID, s.Attempt)
		row := stageRow(s)
		row.JobIDs = r.jobsOf[s.ID]
		if err := r.stage(row, distributions[i].summary, distributions[i].p95); err != nil {
			return err
		}
	}
	expected := seen.expected()
	e := endpoint{name: Stages, expected: &expected, seen: seen.seen(), reason: Retention}
	e.detail = fmt.Sprintf("%d attempts by their ids, of which %d are there: the server keeps the latest (spark.ui.retainedStages)",
		expected, e.seen)
	if err := r.answer(e); err != nil {
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
func (r *rest) distributions(ctx context.Context, all []history.Stage) ([]distribution, error) {
	found := make([]distribution, len(all))
	if err := r.findPartial(ctx, all, found); err != nil {
		return nil, err
	}
	asked, _ := quantiles()
	group, limited := errgroup.WithContext(ctx)
	group.SetLimit(concurrentSummaries)
	for i := range all {
		if !ran(all[i].Status) || found[i].partial {
			continue
		}
		group.Go(func() error {
			s, d := &all[i], &found[i]
			answer, err := r.ui.TaskSummary(limited, s.ID, s.Attempt, asked)
			if err == nil && answer != nil {
				d.summary, d.p95, err = summaryRow(answer)
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

// concurrentSummaries is how many quantiles are asked for at one time; the client's own
// limit of requests applies, too.
const concurrentSummaries = 8

// findPartial finds the stages of which the server has dropped tasks: their quantiles
// would be those of the others. The server's limit is the same for all stages, so the
// search ends at the first, by size, of which all tasks are there.
func (r *rest) findPartial(ctx context.Context, all []history.Stage, found []distribution) error {
	bySize := make([]int, 0, len(all))
	for i := range all {
		if all[i].NumCompleteTasks > 0 {
			bySize = append(bySize, i)
		}
	}
	slices.SortStableFunc(bySize, func(a, b int) int { return cmp.Compare(known(&all[b]), known(&all[a])) })
	for _, i := range bySize {
		s := &all[i]
		complete, err := r.ui.HasTasks(ctx, s.ID, s.Attempt, known(s))
		if complete || err != nil {
			break // without the endpoint nothing is known to be missing
		}
		found[i].partial = true
	}
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("read tasks of application %s: %w", r.application.ID, err)
	}
	return nil
}

// known is how many attempts of tasks a stage's attempt had at least. Spark counts an
// attempt whose output was lost as failed besides (org.apache.spark.Resubmitted), so
// failures may not be attempts of their own.
func known(s *history.Stage) int64 { return s.NumActiveTasks + s.NumCompleteTasks + s.NumKilledTasks }

// summaries writes how complete the quantiles are. missingStages are attempts of stages
// of which nothing is there.
func (r *rest) summaries(all []history.Stage, found []distribution, missingStages int64) error {
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
			if first == nil {
				first = d.err
			}
		case d.partial:
			partial++
			*e.expected++
		}
	}
	if missingStages > 0 {
		e.expected = nil // some of them may have had no successful task
	}
	e.reason = Retention
	e.detail = fmt.Sprintf("of %d stages the server has dropped tasks (spark.ui.retainedTasks), so their quantiles are left out; "+
		"%d stages are missing", partial, missingStages)
	if failed > 0 {
		r.unanswered++
		e.reason, e.detail = reasonOf(first), fmt.Sprintf("%d of %d stages did not answer, the first: %v", failed, len(all), first)
	}
	return r.answer(e)
}

// tasks writes the attempts of tasks, a stage at a time. Those of missing stages are known
// by their ids: Spark counts them up from 0 in an application.
func (r *rest) tasks(ctx context.Context, all []history.Stage, missingStages int64) error {
	e := endpoint{name: Tasks, expected: new(int64), reason: Retention}
	var failed int
	var first error
	latest := int64(-1)
	for i := range all {
		s := &all[i]
		most := known(s) + s.NumFailedTasks
		if !ran(s.Status) {
			continue
		}
		tasks, err := r.ui.Tasks(ctx, s.ID, s.Attempt)
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("read tasks of application %s: %w", r.application.ID, err)
		case err != nil:
			failed++
			*e.expected += most
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
			if err := r.task(taskRowOf(s, &tasks[j])); err != nil {
				return err
			}
		}
		e.seen += int64(len(tasks))
		if ended >= known(s) { // none is missing; failures may be counted twice
			most = int64(len(tasks))
		}
		*e.expected += max(most, int64(len(tasks)))
	}
	if missingStages > 0 {
		*e.expected = max(*e.expected, latest+1)
	}
	e.detail = fmt.Sprintf("%d tasks by ids and by the counts of their stages, of which %d are there: the server keeps the latest of a stage "+
		"(spark.ui.retainedTasks)", *e.expected, e.seen)
	if failed > 0 {
		r.unanswered++
		e.reason, e.detail = reasonOf(first), fmt.Sprintf("%d of %d stages did not answer, the first: %v", failed, len(all), first)
	}
	return r.answer(e)
}
