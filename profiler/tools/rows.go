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
	// Held returns the tables of an attempt, judged; nil if it is unknown.
	Held(ctx context.Context, id tables.Attempt) (*lake.Held, error)
	// Costs yields what the applications of clusters cost, those created in the filter's days.
	Costs(ctx context.Context, f lake.Filter) iter.Seq2[tables.ApplicationCost, error]
	// AtOnce is how many applications a call may open at a time.
	AtOnce() int
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

// FromLake returns the rows of a lake, whose findings are those of its last run.
func FromLake(l *lake.Lake) Rows { return inLake{l} }

type inLake struct{ lake *lake.Lake }

func (in inLake) Applications(ctx context.Context, f lake.Filter) iter.Seq2[tables.Application, error] {
	return func(yield func(tables.Application, error) bool) {
		for row, err := range lake.ReadPart[tables.Application](ctx, in.lake, f, allColumns) {
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

func (in inLake) Costs(ctx context.Context, f lake.Filter) iter.Seq2[tables.ApplicationCost, error] {
	return lake.Read[tables.ApplicationCost](ctx, in.lake, f)
}

// allColumns are those of applications. Reading them column by column is fast, which matters for
// lists of thousands.
var allColumns = func() (all lake.Selection) {
	applications, _ := tables.Find(tables.Table((*tables.Application)(nil)))
	for _, c := range applications.Columns() {
		all.Columns = append(all.Columns, c.Name)
	}
	return all
}()

// reasonOf says why the lake has no row of an application. Its row of completeness says so,
// unless the others are being written.
func reasonOf(row tables.Completeness) error {
	if row.Seen > 0 {
		return errors.New("its rows are being written, or a run was interrupted while it wrote them")
	}
	return errors.New(row.Reason + ": " + row.Detail)
}

func (in inLake) Held(ctx context.Context, id tables.Attempt) (*lake.Held, error) {
	held, err := in.lake.Earlier(ctx, id)
	if err != nil || held == nil || !held.IsRead() {
		return nil, err // the error names the manifest
	}
	return held, nil
}

// AtOnce is such that requests to S3, which each take tens of milliseconds, do not add up.
func (inLake) AtOnce() int { return 32 }

// read returns rows of a table of an attempt, with these columns.
func read[T any, P interface {
	*T
	tables.Row
}](ctx context.Context, held *lake.Held, columns ...string) (rows []T, err error) {
	for row, err := range lake.ReadSelected[T, P](ctx, held, lake.Selection{Columns: columns}) {
		if err != nil {
			return nil, err // names the table
		}
		rows = append(rows, row)
	}
	return rows, nil
}
