package tools

import (
	"context"
	"iter"
	"sync"

	"github.com/emr-observatory/emr-observatory/phases/redaction"
	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/source"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// FromSource reads event logs, or a history server or UI, without a lake. Each call lists
// the applications anew; the row of an application is cached until its log changes.
func FromSource(s source.Source) Rows {
	return &inSource{source: s, kept: map[fingerprint]tables.Application{}}
}

// fingerprint identifies the state of an attempt's log.
type fingerprint struct {
	id   tables.Attempt
	text string
}

type inSource struct {
	source source.Source

	mu   sync.Mutex
	kept map[fingerprint]tables.Application
}

// discard is a sink that drops all rows.
type discard struct{}

func (discard) Put(tables.Row) error { return nil }

func (in *inSource) Applications(ctx context.Context, f lake.Filter) iter.Seq2[tables.Application, error] {
	return func(yield func(tables.Application, error) bool) {
		for a, err := range in.find(ctx, f) {
			var row tables.Application
			if err == nil {
				row, err = in.application(ctx, a)
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// find yields the applications of the source that the filter selects.
func (in *inSource) find(ctx context.Context, f lake.Filter) iter.Seq2[source.Application, error] {
	return func(yield func(source.Application, error) bool) {
		clusters, err := in.source.Discover(ctx)
		if err != nil {
			yield(source.Application{}, err)
			return
		}
		for _, listed := range clusters {
			if !f.MatchesCluster(listed.ID) {
				continue
			}
			cluster, err := in.source.Open(ctx, listed)
			if err != nil {
				yield(source.Application{}, err)
				return
			}
			if err := cluster.Unlisted(); err != nil && len(cluster.Applications) == 0 {
				yield(source.Application{}, err)
				return
			}
			for _, a := range cluster.Applications {
				// A log that cannot be attributed to an application cannot be selected.
				if a.Err == nil && f.MatchesAttempt(a.ID, a.Start) && !yield(a, nil) {
					return
				}
			}
		}
	}
}

// application returns the row of an application: from its log, or from the history server's
// list, which has no counts. The latter row has no Source.
func (in *inSource) application(ctx context.Context, a source.Application) (tables.Application, error) {
	if a.Log == nil {
		hide := redaction.New(nil)
		row := tables.Application{
			Attempt: a.ID, ApplicationName: hide.Text(a.App.Name, textLimit), SparkUser: a.Attempt.User, SparkVersion: a.Attempt.SparkVersion,
			StartTime: int64(a.Attempt.Start), EndTime: int64(a.Attempt.End), Completed: a.Attempt.Completed,
		}
		if row.StartTime > 0 && row.EndTime > 0 {
			duration := row.EndTime - row.StartTime
			row.DurationMillis = &duration
		}
		return row, nil
	}
	key := fingerprint{a.ID, a.Fingerprint}
	in.mu.Lock()
	row, known := in.kept[key]
	in.mu.Unlock()
	if known {
		return row, nil
	}
	summary, err := fold.Log(ctx, a.Log, a.ID.Cluster, fold.Options{}, discard{})
	if err != nil {
		return tables.Application{}, err // the error names the log
	}
	in.mu.Lock()
	in.kept[key] = summary.Application
	in.mu.Unlock()
	return summary.Application, nil
}

func (in *inSource) Attempt(ctx context.Context, id tables.Attempt, _ []tables.Name, sink tables.Sink) error {
	f := lake.Filter{ClusterID: id.ClusterID, ApplicationID: id.ApplicationID, AttemptID: &id.AttemptID}
	for a, err := range in.find(ctx, f) {
		if err != nil {
			return err
		}
		if a.Log != nil {
			_, err = fold.Log(ctx, a.Log, a.ID.Cluster, fold.Options{}, sink)
		} else {
			_, err = fold.REST(ctx, a.History, a.App, a.Attempt, a.ID.Cluster, fold.Options{}, sink)
		}
		return err // the error names the log or the server
	}
	return nil
}
