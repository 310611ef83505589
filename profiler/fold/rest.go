package fold

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/emr-observatory/emr-observatory/phases/redaction"
	"github.com/emr-observatory/emr-observatory/profiler/eventlog"
	"github.com/emr-observatory/emr-observatory/profiler/history"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// REST writes the rows of an attempt of an application as a history server, or the UI of a
// running driver, knows it. Where it cannot know what a log says, the columns are null,
// and the table phases has no rows: docs/reference/history-differences.md.
//
// An endpoint that does not answer makes its rows missing, which the table completeness
// says. The error is that of the sink or of ctx, or says that no endpoint answered.
func REST(
	ctx context.Context, api *history.Client, app history.Application, of history.Attempt, cluster tables.Cluster, o Options, sink tables.Sink,
) (Summary, error) {
	id := tables.Attempt{Cluster: cluster, ApplicationID: app.ID, AttemptID: of.ID, Source: tables.SourceREST}
	r := &rest{
		attempt: newAttempt(id, sink), ui: api.UI(app.ID, of.ID), options: o, application: app, of: of,
		executionOf: map[int64]int64{}, jobsOf: map[int64][]int64{},
	}
	for _, read := range []func(context.Context) error{
		r.environments, r.executors, r.executions, r.jobs, r.stages, r.close,
	} {
		if err := read(ctx); err != nil {
			return r.summary, err
		}
	}
	r.summary.Final = of.Completed && r.unanswered == 0
	return r.summary, nil
}

// rest reads an attempt of an application.
type rest struct {
	*attempt
	ui          *history.UI
	options     Options
	application history.Application
	of          history.Attempt

	properties  map[string]string // of Spark
	executionOf map[int64]int64   // SQL execution, by job
	jobsOf      map[int64][]int64 // by stage

	answered, unanswered int   // endpoints
	refusal              error // of the first that did not answer
}

// environments comes first: secrets are hidden by Spark's properties.
func (r *rest) environments(ctx context.Context) error {
	e, err := r.ui.Environment(ctx)
	if err != nil {
		return r.unavailable(ctx, Environments, err)
	}
	r.properties = properties(e.Spark)
	r.secrets = redaction.New(r.properties)
	err = r.environment(&eventlog.EnvironmentUpdate{
		JVM: runtime(&e), Spark: r.properties, Hadoop: properties(e.Hadoop), System: properties(e.System), Metrics: properties(e.Metrics),
	})
	if err != nil {
		return err
	}
	rows := r.summary.Rows[(*tables.Environment)(nil).Table()] // no other endpoint writes them
	return r.answer(endpoint{name: Environments, expected: &rows, seen: rows})
}

// runtime returns what is known of the driver's JVM by its names in event logs.
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
	for i := range all {
		x := &all[i]
		if number, ok := executorNumber(x.ID); ok {
			numbered.add(number)
		}
		row := executorRow(x)
		if x.ID == DriverExecutor && !r.of.Completed { // it grows
			row.TotalDuration = 0
		}
		if err := r.executor(row, x.Logs); err != nil {
			return err
		}
	}
	e := endpoint{name: Executors, seen: int64(len(all))}
	if numbered.count == 0 || numbered.most-numbered.least+1 == numbered.count && numbered.least <= 1 {
		e.expected = &e.seen
	} else {
		// Some numbers belong to no executor: its container never started.
		e.reason, e.detail = Retention, fmt.Sprintf("executors up to number %d, of which %d are there: the others never "+
			"registered, or the server dropped them (spark.ui.retainedDeadExecutors)", numbered.most, numbered.count)
	}
	return r.answer(e)
}

func (r *rest) close(ctx context.Context) error {
	if r.answered == 0 {
		return fmt.Errorf("read application %s from its UI: %w", r.application.ID, r.refusal)
	}
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("read application %s from its UI: %w", r.application.ID, err)
	}
	a := r.of
	row := &tables.Application{
		ApplicationName: r.application.Name, StartTime: int64(a.Start), EndTime: int64(a.End), Completed: a.Completed,
		SparkVersion: a.SparkVersion, SparkUser: a.User, StepID: r.options.step(r.application.ID),
	}
	if r.properties != nil {
		applicationProperties(row, r.properties)
	}
	if err := r.attempt.application(row, row.EndTime); err != nil {
		return err
	}
	one := int64(1)
	return r.answer(endpoint{name: Applications, expected: &one, seen: one})
}

// answer writes the completeness of an endpoint that answered.
func (r *rest) answer(e endpoint) error {
	r.answered++
	e.final = r.of.Completed
	if !r.of.Completed {
		e.reason, e.detail = InProgress, "the application runs, or its driver was killed"
		if e.expected != nil && *e.expected == e.seen {
			e.expected = nil
		}
	}
	return r.complete(e)
}

// unavailable writes the completeness of an endpoint that did not answer.
func (r *rest) unavailable(ctx context.Context, name string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("read %s of application %s: %w", name, r.application.ID, err)
	}
	if r.refusal == nil {
		r.refusal = err
	}
	r.unanswered++
	return r.complete(endpoint{name: name, reason: reasonOf(err), detail: err.Error()})
}

// reasonOf returns why rows of an endpoint that failed are missing.
func reasonOf(err error) Reason {
	if errors.Is(err, history.ErrTooLong) {
		return Limited
	}
	return Unavailable
}
