package run

import (
	"context"
	"errors"
	"fmt"

	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/source"
	"github.com/emr-observatory/emr-observatory/profiler/spend"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// earlierUsage returns what an earlier run has read of YARN's accounting. If that cannot be
// read, it returns nothing: the logs are read again.
func (r *runner) earlierUsage(ctx context.Context, listed source.Listed) map[string]source.Usage {
	held, err := r.lake.Cluster(ctx, listed.ID)
	if err != nil || held == nil {
		return nil
	}
	usage := map[string]source.Usage{}
	for row, err := range lake.ReadHeld[tables.ApplicationCost](ctx, held) {
		if err != nil {
			return nil
		}
		if row.VCoreSeconds != nil && row.MiBSeconds != nil {
			u := source.Usage{
				ApplicationID: row.ApplicationID, Name: row.ApplicationName, Started: row.StartTime, Finished: row.EndTime,
				VCoreSeconds: *row.VCoreSeconds, MiBSeconds: *row.MiBSeconds,
			}
			if row.MasterHost != nil {
				u.MasterHost = *row.MasterHost
			}
			u.Finished = max(u.Finished, usage[row.ApplicationID].Finished) // over its attempts
			usage[row.ApplicationID] = u
		}
	}
	return usage
}

// endpointCosts stands in the cluster's outcomes for the tables costs and application_costs.
const endpointCosts = "costs"

// spent returns the cluster's rows of the tables costs and application_costs. It reads the
// executors of every application in the lake: what one application had of a node depends on
// the others. If it cannot, an outcome says so, and there are the rows of an earlier run or the
// groups alone.
func (r *runner) spent(ctx context.Context, c *reading) (rows []tables.Row) {
	costs, applications, err := r.divided(ctx, c)
	if err != nil && ctx.Err() == nil {
		c.cluster.Outcomes = append(c.cluster.Outcomes, source.Outcome{Endpoint: endpointCosts, Err: err})
		reason := fmt.Sprintf("%s: %v", endpointCosts, err)
		r.record(func(s *Summary) { s.add(Incomplete{Cluster: c.listed.ID.ClusterID, Reason: reason}) })
	}
	if err != nil || c.cluster.Failed(source.OpListInstances) != nil {
		if costs, applications = r.earlierCosts(ctx, c.listed.ID); costs == nil {
			costs = c.cluster.Costs
		}
	}
	for i := range costs {
		rows = append(rows, &costs[i])
	}
	for i := range applications {
		rows = append(rows, &applications[i])
	}
	return rows
}

// earlierCosts returns the rows that an earlier run has written; nil if there are none, or they
// cannot be read.
func (r *runner) earlierCosts(ctx context.Context, id tables.Cluster) (costs []tables.Cost, applications []tables.ApplicationCost) {
	held, err := r.lake.Cluster(ctx, id)
	if err != nil || held == nil {
		return nil, nil
	}
	for row, err := range lake.ReadHeld[tables.Cost](ctx, held) {
		if err != nil {
			return nil, nil
		}
		costs = append(costs, row)
	}
	for row, err := range lake.ReadHeld[tables.ApplicationCost](ctx, held) {
		if err != nil {
			return nil, nil
		}
		applications = append(applications, row)
	}
	return costs, applications
}

func (r *runner) divided(ctx context.Context, c *reading) ([]tables.Cost, []tables.ApplicationCost, error) {
	cluster := spend.Cluster{
		ID: c.listed.ID, Instances: c.cluster.Instances, Groups: c.cluster.Costs, Usage: c.cluster.Usage, Now: r.now.UnixMilli(),
	}
	if len(cluster.Instances) == 0 {
		costs, rows := cluster.Rows()
		return costs, rows, nil
	}
	held, err := r.lake.Others(ctx, c.listed.ID, nil)
	if err != nil {
		return nil, nil, err // names the request
	}
	all, failed := make([]*spend.Application, len(held)), make([]error, len(held))
	each(lakeReads, held, func(i int, h *lake.Held) { all[i], failed[i] = executorsIn(ctx, h) })
	for _, a := range all {
		if a != nil {
			cluster.Applications = append(cluster.Applications, *a)
		}
	}
	if err := errors.Join(failed...); err != nil {
		return nil, nil, fmt.Errorf("%w; %s", err, damagedRemedy)
	}
	costs, rows := cluster.Rows()
	return costs, rows, nil
}

// executorsIn returns an attempt in the lake with its executors, nil if it was never read.
func executorsIn(ctx context.Context, held *lake.Held) (*spend.Application, error) {
	if !held.IsRead() {
		return nil, nil // documented
	}
	var a spend.Application
	for row, err := range lake.ReadHeld[tables.Application](ctx, held) {
		if err != nil {
			return nil, err // names the object
		}
		a.Row = row
	}
	for row, err := range lake.ReadHeld[tables.Executor](ctx, held) {
		if err != nil {
			return nil, err // names the object
		}
		a.Executors = append(a.Executors, row)
	}
	return &a, nil
}
