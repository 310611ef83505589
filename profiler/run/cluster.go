package run

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"golang.org/x/sync/errgroup"

	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/source"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// clusterFingerprint changes when a settled cluster has to be opened again.
func clusterFingerprint(c source.Listed, tasks bool) string {
	return fmt.Sprintf("%s tasks=%t", c.Fingerprint, tasks)
}

// applicationFingerprint changes when an application has to be read again.
func applicationFingerprint(c *source.Cluster, a source.Application, tasks bool) string {
	fingerprint := fmt.Sprintf("%s tasks=%t step=%s", a.Fingerprint, tasks, c.StepOf(a.ID.ApplicationID))
	state, cause := c.EndOf(a.ID.ApplicationID)
	if outcome := outcomeIn(state); outcome == tables.Failed || outcome == tables.Killed {
		fingerprint += " outcome=" + outcome // an application ends some seconds before its step
	}
	if cause != "" {
		fingerprint += fmt.Sprintf(" cause=%x", sha256.Sum256([]byte(cause))) // EMR uploads more of a log every five minutes
	}
	return fingerprint
}

// outcomeIn returns how an application ended whose step ended in a state.
func outcomeIn(state string) string {
	switch types.StepState(state) {
	case types.StepStateCompleted:
		return tables.Succeeded
	case types.StepStateFailed:
		return tables.Failed
	case types.StepStateCancelled, types.StepStateInterrupted:
		return tables.Killed
	case types.StepStatePending, types.StepStateCancelPending, types.StepStateRunning:
	}
	return ""
}

func (c *reading) outcomeOf(application string) string {
	state, _ := c.cluster.EndOf(application)
	return outcomeIn(state)
}

func (c *reading) causeOf(application string) string {
	_, cause := c.cluster.EndOf(application)
	return cause
}

// enough returns the fingerprints with which an earlier run has read enough: rows of tasks
// that this run does not ask for do no harm.
func (r *runner) enough(fingerprint func(tasks bool) string) []string {
	if r.o.IncludeTasks {
		return []string{fingerprint(true)}
	}
	return []string{fingerprint(false), fingerprint(true)}
}

// reading is a cluster that is being read.
type reading struct {
	listed  source.Listed
	cluster *source.Cluster
	// unlisted counts the applications in the lake that the source does not list.
	unlisted []counts
	// kept counts those whose rows in the lake are better than what this run could read.
	kept []counts

	// noArchive counts the applications whose event log the history server failed to send. One
	// whose log it does not have, or that cannot be read, says nothing about the others.
	noArchive atomic.Int64

	mu      sync.Mutex
	current []counts // of applications whose rows in the lake are up to date
	read    []fold.Summary
	waiting int // applications that are not final
	failed  int
	old     int // applications beyond retention_days
	cut     int // applications beyond the limit
}

// cluster reads one cluster and its applications.
func (r *runner) cluster(ctx context.Context, listed source.Listed) {
	damaged := r.earlier(ctx, &listed)
	c := &reading{listed: listed}
	var err error
	if c.cluster, err = r.source.Open(ctx, listed); err == nil {
		err = r.keepEarlier(ctx, c, damaged)
	}
	if err != nil {
		if ctx.Err() == nil {
			r.record(func(s *Summary) {
				s.ClustersFailed++
				s.add(Incomplete{Cluster: listed.ID.ClusterID, Reason: err.Error()})
			})
			r.progress.Printf("%s: %v", nameOf(listed), err)
		}
		return
	}
	r.record(func(s *Summary) { s.Through = c.cluster.Through() })
	lost := r.lost(ctx, c)
	r.outcomes(c)
	r.applications(ctx, c)
	each(lakeReads, lost, func(_ int, a source.StepApplication) {
		// In cluster mode, one that appears later has an attempt, and does not replace this row.
		if ctx.Err() == nil && r.writable() && !c.cluster.MayAppear() {
			app := source.Application{ID: a.ID, Start: a.Start}
			r.missing(ctx, app, fold.Unavailable, "step "+a.Step+" names it, but it has no history")
		}
	})
	if ctx.Err() != nil || !r.writable() {
		return
	}
	if len(c.read)+len(c.current) == 0 && (c.old > 0 || r.expired(listed.Created)) {
		// Its rows would be removed at the end of this run.
		r.record(func(s *Summary) { s.ClustersExpired++ })
		r.progress.Printf("%s: %s", nameOf(listed), c)
		return
	}
	if err := r.writeCluster(ctx, c); err != nil {
		if ctx.Err() == nil {
			r.failLake(err)
		}
		return
	}
	r.record(func(s *Summary) { s.ClustersRead++ })
	r.progress.Printf("%s: %s", nameOf(listed), c)
}

// outcomes prints the cluster's notes, and records which of its own data could not be read.
func (r *runner) outcomes(c *reading) {
	for _, note := range c.cluster.Notes {
		r.progress.Printf("%s: %s", nameOf(c.listed), note)
	}
	for _, outcome := range c.cluster.Outcomes {
		if outcome.Err != nil {
			reason := fmt.Sprintf("%s: %v", outcome.Endpoint, outcome.Err)
			r.record(func(s *Summary) { s.add(Incomplete{Cluster: c.listed.ID.ClusterID, Reason: reason}) })
			r.progress.Printf("%s: %s", nameOf(c.listed), reason)
		}
	}
}

// applications reads those that are new, have grown or were not final.
func (r *runner) applications(ctx context.Context, c *reading) {
	chosen := r.due(ctx, c)
	r.record(func(s *Summary) {
		s.ApplicationsFound += len(c.cluster.Applications)
		s.ApplicationsCurrent += len(c.current)
		s.ApplicationsExpired += c.old
	})
	if most, all := r.o.MaxApplications, len(chosen); most > 0 && all > most {
		cut := chosen[most:]
		chosen, c.cut = chosen[:most], len(cut)
		reason := fmt.Sprintf("only %d of %d applications read: limited by max_applications", most, all)
		r.record(func(s *Summary) { s.add(Incomplete{Cluster: c.listed.ID.ClusterID, Reason: reason}) })
		each(lakeReads, cut, func(_ int, a source.Application) {
			if ctx.Err() == nil && r.writable() {
				r.missing(ctx, a, fold.Limited, fmt.Sprintf("max_applications is %d", most))
			}
		})
	}
	r.progress.Applications(len(chosen))
	tries := r.suspectsLast(ctx, chosen)
	each(r.o.AppThreads, chosen, func(_ int, a source.Application) {
		if ctx.Err() == nil && r.writable() {
			r.try(ctx, c, a, tries[a.ID])
		}
		r.progress.ApplicationDone()
	})
}

// lakeReads is how many small objects are read from the lake concurrently.
const lakeReads = 16

// due returns the applications to read, the newest first, and records the others in c:
// failed, current or too old.
func (r *runner) due(ctx context.Context, c *reading) (due []source.Application) {
	all := c.cluster.Applications
	current := make([]*counts, len(all))
	failed := make([]error, len(all))
	each(lakeReads, all, func(i int, a source.Application) {
		if ctx.Err() == nil && a.Err == nil {
			enough := r.enough(func(tasks bool) string { return applicationFingerprint(c.cluster, a, tasks) })
			current[i], failed[i] = r.current(ctx, a.ID, enough)
			if a.Lesser && current[i] == nil && failed[i] == nil {
				current[i], failed[i] = r.ofLog(ctx, a.ID)
			}
		}
	})
	if ctx.Err() != nil {
		return nil // an interrupted read of the lake is no fault of an application
	}
	for i, a := range all {
		switch {
		case a.Err != nil:
			r.failed(c, a, a.Err)
		case failed[i] != nil:
			r.failed(c, a, failed[i])
		case current[i] != nil:
			c.current = append(c.current, *current[i])
		case r.expired(a.Start):
			c.old++
		default:
			due = append(due, a)
		}
	}
	return due
}

// each calls do for every item, at most threads at a time.
func each[T any](threads int, items []T, do func(i int, item T)) {
	var group errgroup.Group
	group.SetLimit(threads)
	for i, item := range items {
		group.Go(func() error {
			do(i, item)
			return nil
		})
	}
	_ = group.Wait() // always nil: a failing item does not stop the others
}

func nameOf(c source.Listed) string {
	if name := c.ID.ClusterName; name != "" && name != c.ID.ClusterID {
		return c.ID.ClusterID + " (" + name + ")"
	}
	return c.ID.ClusterID
}

// String summarizes how a cluster's applications were read.
func (c *reading) String() string {
	parts := []string{fmt.Sprintf("%d of %d applications read", len(c.read), len(c.cluster.Applications))}
	for _, p := range []struct {
		n    int
		what string
	}{
		{len(c.current), "already complete"}, {c.failed, "failed"}, {c.old, "too old"}, {c.cut, "left for later"},
		{c.waiting, "not final yet"},
	} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	return strings.Join(parts, ", ")
}
