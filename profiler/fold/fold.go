// Package fold turns the history of a Spark application into the rows of package tables:
// from event logs (Log), or from the REST API of a Spark UI or history server (REST).
// Both produce the same rows.
//
// The rules are Spark's own: those of org.apache.spark.status.AppStatusListener and
// AppStatusStore, of org.apache.spark.sql.execution.ui.SQLAppStatusListener and
// SparkPlanGraph, as of Spark 3.5. Unlike a history server, Log has no retention limits,
// and keeps jobs, stages and executions whose start is missing: events that Spark dropped
// are no reason to drop the others.
//
// It reads no files (package eventlog does) and writes none (package lake does).
package fold

import (
	"slices"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/phases/redaction"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Options are the caller's choices.
type Options struct {
	// Tasks adds the rows of the table tasks.
	Tasks bool
	// StepOf returns the EMR step that started an application, "" if unknown. It may be nil.
	StepOf func(applicationID string) (stepID string)
	// OutcomeOf returns how an application ended by what started it: an outcome of package tables, ""
	// if unknown. It may be nil.
	OutcomeOf func(applicationID string) string
	// CauseOf returns why an application failed by the logs of what started it, "" if unknown. It
	// may be nil.
	CauseOf func(applicationID string) string
}

// outcome returns how an application ended. The driver's exit code is nil if Spark did not
// write it.
func (o Options) outcome(applicationID string, exitCode *int64) *string {
	switch {
	case exitCode != nil && *exitCode == 0:
		return new(tables.Succeeded)
	case exitCode != nil:
		return new(tables.Failed)
	case o.OutcomeOf == nil:
		return nil
	}
	return nonEmpty(o.OutcomeOf(applicationID))
}

func (o Options) step(applicationID string) *string {
	if o.StepOf == nil {
		return nil
	}
	return nonEmpty(o.StepOf(applicationID))
}

func (o Options) cause(applicationID string) *string {
	if o.CauseOf == nil {
		return nil
	}
	return nonEmpty(o.CauseOf(applicationID))
}

// Summary is the result of folding one application attempt.
type Summary struct {
	Application  tables.Application
	Rows         map[tables.Name]int64 // rows written, by table
	Completeness []tables.Completeness
	// Final reports whether reading the application again can find nothing new.
	Final  bool
	Report eventlog.Report // on the log; zero from REST
}

// Endpoints in the table completeness.
const (
	Applications  = "applications"
	Jobs          = "jobs"
	Stages        = "stages"
	Tasks         = "tasks"
	TaskSummaries = "task_summaries"
	Executors     = "executors"
	SQLExecutions = "sql"
	SQLNodes      = "sql_nodes"
	Environments  = "environments"
)

// Reason says why rows are missing.
type Reason string

// Reasons.
const (
	Retention     Reason = "retention"      // Spark or the history server evicted them (spark.ui.retained…)
	Compaction    Reason = "compaction"     // the history server dropped events of ended jobs from the log
	DroppedEvents Reason = "dropped_events" // the driver's event queue was full
	Paging        Reason = "paging"         // a page could not be read
	Truncation    Reason = "truncation"     // the log is truncated
	MissingParts  Reason = "missing_parts"  // files of a log that consists of several are not there
	Limited       Reason = "cap"            // a limit of the run applied
	InProgress    Reason = "in_progress"    // the application is running, or its driver was killed
	Unavailable   Reason = "unavailable"    // the endpoint could not be read
	Unsupported   Reason = "unsupported"    // the server does not have the endpoint
)

// Unread reports whether rows are missing that another attempt to read them may find.
func (s Summary) Unread() bool { return slices.ContainsFunc(s.Completeness, Unread) }

// IsFinal reports whether reading the application again can find nothing new until its
// fingerprint changes. settled says that the source changes the fingerprint if it gets more,
// or gets no more; without it, a server may lag behind a running application.
func (s Summary) IsFinal(settled bool) bool { return !s.Unread() && (settled || s.Final) }

// Unread reports whether an endpoint's rows are such.
func Unread(row tables.Completeness) bool {
	return row.Reason == string(Unavailable) || row.Reason == string(Paging)
}

// NotRead returns the row of an application of which nothing was read.
func NotRead(id tables.Attempt, reason Reason, detail string) tables.Completeness {
	expected := int64(1)
	return tables.Completeness{
		Attempt: id, Endpoint: Applications, Expected: &expected, Missing: &expected, Reason: string(reason),
		Detail: redaction.New(nil).Text(detail, rowText),
	}
}

// endpoint compares the rows that an endpoint should have with those seen.
type endpoint struct {
	name     string
	expected *int64 // nil if unknown
	seen     int64
	reason   Reason // why rows are missing; ignored if none are
	detail   string // the reason in words; ignored likewise
	final    bool
}

// complete writes the completeness of an endpoint.
func (a *attempt) complete(e endpoint) error {
	row := tables.Completeness{Attempt: a.key(), Endpoint: e.name, Expected: e.expected, Seen: e.seen, Final: e.final}
	if e.expected != nil {
		row.Missing = new(max(0, *e.expected-e.seen))
	}
	if row.Missing == nil || *row.Missing > 0 {
		row.Reason, row.Detail = string(e.reason), a.text(e.detail)
	}
	a.summary.Completeness = append(a.summary.Completeness, row)
	return a.put(&row)
}
