package fold

import (
	"github.com/emr-observatory/emr-observatory/profiler/eventlog"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Options are what the caller decides.
type Options struct {
	// Tasks adds the rows of the table tasks.
	Tasks bool
	// StepOf returns the EMR step that started an application, "" if none is known. It may
	// be nil.
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

// Summary is what came of an attempt of an application.
type Summary struct {
	Application  tables.Application
	Rows         map[tables.Name]int64 // that were written, of each table
	Completeness []tables.Completeness
	// Final tells that a later look finds nothing more.
	Final  bool
	Report eventlog.Report // of the log; zero from REST
}
