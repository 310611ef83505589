package run

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/source"
	"github.com/emr-observatory/emr-observatory/profiler/spend"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// earlierInstances gives a listed cluster what the lake holds of its instances and of YARN's
// accounting. What cannot be read is listed and read again.
func (r *runner) earlierInstances(ctx context.Context, held *lake.Held, listed *source.Listed) {
	instances, failed := heldRows[tables.Instance](ctx, held)
	if failed == nil {
		listed.Instances = instances
	}
	usage := map[string]source.Usage{}
	rows, failed := heldRows[tables.ApplicationCost](ctx, held)
	summaries, unread := heldRows[tables.ClusterSummary](ctx, held)
	if failed != nil || unread != nil || len(summaries) != 1 {
		return
	}
	for _, row := range rows {
		if row.VCoreSeconds == nil || row.MiBSeconds == nil {
			continue
		}
		u := source.Usage{
			ApplicationID: row.ApplicationID, Name: row.ApplicationName, Started: row.StartTime,
			Finished:     max(row.EndTime, usage[row.ApplicationID].Finished), // over its attempts
			VCoreSeconds: *row.VCoreSeconds, MiBSeconds: *row.MiBSeconds,
		}
		if row.MasterHost != nil {
			u.MasterHost = *row.MasterHost
		}
		if r.expired(time.UnixMilli(u.Finished)) {
			u.Name = "" // retention_days
		}
		usage[row.ApplicationID] = u
	}
	listed.Usage, listed.YARNLogTime = usage, summaries[0].YARNLogTime
}

// endpointCosts stands in the cluster's outcomes for the tables costs and application_costs.
const endpointCosts = "costs"

// spent returns the cluster's rows of the tables instances, costs and application_costs. It reads the
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
	if err != nil {
		if costs, applications = r.earlierCosts(ctx, c.listed.ID); costs == nil {
			costs = c.cluster.Costs
		}
	}
	for i := range c.cluster.Instances {
		rows = append(rows, &c.cluster.Instances[i])
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
func (r *runner) earlierCosts(ctx context.Context, id tables.Cluster) ([]tables.Cost, []tables.ApplicationCost) {
	held, err := r.lake.Cluster(ctx, id)
	if err != nil || held == nil {
		return nil, nil
	}
	costs, err := heldRows[tables.Cost](ctx, held)
	applications, failed := heldRows[tables.ApplicationCost](ctx, held)
	if errors.Join(err, failed) != nil {
		return nil, nil
	}
	return costs, applications
}

func (r *runner) divided(ctx context.Context, c *reading) ([]tables.Cost, []tables.ApplicationCost, error) {
	cluster := spend.Cluster{
		ID: c.listed.ID, Instances: c.cluster.Instances, Groups: c.cluster.Costs, Usage: c.cluster.Usage,
		Ended: c.cluster.Summary.EndTime, Now: r.now.UnixMilli(),
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
	columns := lake.Selection{Columns: []string{"executor_id", "host_port", "total_cores", "add_time", "remove_time"}}
	for row, err := range lake.ReadSelected[tables.Executor](ctx, held, columns) {
		if err != nil {
			return nil, err // names the object
		}
		host, _, _ := strings.Cut(row.HostPort, ":")
		a.Executors = append(a.Executors, spend.Executor{
			ID: strings.Clone(row.ExecutorID), Host: strings.Clone(source.HostOf(host)), Cores: row.TotalCores,
			Added: row.AddTime, End: row.RemoveTime,
		})
	}
	return &a, nil
}
