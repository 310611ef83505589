package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/source"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// earlier gives a listed cluster what an earlier run has written of it. It returns why the steps
// cannot be read.
func (r *runner) earlier(ctx context.Context, listed *source.Listed) error {
	held, err := r.lake.Cluster(ctx, listed.ID)
	if err != nil || held == nil {
		return err // the error names the manifest
	}
	r.earlierInstances(ctx, held, listed)
	listed.Earlier, err = heldRows[tables.Step](ctx, held)
	if err != nil {
		return fmt.Errorf("keep the steps of an earlier run: %w; %s", err, damagedRemedy)
	}
	return nil
}

// heldRows returns the rows of a table.
func heldRows[T any, P interface {
	*T
	tables.Row
}](ctx context.Context, held *lake.Held) (rows []T, err error) {
	for row, err := range lake.ReadHeld[T, P](ctx, held) {
		if err != nil {
			return nil, err // names the object
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// keepEarlier takes from the lake what an earlier run read of the cluster and this one
// could not: its steps with their links to applications, and the totals of applications that
// the source no longer lists. Without this, writing the cluster's rows would replace them by
// fewer. damaged is why the earlier steps cannot be read.
func (r *runner) keepEarlier(ctx context.Context, c *reading, damaged error) error {
	if err := r.countUnlisted(ctx, c); err != nil {
		return err
	}
	if c.cluster.Failed(source.OpListSteps) == nil && c.cluster.Failed(source.EndpointStepLogs) == nil {
		return nil
	}
	for _, step := range c.listed.Earlier {
		c.keepStep(step)
	}
	return damaged
}

// endpointEarlier stands in the cluster's outcomes for rows in the lake that cannot be read.
const endpointEarlier = "earlier_applications"

// countUnlisted counts the applications that are in the lake, but not in the source's list:
// persistent UIs drop them after 30 days, and a list may fail.
func (r *runner) countUnlisted(ctx context.Context, c *reading) error {
	var listed []tables.Attempt
	for _, a := range c.cluster.Applications {
		listed = append(listed, a.ID)
	}
	held, err := r.lake.Others(ctx, c.listed.ID, listed)
	if err != nil {
		return err // the error names the request
	}
	all, failed := make([]*counts, len(held)), make([]error, len(held))
	each(lakeReads, held, func(i int, h *lake.Held) { all[i], failed[i] = countsIn(ctx, h) })
	for _, of := range all {
		if of != nil {
			c.unlisted = append(c.unlisted, *of)
		}
	}
	if err := errors.Join(failed...); err != nil {
		c.cluster.Outcomes = append(c.cluster.Outcomes, source.Outcome{Endpoint: endpointEarlier, Err: err})
	}
	return ctx.Err()
}

// keepStep adds a step of an earlier run that this one has not listed, or its links if this
// one has not found any.
func (c *reading) keepStep(earlier tables.Step) {
	at := slices.IndexFunc(c.cluster.Steps, func(s tables.Step) bool { return s.StepID == earlier.StepID })
	if at < 0 {
		c.cluster.Steps = append(c.cluster.Steps, earlier)
		return
	}
	if step := &c.cluster.Steps[at]; len(step.ApplicationIDs) == 0 {
		step.ApplicationIDs, step.LinkedBy = earlier.ApplicationIDs, earlier.LinkedBy
	}
}

// lost returns the applications of steps that neither the source nor the lake has. It adds an
// outcome that names one, unless another says why applications are unknown.
func (r *runner) lost(ctx context.Context, c *reading) (lost []source.StepApplication) {
	for _, a := range c.cluster.Lost {
		kept, err := r.inLake(ctx, a.ID)
		switch {
		case err != nil:
			c.cluster.Outcomes = append(c.cluster.Outcomes, source.Outcome{Endpoint: endpointEarlier, Err: err})
			return nil
		case !kept && !r.expired(a.Start):
			lost = append(lost, a)
		}
	}
	if len(lost) > 0 && c.cluster.Unlisted() == nil {
		c.cluster.Outcomes = append(c.cluster.Outcomes, source.Outcome{Endpoint: source.EndpointApplications, Err: c.cluster.LostError(lost)})
	}
	return lost
}

// inLake reports whether the lake has rows of an application, whatever its attempt.
func (r *runner) inLake(ctx context.Context, id tables.Attempt) (bool, error) {
	f := lake.Filter{Account: id.Account, Region: id.Region, ClusterID: id.ClusterID, ApplicationID: id.ApplicationID}
	for _, err := range lake.Read[tables.Application](ctx, r.lake, f) {
		return err == nil, err // the error names the table
	}
	return false, nil
}

// missing writes a row of table completeness for an application that was not read, unless
// the lake has rows of an earlier run.
func (r *runner) missing(ctx context.Context, a source.Application, reason fold.Reason, detail string) {
	if err := r.writeMissing(ctx, a, reason, detail); err != nil && ctx.Err() == nil {
		r.failLake(err)
	}
}

func (r *runner) writeMissing(ctx context.Context, a source.Application, reason fold.Reason, detail string) error {
	kept, err := r.lake.HasRows(ctx, a.ID)
	if err != nil || kept {
		return err // the error names the manifest
	}
	batch, err := r.lake.Begin(a.ID, a.Start)
	if err != nil {
		return err
	}
	defer batch.Discard()
	row := fold.NotRead(a.ID, reason, detail)
	if err := batch.Put(&row); err != nil {
		return err
	}
	batch.Describe("", true)
	written, err := batch.Commit(ctx, false, "")
	if err != nil {
		return err
	}
	r.record(func(s *Summary) { s.recordWrite(written) })
	return nil
}
