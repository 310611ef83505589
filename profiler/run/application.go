package run

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/history"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/source"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// logRuns is how many runs ask for an event log that the history server fails to send.
// Reading an application by REST takes its server minutes, so it is not done in every run.
const logRuns = 5

// errKept is of an application of which the lake has more than this run could read.
var errKept = errors.New("the rows of an earlier run stay")

// application reads one application into the lake.
func (r *runner) application(ctx context.Context, c *reading, a source.Application) {
	earlier, err := r.lake.Earlier(ctx, a.ID)
	if err != nil {
		if ctx.Err() == nil {
			r.failLake(err)
		}
		return
	}
	// Rows of tasks that an earlier run wrote are kept up to date.
	tasks := r.o.IncludeTasks || earlier != nil && earlier.Rows(tasksTable) > 0
	summary, batch, logLater, err := r.extract(ctx, c, a, tasks, earlier)
	if err == nil {
		if unread := summary.Unread(); unread && earlier != nil && !earlier.Unread {
			batch.Discard()
			err = fmt.Errorf("not all of its history could be read: %w", errKept)
		} else {
			batch.Describe(summary.Application.Source, unread)
		}
	}
	if err != nil {
		if errors.Is(err, errKept) {
			err = errors.Join(err, r.keep(ctx, c, earlier))
		}
		if ctx.Err() == nil {
			r.failed(c, a, err)
			reason := fold.Unavailable
			if errors.Is(err, fold.ErrTooMany) {
				reason = fold.Limited
			}
			r.missing(ctx, a, reason, err.Error())
		}
		return
	}
	if logLater {
		batch.Retry(logRuns - 1)
	}
	// The fingerprint of a log has its size and time; once the cluster has ended, nothing is added.
	final := summary.IsFinal(a.Log != nil || c.listed.Settled)
	written, err := batch.Commit(ctx, final, applicationFingerprint(c.cluster, a, tasks))
	if err != nil {
		if ctx.Err() == nil {
			r.failLake(err)
		}
		return
	}
	c.mu.Lock()
	c.read = append(c.read, summary)
	if !written.Final {
		c.waiting++
	}
	c.mu.Unlock()
	r.record(func(s *Summary) {
		s.ApplicationsRead++
		if !tasks {
			s.TasksLeftOut += summary.Application.NumTasks
		}
		s.recordWrite(written)
		s.missing(a.ID, summary)
	})
}

// tasksTable is the opt-in table.
var tasksTable = tables.Table((*tables.Task)(nil))

// keep counts what the lake has of an application.
func (r *runner) keep(ctx context.Context, c *reading, earlier *lake.Held) error {
	of, err := countsIn(ctx, earlier)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept = append(c.kept, *of)
	return nil
}

func (r *runner) failed(c *reading, a source.Application, err error) {
	c.mu.Lock()
	c.failed++
	c.mu.Unlock()
	r.record(func(s *Summary) {
		s.ApplicationsFailed++
		s.add(Incomplete{Cluster: a.ID.ClusterID, Application: a.ID.ApplicationID, Attempt: a.ID.AttemptID, Reason: err.Error()})
	})
	r.progress.Printf("%s: %v", strings.TrimSpace(nameOf(c.listed)+" "+a.ID.ApplicationID), err)
}

// extract reads an application: its event log if that is available, else the history
// server's REST API. logLater says that the next run should ask for the event log again,
// which has more than the API. If the lake has the rows of an earlier log, they are not
// replaced by those of the API: the error is errKept.
func (r *runner) extract(ctx context.Context, c *reading, a source.Application, tasks bool, earlier *lake.Held) (
	summary fold.Summary, batch *lake.Batch, logLater bool, err error,
) {
	o := fold.Options{Tasks: tasks, StepOf: c.cluster.StepOf, OutcomeOf: c.outcomeOf, CauseOf: c.causeOf}
	if a.Log != nil {
		summary, batch, err = r.into(a, func(sink tables.Sink) (fold.Summary, error) { return fold.Log(ctx, a.Log, a.ID.Cluster, o, sink) })
		return summary, batch, false, err
	}
	logLater, why := true, errNotAsked
	if c.noArchive.Load() < int64(r.o.EndpointFailures) {
		summary, batch, err = r.archived(ctx, a, o)
		if err == nil || ctx.Err() != nil {
			return summary, batch, false, err
		}
		logLater = errors.Is(err, source.ErrNotSent) && !history.IsFinal(err)
		if logLater && !errors.Is(err, history.ErrNoSpace) { // a smaller log may find space
			c.noArchive.Add(1)
		}
		why = err
	}
	if logLater && earlier != nil && earlier.Source == tables.SourceLogs {
		return fold.Summary{}, nil, false, fmt.Errorf("its event log is not available: %w: %w", why, errKept)
	}
	if !errors.Is(why, errNotAsked) {
		r.progress.Printf("%s: its event log is not available, using REST: %v", a.ID.ApplicationID, why)
	}
	summary, batch, err = r.into(a, func(sink tables.Sink) (fold.Summary, error) {
		return fold.REST(ctx, a.History, a.App, a.Attempt, a.ID.Cluster, o, sink)
	})
	return summary, batch, logLater, err
}

// into begins a batch that read fills.
func (r *runner) into(a source.Application, read func(tables.Sink) (fold.Summary, error)) (fold.Summary, *lake.Batch, error) {
	batch, err := r.lake.Begin(a.ID, a.Start)
	if err != nil {
		return fold.Summary{}, nil, err
	}
	summary, err := read(batch)
	if err != nil {
		batch.Discard()
		return summary, nil, err
	}
	return summary, batch, nil
}

// errNotAsked is of a log that is not asked for in this run.
var errNotAsked = errors.New("not requested: too many other downloads from this history server have failed (max_endpoint_failures)")

// archived downloads the event log from the history server and reads it.
func (r *runner) archived(ctx context.Context, a source.Application, o fold.Options) (summary fold.Summary, batch *lake.Batch, err error) {
	err = a.Archived(ctx, func(log *eventlog.Log) (err error) {
		summary, batch, err = r.into(a, func(sink tables.Sink) (fold.Summary, error) { return fold.Log(ctx, log, a.ID.Cluster, o, sink) })
		return err
	})
	if err != nil && batch != nil {
		batch.Discard()
	}
	return summary, batch, err
}
