package fold

import (
	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Options are the caller's choices.
type Options struct {
	// Tasks adds the rows of the table tasks.
	Tasks bool
	// StepOf returns the EMR step that started an application, "" if unknown. It may be nil.
	StepOf func(applicationID string) (stepID string)
}

func (o Options) step(applicationID string) *string {
	if o.StepOf == nil {
		return nil
	}
	if step := o.StepOf(applicationID); step != "" {
		return &step
	}
	return nil
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
