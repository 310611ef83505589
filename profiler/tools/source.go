package tools

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"sync"
	"time"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/phases/redaction"
	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/judge"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/source"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// FromSource reads event logs, or a history server or UI. Each call lists the applications
// anew. The rows of an application are kept in a temporary lake, which done removes, and are
// read again only if the source has more.
func FromSource(ctx context.Context, s source.Source) (rows Rows, done func() error, err error) {
	cache, done, err := newCache(ctx)
	if err != nil {
		return nil, nil, err
	}
	return &inSource{source: s, cache: cache, writing: make(chan struct{}, 1), now: time.Now}, done, nil
}

type inSource struct {
	source  source.Source
	cache   *lake.Lake
	now     func() time.Time
	writing chan struct{} // has a value while an application is written to the cache

	mu   sync.Mutex
	last map[tables.Attempt]located // of the last call that listed applications
}

// listTime bounds how long event logs are read to list applications. Those that are not in the
// cache by then are listed as the beginnings of their logs describe them.
const listTime = 20 * time.Second

// located is an application of the source.
type located struct {
	source.Application
	settled bool // its cluster gets no more applications or logs
}

func (in *inSource) Applications(ctx context.Context, f lake.Filter) iter.Seq2[tables.Application, error] {
	return func(yield func(tables.Application, error) bool) {
		last, spent := map[tables.Attempt]located{}, time.Duration(0)
		defer func() {
			in.mu.Lock()
			defer in.mu.Unlock()
			in.last = last
		}()
		for a, err := range in.find(ctx, f) {
			var row tables.Application
			if err == nil {
				last[a.ID] = a
				began := in.now()
				row, err = in.application(ctx, a, spent < listTime || f.ApplicationID != "")
				spent += in.now().Sub(began)
			}
			if !yield(row, err) || ctx.Err() != nil {
				return
			}
		}
	}
}

// find yields the applications of the source that the filter selects, and an Unread for each
// cluster or log that may have others.
func (in *inSource) find(ctx context.Context, f lake.Filter) iter.Seq2[located, error] {
	return func(yield func(located, error) bool) {
		clusters, err := in.source.Discover(ctx)
		if err != nil {
			yield(located{}, err)
			return
		}
		for _, listed := range clusters {
			if !f.MatchesCluster(listed.ID) {
				continue
			}
			cluster, err := in.source.Open(ctx, listed)
			if err != nil {
				cluster = &source.Cluster{}
			} else {
				err = cluster.Unlisted()
			}
			if err != nil && !yield(located{}, &Unread{ClusterID: listed.ID.ClusterID, Err: err}) {
				return
			}
			for _, a := range cluster.Lost {
				lost := &Unread{ClusterID: a.ID.ClusterID, ApplicationID: a.ID.ApplicationID, Err: cluster.LostError([]source.StepApplication{a})}
				if f.MatchesAttempt(a.ID, a.Start) && !yield(located{}, lost) {
					return
				}
			}
			for _, a := range cluster.Applications {
				var unread error
				if a.Err != nil { // its log may be of any application
					unread = &Unread{ClusterID: listed.ID.ClusterID, Err: a.Err}
				} else if !f.MatchesAttempt(a.ID, a.Start) {
					continue
				}
				if !yield(located{a, listed.Settled}, unread) {
					return
				}
			}
		}
	}
}

// application returns the row of an application: from the cache, to which read writes it from
// its event log, or from the history server's list or the beginning of the log. The latter rows
// have no counts and no Source. An error is an Unread.
func (in *inSource) application(ctx context.Context, a located, read bool) (tables.Application, error) {
	held := in.cache.Current(a.ID, a.Fingerprint)
	if held == nil && (a.Log == nil || !read) {
		return listedApplication(a), nil
	}
	if held == nil {
		if err := in.write(ctx, a); err != nil {
			return tables.Application{}, &Unread{ClusterID: a.ID.ClusterID, ApplicationID: a.ID.ApplicationID, Err: err}
		}
		if held = in.cache.Current(a.ID, a.Fingerprint); held == nil {
			return tables.Application{}, fmt.Errorf("the cache has lost application %s", a.ID.ApplicationID)
		}
	}
	for row, err := range lake.ReadHeld[tables.Application](ctx, held) {
		return row, err // the error names the table
	}
	return tables.Application{}, fmt.Errorf("the cache has lost the row of application %s", a.ID.ApplicationID)
}

func listedApplication(a located) tables.Application {
	if a.Log != nil {
		row := tables.Application{
			Attempt: a.ID, ApplicationName: a.Name, SparkUser: a.User, SparkVersion: a.SparkVersion, Completed: !a.Log.InProgress,
		}
		if !a.Start.IsZero() {
			row.StartTime = a.Start.UnixMilli()
		}
		return row
	}
	hide := redaction.New(nil)
	row := tables.Application{
		Attempt: a.ID, ApplicationName: hide.Text(a.App.Name, textLimit), SparkUser: hide.Text(a.Attempt.User, textLimit),
		SparkVersion: a.Attempt.SparkVersion, StartTime: int64(a.Attempt.Start), EndTime: int64(a.Attempt.End), Completed: a.Attempt.Completed,
	}
	if row.StartTime > 0 && row.EndTime > 0 {
		duration := row.EndTime - row.StartTime
		row.DurationMillis = &duration
	}
	return row
}

// write writes the rows of an application to the cache.
func (in *inSource) write(ctx context.Context, a located) error {
	done, err := in.lock(ctx)
	if err != nil {
		return err
	}
	defer done()
	if in.cache.Current(a.ID, a.Fingerprint) != nil {
		return nil // another call has written it
	}
	if a.Log != nil {
		return in.fold(ctx, a, a.fromLog(ctx, a.Log))
	}
	err = a.Archived(ctx, func(log *eventlog.Log) error { return in.fold(ctx, a, a.fromLog(ctx, log)) })
	if err == nil || ctx.Err() != nil {
		return err
	}
	return in.fold(ctx, a, func(sink tables.Sink) (fold.Summary, error) {
		return fold.REST(ctx, a.History, a.App, a.Attempt, a.ID.Cluster, fold.Options{}, sink)
	})
}

// fromLog returns a function that reads the application from an event log.
func (a located) fromLog(ctx context.Context, log *eventlog.Log) func(tables.Sink) (fold.Summary, error) {
	return func(sink tables.Sink) (fold.Summary, error) {
		return fold.Log(ctx, log, a.ID.Cluster, fold.Options{}, sink)
	}
}

func (in *inSource) fold(ctx context.Context, a located, read func(tables.Sink) (fold.Summary, error)) error {
	batch, err := in.cache.Begin(a.ID, a.Start)
	if err != nil {
		return err
	}
	defer batch.Discard()
	summary, err := read(batch)
	if err != nil {
		return err // names the log or the server
	}
	_, err = batch.Commit(ctx, summary.IsFinal(a.Log != nil || a.settled), a.Fingerprint)
	return err // names the application
}

func (in *inSource) Held(ctx context.Context, id tables.Attempt) (*lake.Held, error) {
	a, err := in.locate(ctx, id)
	if err != nil || a == nil {
		return nil, err
	}
	if in.cache.Current(a.ID, a.Fingerprint) == nil {
		if err := in.write(ctx, *a); err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			return nil, &Unread{ClusterID: a.ID.ClusterID, ApplicationID: a.ID.ApplicationID, Err: err}
		}
	}
	if err := in.judge(ctx); err != nil {
		return nil, err
	}
	return inLake{in.cache}.Held(ctx, a.ID)
}

// AtOnce is 1: applications are written to the cache, and judged, one after the other, and one that
// is written changes what is usual for those judged before.
func (*inSource) AtOnce() int { return 1 }

// Costs yields nothing: they take all applications of a cluster, which only a run reads.
func (*inSource) Costs(context.Context, lake.Filter) iter.Seq2[tables.ApplicationCost, error] {
	return func(func(tables.ApplicationCost, error) bool) {}
}

// judge judges what was read since the last time.
func (in *inSource) judge(ctx context.Context) error {
	done, err := in.lock(ctx)
	if err != nil {
		return err
	}
	defer done()
	if _, err := judge.Changed(ctx, in.cache); err != nil {
		return fmt.Errorf("judge what was read: %w", err)
	}
	return nil
}

// lock waits for its turn to write the cache. done ends it.
func (in *inSource) lock(ctx context.Context) (done func(), err error) {
	select {
	case in.writing <- struct{}{}:
		return func() { <-in.writing }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// locate returns an application that the last list has, or that is found now; nil if it is
// unknown.
func (in *inSource) locate(ctx context.Context, id tables.Attempt) (*located, error) {
	in.mu.Lock()
	key := id
	key.Source = "" // of a row; an application of the source has none yet
	a, listed := in.last[key]
	delete(in.last, key) // the next call looks again
	in.mu.Unlock()
	if listed {
		return &a, nil
	}
	f := lake.Filter{ClusterID: id.ClusterID, ApplicationID: id.ApplicationID, AttemptID: &id.AttemptID}
	var unread []error
	for a, err := range in.find(ctx, f) {
		var gap *Unread
		switch {
		case errors.As(err, &gap):
			unread = append(unread, err)
		case err != nil:
			return nil, err
		default:
			return &a, nil
		}
	}
	return nil, errors.Join(unread...)
}

// newCache returns a locked lake in a temporary folder. remove unlocks and removes it.
func newCache(ctx context.Context) (cache *lake.Lake, remove func() error, err error) {
	dir, err := os.MkdirTemp("", "observatory-tools-")
	if err != nil {
		return nil, nil, fmt.Errorf("create the tools' cache: %w", err)
	}
	cache, lease, err := lockedLake(ctx, dir)
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	return cache, func() error {
		if err := errors.Join(lease.Unlock(context.WithoutCancel(ctx)), os.RemoveAll(dir)); err != nil {
			return fmt.Errorf("remove the tools' cache: %w", err)
		}
		return nil
	}, nil
}

func lockedLake(ctx context.Context, dir string) (*lake.Lake, *lake.Lease, error) {
	store, err := lake.NewFolder(dir)
	if err != nil {
		return nil, nil, err
	}
	cache, err := lake.Open(ctx, store, "")
	if err != nil {
		return nil, nil, err
	}
	lease, err := cache.Lock(ctx, "tools")
	return cache, lease, err
}
