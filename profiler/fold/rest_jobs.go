package fold

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/emr-observatory/emr-observatory/profiler/history"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

func (r *rest) jobs(ctx context.Context) error {
	all, err := r.ui.Jobs(ctx)
	if err != nil {
		return r.unavailable(ctx, Jobs, err)
	}
	slices.SortFunc(all, func(a, b history.Job) int { return int(a.ID - b.ID) })
	var seen ids
	for i := range all {
		j := &all[i]
		seen.add(j.ID)
		for _, stage := range j.StageIDs {
			r.jobsOf[stage] = append(r.jobsOf[stage], j.ID)
		}
		row := jobRow(j)
		if execution, ok := r.executionOf[j.ID]; ok {
			row.SQLID = &execution
		}
		if err := r.job(row); err != nil {
			return err
		}
	}
	return r.available(counted(Jobs, &seen, "spark.ui.retainedJobs"))
}

// counted returns the endpoint of rows whose ids Spark counts up from 0. limit is the
// property that makes the server evict rows.
func counted(name string, seen *ids, limit string) endpoint {
	e := endpoint{name: name, seen: seen.count, expected: new(int64), reason: Retention}
	if seen.count > 0 {
		*e.expected = seen.largest + 1
		e.detail = fmt.Sprintf("ids go up to %d, but only %d are listed: the server keeps the latest (%s)", seen.largest, seen.count, limit)
	}
	return e
}

func (r *rest) executions(ctx context.Context) error {
	all, withoutPlan, err := r.ui.SQL(ctx)
	if errors.Is(err, history.ErrNotFound) && r.succeeded > 0 { // else the server may not know the application
		for _, name := range []string{SQLExecutions, SQLNodes} {
			e := endpoint{name: name, reason: Unsupported, detail: err.Error(), final: r.appAttempt.Completed}
			if err := r.complete(e); err != nil {
				return err
			}
		}
		return nil
	}
	if err != nil {
		if err := r.unavailable(ctx, SQLExecutions, err); err != nil {
			return err
		}
		return r.complete(endpoint{name: SQLNodes, reason: reasonOf(err), detail: err.Error()})
	}
	var seen ids
	for i := range all {
		e := &all[i]
		if !seen.add(e.ID) {
			continue
		}
		row := sqlRow(e)
		for _, job := range row.JobIDs {
			r.executionOf[job] = e.ID
		}
		if err := r.sql(row, planOf(e), func(m planMetric) (*int64, string) { return exactValue(m.name, m.text), m.text }); err != nil {
			return err
		}
	}
	e := counted(SQLExecutions, &seen, "spark.sql.ui.retainedExecutions")
	if len(withoutPlan) > 0 {
		// All rows are there, but some without the length of their plan.
		e.expected, e.reason = nil, Limited
		e.detail = fmt.Sprintf("the plans of %d executions exceed the response size limit; their plan_length is 0", len(withoutPlan))
	}
	if err := r.available(e); err != nil {
		return err
	}
	nodes := r.summary.Rows[(*tables.SQLNode)(nil).Table()]
	n := endpoint{name: SQLNodes, seen: nodes, reason: Retention, detail: e.detail}
	if e.expected != nil && *e.expected == e.seen {
		n.expected = &nodes
	}
	return r.available(n)
}
