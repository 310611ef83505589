package fold

import "github.com/emr-observatory/emr-observatory/profiler/tables"

// Endpoints that the table completeness is about.
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

// Reason is why rows are missing.
type Reason string

// Reasons.
const (
	Retention     Reason = "retention"      // Spark or the history server keeps no more (spark.ui.retained…)
	Compaction    Reason = "compaction"     // the history server dropped events of ended jobs from the log
	DroppedEvents Reason = "dropped_events" // the driver's queue of events was full
	Paging        Reason = "paging"         // a page did not come
	Truncation    Reason = "truncation"     // the log is cut off
	Limited       Reason = "cap"            // a limit of the run
	InProgress    Reason = "in_progress"    // the application runs, or its driver was killed
	Unavailable   Reason = "unavailable"    // the endpoint does not answer
)

// endpoint is what an endpoint should have given, and what was seen.
type endpoint struct {
	name     string
	expected *int64 // nil if unknown
	seen     int64
	reason   Reason // why something is missing; dropped if nothing is
	detail   string // in words, likewise
	final    bool
}

// complete writes the row of an endpoint.
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
