package run

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/emr-observatory/emr-observatory/profiler/eventlog"
	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/history"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/source"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// unread reports whether rows are missing that another attempt may find.
func unread(row tables.Completeness) bool {
	return row.Reason == string(fold.Unavailable) || row.Reason == string(fold.Paging)
}

// logRuns is how many runs ask for an event log that the history server fails to send.
// Reading an application by REST takes its server minutes, so it is not done in every run.
const logRuns = 5

// application reads one application into the lake.
func (r *runner) application(ctx context.Context, c *reading, a source.Application) {
	summary, batch, logLater, err := r.extract(ctx, c, a)
	if err != nil {
		if ctx.Err() == nil {
			r.failed(c, a, err)
		}
		return
	}
	if logLater {
		batch.Retry(logRuns - 1)
	}
	written, err := batch.Commit(ctx, isFinal(c.listed, a, summary), r.applicationFingerprint(c.cluster, a))
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
		s.recordWrite(written)
		s.missing(a.ID, summary)
	})
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

// isFinal reports whether the application need not be read again unless its fingerprint
// changes. The fingerprint of a log has its size and time. A history server may lag behind
// a running application; once the cluster has ended, nothing is added.
func isFinal(listed source.Listed, a source.Application, summary fold.Summary) bool {
	for _, row := range summary.Completeness {
		if unread(row) {
			return false
		}
	}
	return a.Log != nil || summary.Final || listed.Settled
}

// extract reads an application: its event log if that is available, else the history
// server's REST API. logLater says that the next run should ask for the event log again,
// which has more than the API.
func (r *runner) extract(ctx context.Context, c *reading, a source.Application) (
	summary fold.Summary, batch *lake.Batch, logLater bool, err error,
) {
	o := fold.Options{Tasks: r.o.IncludeTasks, StepOf: c.cluster.StepOf}
	if a.Log != nil {
		summary, batch, err = r.into(a, func(sink tables.Sink) (fold.Summary, error) { return fold.Log(ctx, a.Log, a.ID.Cluster, o, sink) })
		return summary, batch, false, err
	}
	ask, logLater := c.archives(r.o.EndpointFailures)
	if ask {
		summary, batch, err = r.archived(ctx, a, o)
		if err == nil || ctx.Err() != nil {
			return summary, batch, false, err
		}
		logLater = errors.Is(err, errNotSent) && !history.IsFinal(err)
		c.refuse(logLater)
		r.progress.Printf("%s: its event log is not available, using REST: %v", a.ID.ApplicationID, err)
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

// archives reports whether the history server may still be asked for event logs: it has
// failed fewer than most times. later says that a failure may have passed in the next run.
func (c *reading) archives(most int) (ask, later bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.noArchive < most, c.archiveLater
}

func (c *reading) refuse(later bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noArchive++
	c.archiveLater = c.archiveLater || later
}

// errNoLog is of a download that does not have what was asked for.
var errNoLog = errors.New("the download lacks the application's event log")

// errNotSent is of a download that the history server did not begin. One that is damaged
// will be no better in the next run.
var errNotSent = errors.New("not sent")

// archived downloads the event log from the history server and reads it.
func (r *runner) archived(ctx context.Context, a source.Application, o fold.Options) (fold.Summary, *lake.Batch, error) {
	archive, err := a.History.UI(a.ID.ApplicationID, a.ID.AttemptID).Logs(ctx)
	if err != nil {
		return fold.Summary{}, nil, fmt.Errorf("%w: %w", errNotSent, err)
	}
	summary, batch, err := r.fromArchive(ctx, archive, a, o)
	if closed := archive.Close(); closed != nil && err == nil {
		batch.Discard()
		return fold.Summary{}, nil, closed
	}
	return summary, batch, err
}

func (r *runner) fromArchive(ctx context.Context, archive *history.Archive, a source.Application, o fold.Options) (
	fold.Summary, *lake.Batch, error,
) {
	logs, err := eventlog.Find(archive, ".")
	if err != nil {
		return fold.Summary{}, nil, fmt.Errorf("find the event log in the download: %w", err)
	}
	var own *eventlog.Log
	for _, log := range logs {
		found := source.Identify(ctx, log, a.ID.Cluster)
		if found.Err == nil && found.ID == a.ID {
			own = log
		}
	}
	if own == nil {
		return fold.Summary{}, nil, errNoLog
	}
	return r.into(a, func(sink tables.Sink) (fold.Summary, error) { return fold.Log(ctx, own, a.ID.Cluster, o, sink) })
}
