package tools

import (
	"context"
	"errors"
	"iter"
	"strings"

	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Rows is what the tools read: a lake or a source.
type Rows interface {
	// Applications yields the attempts of applications that the filter selects. It goes on after
	// an error that is an Unread.
	Applications(ctx context.Context, f lake.Filter) iter.Seq2[tables.Application, error]
	// Attempt puts the rows of an attempt about its stages into the sink: stages, their
	// summaries, findings and completeness. An unknown attempt has none.
	Attempt(ctx context.Context, id tables.Attempt, sink tables.Sink) error
}

// Unread is the error of a cluster, log or application that could not be read.
type Unread struct {
	ClusterID     string
	ApplicationID string // "" if unknown
	Err           error
}

// Error returns the ids and the cause.
func (u *Unread) Error() string {
	return strings.TrimSpace(u.ClusterID+" "+u.ApplicationID) + ": " + u.Err.Error()
}

// Unwrap returns the cause.
func (u *Unread) Unwrap() error { return u.Err }

// FromLake returns the rows of a lake.
func FromLake(l *lake.Lake) Rows { return inLake{l} }

type inLake struct{ lake *lake.Lake }

func (in inLake) Applications(ctx context.Context, f lake.Filter) iter.Seq2[tables.Application, error] {
	return func(yield func(tables.Application, error) bool) {
		for row, err := range lake.Read[tables.Application](ctx, in.lake, f) {
			if !yield(row, err) {
				return
			}
		}
		for row, err := range lake.Missing(ctx, in.lake, f) {
			if err == nil && row.Endpoint != fold.Applications {
				continue
			}
			if err == nil {
				err = &Unread{ClusterID: row.ClusterID, ApplicationID: row.ApplicationID, Err: reasonOf(row)}
			}
			if !yield(tables.Application{}, err) {
				return
			}
		}
	}
}

// reasonOf says why the lake has no row of an application. Its row of completeness says so,
// unless the others are being written.
func reasonOf(row tables.Completeness) error {
	if row.Seen > 0 {
		return errors.New("its rows are being written, or a run was interrupted while it wrote them")
	}
	return errors.New(row.Reason + ": " + row.Detail)
}

func (in inLake) Attempt(ctx context.Context, id tables.Attempt, sink tables.Sink) error {
	f := lake.Filter{
		Account: id.Account, Region: id.Region, ClusterID: id.ClusterID, ApplicationID: id.ApplicationID, AttemptID: &id.AttemptID,
	}
	for _, put := range []func(context.Context, *lake.Lake, lake.Filter, tables.Sink) error{
		put[tables.StageRow], put[tables.TaskSummary], put[tables.Finding], put[tables.Completeness],
	} {
		if err := put(ctx, in.lake, f, sink); err != nil {
			return err
		}
	}
	return nil
}

func put[T any, P interface {
	*T
	tables.Row
}](ctx context.Context, l *lake.Lake, f lake.Filter, sink tables.Sink) error {
	for row, err := range lake.Read[T, P](ctx, l, f) {
		if err != nil {
			return err // the error names the table
		}
		if err := sink.Put(P(&row)); err != nil {
			return err // the sink is this package's
		}
	}
	return nil
}
