package run

import (
	"context"
	"fmt"
	"slices"

	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/source"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// keepEarlier takes from the lake what an earlier run read of the cluster and this one
// could not: its steps with their links to applications, and its totals. Without this,
// writing the cluster's rows would replace them by fewer.
func (r *runner) keepEarlier(ctx context.Context, c *reading) error {
	lostSteps := c.cluster.Failed(source.OpListSteps) != nil || c.cluster.Failed(source.EndpointStepLogs) != nil
	lostApplications := c.cluster.Unlisted() != nil
	if !lostSteps && !lostApplications {
		return nil
	}
	held, is, err := r.lake.Cluster(ctx, c.listed.ID)
	if err != nil || !is {
		return err // the error names the manifest
	}
	if lostSteps {
		for step, err := range lake.ReadHeld[tables.Step](ctx, held) {
			if err != nil {
				return fmt.Errorf("keep the steps of an earlier run: %w; %s", err, damagedRemedy)
			}
			c.keepStep(step)
		}
	}
	if !lostApplications {
		return nil
	}
	for row, err := range lake.ReadHeld[tables.ClusterSummary](ctx, held) {
		if err != nil {
			return fmt.Errorf("keep the totals of an earlier run: %w; %s", err, damagedRemedy)
		}
		c.earlier = &row
	}
	return nil
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
