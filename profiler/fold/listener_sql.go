package fold

import (
	"cmp"
	"slices"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// execution is a SQL execution (org.apache.spark.sql.execution.ui.LiveExecutionData).
type execution struct {
	row     tables.SQL
	plan    *planGraph // nil if unknown
	started bool
	ended   bool
	queued  bool // it and its jobs have ended; waits to be written
	size    int  // what it counts for in listener.waiting
	texts   int  // what it counts for in listener.texts
	failure string
	jobs    []executionJob
	// values are the latest values of accumulators that stages and the driver reported:
	// Spark reports totals over all tasks and stages so far.
	values map[int64]int64
}

type executionJob struct {
	id     int64
	status string
}

// Bounds of the ended executions that wait for late events: Spark may start a job of an
// execution after the execution's end.
const (
	maxWaiting       = 128
	maxWaitingValues = 200_000 // operators, their metrics, and values: about 100 bytes each
)

// held returns how many operators, metrics and values an execution holds.
func (x *execution) held() int {
	n := len(x.values)
	if x.plan != nil {
		n += len(x.plan.nodes) + len(x.plan.edges)
		for i := range x.plan.nodes {
			n += len(x.plan.nodes[i].metrics)
		}
	}
	return n
}

// execution returns an execution, a new one if it is unknown. Events for an execution that
// is already written have no effect.
func (l *listener) execution(id int64) *execution {
	if x := l.executions[id]; x != nil {
		return x
	}
	x := &execution{row: tables.SQL{SQLID: id}}
	if !l.seen.writtenSQL.has(id) {
		l.executions[id] = x
	}
	return x
}

// record keeps the latest value of each accumulator.
func (x *execution) record(values []eventlog.Accumulator) {
	if x.values == nil && len(values) > 0 {
		x.values = map[int64]int64{}
	}
	for _, v := range values {
		x.values[v.ID] = v.Value
	}
}

func (l *listener) sqlStart(e *eventlog.SQLStart) {
	l.noteTime(e.Time)
	if !l.seen.sql.add(e.ID) {
		return
	}
	x := l.execution(e.ID)
	x.started = true
	x.row.SubmissionTime, x.row.Description, x.row.PlanLength = e.Time, e.Description, e.PlanLength
	if e.Root != nil {
		x.row.RootSQLID = new(*e.Root)
	}
	l.setPlan(x, &e.Plan)
}

// setPlan keeps an execution's plan in place of an earlier one.
func (l *listener) setPlan(x *execution, plan *eventlog.PlanNode) {
	x.plan = graphOf(plan)
	if l.executions[x.row.SQLID] != x {
		return // already written
	}
	l.texts -= x.texts
	x.texts = len(x.row.Description)
	if x.plan != nil {
		for i := range x.plan.nodes {
			n := &x.plan.nodes[i]
			x.texts += len(n.name)
			for _, m := range n.metrics {
				x.texts += len(m.name)
			}
		}
	}
	l.texts += x.texts
}

func (l *listener) sqlEnd(e *eventlog.SQLEnd) error {
	l.noteTime(e.Time)
	x := l.execution(e.ID)
	x.ended, x.failure, x.row.CompletionTime = true, e.Failure, e.Time
	return l.endExecution(x)
}

func (l *listener) executionJobEnded(j *job) error {
	if j.row.SQLID == nil {
		return nil
	}
	x := l.execution(*j.row.SQLID)
	for i := range x.jobs {
		if x.jobs[i].id == j.row.JobID {
			x.jobs[i].status = j.row.Status
		}
	}
	return l.endExecution(x)
}

// endExecution queues an execution to be written once it and all its jobs have ended.
func (l *listener) endExecution(x *execution) error {
	if !x.ended || x.queued || slices.ContainsFunc(x.jobs, func(j executionJob) bool { return j.status == JobRunning }) {
		return nil
	}
	x.queued = true
	l.endedExecutions = append(l.endedExecutions, x)
	x.size = x.held()
	l.waiting += x.size
	for len(l.endedExecutions) > maxWaiting || len(l.endedExecutions) > 1 && l.waiting > maxWaitingValues {
		first := l.endedExecutions[0]
		l.endedExecutions = slices.Delete(l.endedExecutions, 0, 1)
		l.waiting -= first.size
		if err := l.writeExecution(first); err != nil {
			return err
		}
	}
	return nil
}

func (l *listener) writeExecution(x *execution) error {
	id := x.row.SQLID
	delete(l.executions, id)
	l.texts -= x.texts
	l.seen.writtenSQL.add(id)
	x.row.Status = x.status()
	x.row.ErrorMessage = nonEmpty(x.failure)
	slices.SortFunc(x.jobs, func(a, b executionJob) int { return cmp.Compare(a.id, b.id) })
	for _, j := range x.jobs {
		x.row.JobIDs = append(x.row.JobIDs, j.id)
		if j.status == JobFailed {
			x.row.FailedJobIDs = append(x.row.FailedJobIDs, j.id)
		}
	}
	l.seen.plan(x)
	return l.sql(&x.row, x.plan, func(m planMetric) (*int64, string) {
		if value, ok := x.values[m.accumulator]; ok {
			return &value, ""
		}
		return nil, ""
	})
}

// status is org.apache.spark.sql.execution.ui.SQLExecutionUIData.executionStatus. Spark
// versions that report the root of an execution (3.4) also report its error, "" if none.
func (x *execution) status() string {
	failed := slices.ContainsFunc(x.jobs, func(j executionJob) bool { return j.status == JobFailed })
	switch {
	case !x.ended:
		return SQLRunning
	case x.failure != "", x.row.RootSQLID == nil && failed:
		return SQLFailed
	}
	return SQLCompleted
}

func (l *listener) closeExecutions() error {
	for _, id := range sorted(l.executions) {
		if err := l.writeExecution(l.executions[id]); err != nil {
			return err
		}
	}
	return nil
}
