package fold

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/profiler/history"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// REST writes the rows of an application attempt as a history server, or the UI of a
// running driver, has it. Columns that only a log can fill are null, and the table phases
// has no rows: docs/reference/history-differences.md.
//
// Rows of an endpoint that fails are missing, and the table completeness says so. REST
// fails only if the sink or ctx does, or if all endpoints fail.
func REST(
	ctx context.Context, api *history.Client, app history.Application, appAttempt history.Attempt, cluster tables.Cluster, o Options,
	sink tables.Sink,
) (Summary, error) {
	id := tables.Attempt{Cluster: cluster, ApplicationID: app.ID, AttemptID: appAttempt.ID, Source: tables.SourceREST}
	r := &rest{
		attempt: newAttempt(id, sink), ui: api.UI(app.ID, appAttempt.ID), options: o, application: app, appAttempt: appAttempt,
		executionOf: map[int64]int64{}, jobsOf: map[int64][]int64{},
	}
	for _, read := range []func(context.Context) error{
		r.environments, r.executors, r.executions, r.jobs, r.executionsCompleteness, r.stages, r.close,
	} {
		if err := read(ctx); err != nil {
			return r.summary, err
		}
	}
	r.summary.Final = appAttempt.Completed && r.failed == 0
	return r.summary, nil
}

// rest reads an application attempt.
type rest struct {
	*attempt
	ui          *history.UI
	options     Options
	application history.Application
	appAttempt  history.Attempt

	properties  map[string]string // Spark properties
	sqlRead     *readExecutions   // nil if they could not be read
	executionOf map[int64]int64   // SQL execution, by job
	jobsOf      map[int64][]int64 // jobs, by stage

	unlisted          error // why tasks cannot be listed
	succeeded, failed int   // endpoints
	firstErr          error
}

// environments comes first: Spark properties define what is redacted.
func (r *rest) environments(ctx context.Context) error {
	e, err := r.ui.Environment(ctx)
	if err != nil {
		return r.unavailable(ctx, Environments, err)
	}
	r.properties = properties(e.Spark)
	r.configure(r.properties)
	err = r.environment(&eventlog.EnvironmentUpdate{
		JVM: runtime(&e), Spark: r.properties, Hadoop: properties(e.Hadoop), System: properties(e.System), Metrics: properties(e.Metrics),
	})
	if err != nil {
		return err
	}
	rows := r.summary.Rows[tables.Table((*tables.Environment)(nil))] // no other endpoint writes them
	return r.available(endpoint{name: Environments, expected: &rows, seen: rows})
}

// orCompacted is the other cause of missing rows: the REST API does not say whether the history
// server has compacted an event log.
func (r *rest) orCompacted() string {
	if r.properties["spark.eventLog.rolling.enabled"] != "true" {
		return ""
	}
	return ", or has compacted the rolled event log (spark.history.fs.eventLog.rolling.maxFilesToRetain)"
}

// runtime returns what the API has about the driver's JVM, by the names of event logs.
func runtime(e *history.Environment) map[string]string {
	known := map[string]string{
		"Java Home": e.Runtime.JavaHome, "Java Version": e.Runtime.JavaVersion, "Scala Version": e.Runtime.ScalaVersion,
	}
	maps.DeleteFunc(known, func(_, value string) bool { return value == "" })
	return known
}

func properties(pairs history.Properties) map[string]string {
	m := make(map[string]string, len(pairs))
	for _, p := range pairs {
		m[p.Name] = p.Value
	}
	return m
}

func (r *rest) executors(ctx context.Context) error {
	all, err := r.ui.Executors(ctx)
	if err != nil {
		return r.unavailable(ctx, Executors, err)
	}
	var numbered ids
	dead := int64(0)
	for i := range all {
		x := &all[i]
		if !x.IsActive {
			dead++
		}
		if number, err := strconv.ParseInt(x.ExecutorID, 10, 64); err == nil { // the driver has none
			numbered.add(number)
		}
		x.IsExcluded = x.IsExcluded || x.IsBlacklisted
		setPeaks(&x.Executor, x.Peaks)
		if x.ExecutorID == DriverExecutor && !r.appAttempt.Completed { // grows
			x.TotalDuration = 0
		}
		if err := r.executor(&x.Executor, x.Logs); err != nil {
			return err
		}
	}
	e := endpoint{name: Executors, seen: int64(len(all))}
	gapless := numbered.count == 0 || numbered.largest-numbered.smallest+1 == numbered.count && numbered.smallest <= 1
	if gapless || dead < r.retained(deadExecutors) {
		// A number may have no executor: its container never started.
		e.expected = &e.seen
	} else {
		e.reason, e.detail = Retention, fmt.Sprintf("executor ids go up to %d, but only %d are listed: the others never "+
			"registered, or the server evicted them (%s)", numbered.largest, numbered.count, deadExecutors)
	}
	return r.available(e)
}

// Limits beyond which a server evicts rows, and Spark's defaults.
const (
	deadExecutors      = "spark.ui.retainedDeadExecutors"
	retainedExecutions = "spark.sql.ui.retainedExecutions"
)

var retainedByDefault = map[string]int64{deadExecutors: 100, retainedExecutions: 1000}

// retained returns how many rows a server keeps at least: the default, or less if the
// application sets less. What a history server is configured to keep is unknown.
func (r *rest) retained(limit string) int64 {
	set, err := strconv.ParseInt(r.properties[limit], 10, 64)
	if err != nil {
		return retainedByDefault[limit]
	}
	return min(set, retainedByDefault[limit])
}

func (r *rest) close(ctx context.Context) error {
	if r.succeeded == 0 {
		return fmt.Errorf("read application %s from its UI: %w", r.application.ID, r.firstErr)
	}
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("read application %s from its UI: %w", r.application.ID, err)
	}
	a := r.appAttempt
	row := &tables.Application{
		ApplicationName: r.application.Name, StartTime: int64(a.Start), EndTime: int64(a.End), Completed: a.Completed,
		SparkVersion: a.SparkVersion, SparkUser: a.User, StepID: r.options.step(r.application.ID),
		Outcome: r.options.outcome(r.application.ID, nil), FailureCause: r.options.cause(r.application.ID),
	}
	if r.properties != nil {
		applicationProperties(row, r.properties)
	}
	if err := r.attempt.application(row, row.EndTime); err != nil {
		return err
	}
	one := int64(1)
	return r.available(endpoint{name: Applications, expected: &one, seen: one})
}

// available writes the completeness of an endpoint that was read.
func (r *rest) available(e endpoint) error {
	r.succeeded++
	e.final = r.appAttempt.Completed
	if !r.appAttempt.Completed {
		e.reason, e.detail = InProgress, "the application is running, or its driver was killed"
		if e.expected != nil && *e.expected == e.seen {
			e.expected = nil
		}
	}
	return r.complete(e)
}

// unavailable writes the completeness of an endpoint that failed.
func (r *rest) unavailable(ctx context.Context, name string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("read %s of application %s: %w", name, r.application.ID, err)
	}
	r.firstErr = cmp.Or(r.firstErr, err)
	r.failed++
	return r.complete(endpoint{name: name, reason: reasonOf(err), detail: err.Error()})
}

// reasonOf returns why the rows of an endpoint that failed with err are missing.
func reasonOf(err error) Reason {
	switch {
	case errors.Is(err, history.ErrTooLong):
		return Limited
	case errors.Is(err, history.ErrShifted):
		return Paging
	}
	return Unavailable
}
