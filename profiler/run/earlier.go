package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/source"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// earlierSteps returns the steps of a cluster that an earlier run has written.
func (r *runner) earlierSteps(ctx context.Context, listed source.Listed) (steps []tables.Step, err error) {
	held, err := r.lake.Cluster(ctx, listed.ID)
	if err != nil || held == nil {
		return nil, err // the error names the manifest
	}
	for step, err := range lake.ReadHeld[tables.Step](ctx, held) {
		if err != nil {
			return nil, fmt.Errorf("keep the steps of an earlier run: %w; %s", err, damagedRemedy)
		}
		steps = append(steps, step)
	}
	return steps, nil
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
