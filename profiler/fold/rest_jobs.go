package fold

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/emr-observatory/emr-observatory/profiler/history"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

func (r *rest) jobs(ctx context.Context) error {
	all, err := r.ui.Jobs(ctx)
	if err != nil {
		return r.unavailable(ctx, Jobs, err)
	}
	slices.SortFunc(all, func(a, b tables.Job) int { return int(a.JobID - b.JobID) })
	var seen ids
	for i := range all {
		j := &all[i]
		seen.add(j.JobID)
		for _, stage := range j.StageIDs {
			r.jobsOf[stage] = append(r.jobsOf[stage], j.JobID)
		}
		if execution, ok := r.executionOf[j.JobID]; ok {
			j.SQLID = &execution
		} else if r.sqlRead != nil && j.SubmissionTime < r.sqlRead.begin {
			r.sqlRead.earlierJobs = true
		}
		if err := r.job(j); err != nil {
			return err
		}
	}
	e := r.counted(Jobs, &seen, "spark.ui.retainedJobs")
	if r.sqlRead != nil {
		r.sqlRead.allJobs = *e.expected == e.seen
	}
	return r.available(e)
}

// readExecutions is what completeness needs to know of the SQL executions.
type readExecutions struct {
	seen        ids
	withoutPlan int
	begin       int64 // when the execution with the smallest id was submitted, Unix milliseconds
	allJobs     bool  // no job is missing
	earlierJobs bool  // a job that belongs to no execution was submitted before begin
}

// counted returns the endpoint of rows whose ids Spark counts up from 0. limit is the
// property that makes the server evict rows.
func (r *rest) counted(name string, seen *ids, limit string) endpoint {
	e := endpoint{name: name, seen: seen.count, expected: new(int64), reason: Retention}
	if seen.count > 0 {
		*e.expected = seen.largest + 1
		e.detail = fmt.Sprintf("ids go up to %d, but only %d are listed: the server keeps the latest (%s)%s",
			seen.largest, seen.count, limit, r.orCompacted())
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
	r.sqlRead = &readExecutions{withoutPlan: len(withoutPlan)}
	for i := range all {
		e := &all[i]
		if !r.sqlRead.seen.add(e.ID) {
			continue
		}
		if e.ID == r.sqlRead.seen.smallest {
			r.sqlRead.begin = int64(e.Submitted)
		}
		row := sqlRow(e)
		for _, job := range row.JobIDs {
			r.executionOf[job] = e.ID
		}
		if err := r.sql(row, planOf(e), func(m planMetric) (*int64, string) { return exactValue(m.name, m.text), m.text }); err != nil {
			return err
		}
	}
	return nil
}

// executionsCompleteness follows jobs. If a driver has several contexts one after the other,
// execution ids of the later ones do not begin at 0. If there are fewer executions than a
// server keeps, and no jobs that may have belonged to evicted ones, the execution with the
// smallest id is the first.
func (r *rest) executionsCompleteness(context.Context) error {
	if r.sqlRead == nil {
		return nil
	}
	e := r.counted(SQLExecutions, &r.sqlRead.seen, retainedExecutions)
	if count := r.sqlRead.seen.count; count > 0 && count < r.retained(retainedExecutions) && r.sqlRead.allJobs && !r.sqlRead.earlierJobs {
		*e.expected -= r.sqlRead.seen.smallest
	}
	if r.sqlRead.withoutPlan > 0 {
		// All rows are there, but some without the length of their plan.
		e.expected, e.reason = nil, Limited
		e.detail = fmt.Sprintf("the plans of %d executions exceed the response size limit; their plan_length is 0", r.sqlRead.withoutPlan)
	}
	if err := r.available(e); err != nil {
		return err
	}
	nodes := r.summary.Rows[tables.Table((*tables.SQLNode)(nil))]
	n := endpoint{name: SQLNodes, seen: nodes, reason: Retention, detail: e.detail}
	if e.expected != nil && *e.expected == e.seen {
		n.expected = &nodes
	} else {
		r.shapes.unknown = true // that of an execution that is not there
	}
	return r.available(n)
}

func sqlRow(e *history.Execution) *tables.SQL {
	row := &tables.SQL{
		SQLID: e.ID, RootSQLID: e.Root, Description: e.Description, Status: e.Status, ErrorMessage: e.Error,
		SubmissionTime: int64(e.Submitted), JobIDs: slices.Concat(e.RunningJobs, e.SuccessJobs, e.FailedJobs),
		FailedJobIDs: e.FailedJobs, PlanLength: int64(e.Plan),
	}
	slices.Sort(row.JobIDs)
	if e.Status != SQLRunning && e.Submitted > 0 { // the duration of a running execution grows
		row.CompletionTime = row.SubmissionTime + e.Duration
	}
	return row
}

func planOf(e *history.Execution) *planGraph {
	plan := &planGraph{edges: e.Edges}
	for i := range e.Nodes {
		n := planNode{id: e.Nodes[i].ID, name: e.Nodes[i].Name, codegen: e.Nodes[i].CodegenID}
		for _, m := range e.Nodes[i].Metrics {
			n.metrics = append(n.metrics, planMetric{name: m.Name, text: m.Value})
		}
		plan.nodes = append(plan.nodes, n)
	}
	return plan
}

// exactValue returns the value of a metric if its text is exact: counts (type sum), and
// sizes below 2 KiB. Other texts are rounded, and a text in milliseconds does not show
// whether the metric is in nanoseconds (org.apache.spark.sql.execution.metric.SQLMetrics).
func exactValue(name, text string) *int64 {
	if strings.HasPrefix(name, "avg ") {
		return nil // in tenths: "5" may be a sum or an average
	}
	if bytes, isSize := strings.CutSuffix(text, ".0 B"); isSize {
		text = bytes
	}
	value, err := strconv.ParseInt(strings.ReplaceAll(text, ",", ""), 10, 64)
	if err != nil {
		return nil
	}
	return &value
}
