package emr

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/platform"
)

// scalingInterval is the time between two looks at a cluster's demand: EMR's managed
// scaling takes 5 to 10 s (Management Guide, "Using managed scaling").
const scalingInterval = 10 * time.Second

// scaleInDelay is how long a cluster must need fewer nodes before it shrinks. EMR does
// not document its own delay.
const scaleInDelay = time.Minute

// WatchScaling resizes clusters by their scaling policies until ctx is done.
func (s *Service) WatchScaling(ctx context.Context) { repeat(ctx, scalingInterval, s.Scale) }

// Scale looks once at the demand of every cluster with a scaling policy.
func (s *Service) Scale(ctx context.Context) {
	for _, id := range s.Store.ClusterIDs() {
		if err := s.scaleCluster(ctx, id); err != nil {
			s.Log.Warn("scale", "cluster", id, "error", err)
		}
	}
}

func (s *Service) scaleCluster(ctx context.Context, id string) error {
	c, err := s.Store.Cluster(id)
	if err != nil || c.Status.State != types.ClusterStateRunning && c.Status.State != types.ClusterStateWaiting {
		return err
	}
	managed, err := s.Store.ManagedScaling(id)
	if err != nil {
		return err
	}
	groups, err := s.Store.InstanceGroups(id)
	if err != nil {
		return err
	}
	custom := false
	for _, g := range groups {
		custom = custom || g.AutoScalingPolicy != nil
	}
	if managed == nil && !custom {
		return nil
	}
	nodes, err := s.clusterNodes(id)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, scalingInterval)
	defer cancel()
	metrics, err := readYARNMetrics(ctx, nodes[0])
	if err != nil {
		return err
	}
	if managed == nil {
		return s.scaleByRules(id, groups, metrics)
	}
	pools, err := s.pools(id, "")
	if err != nil {
		return err
	}
	return s.scaleManaged(id, managed.ComputeLimits, pools, metrics)
}

// scaleManaged requests the nodes that the containers of YARN need, within the limits.
func (s *Service) scaleManaged(id string, limits *types.ComputeLimits, pools []pool, metrics yarnMetrics) error {
	var workers []pool
	total := 0
	for _, p := range pools {
		if p.role != platform.RoleMaster {
			workers, total = append(workers, p), total+p.count
		}
	}
	needed := (metrics.AllocatedMB + metrics.PendingMB + nodeMemoryMB - 1) / nodeMemoryMB
	l := newNodeLimits(limits, workers)
	needed = min(max(needed, l.least), l.most)
	if !s.settled(id, needed, total) {
		return nil
	}
	var errs []error
	for _, p := range changedPools(workers, l.spread(workers, needed)) {
		errs = append(errs, s.requestPool(id, p, workers))
	}
	return errors.Join(errs...)
}

// settled reports whether a cluster may change to the needed number of nodes: at once to
// more of them, to fewer once they have been enough for scaleInDelay.
func (s *Service) settled(id string, needed, total int) bool {
	if needed >= total {
		s.enoughSince.Delete(id)
		return true
	}
	now := s.Clock.Now()
	known, _ := s.enoughSince.LoadOrStore(id, now)
	since, _ := known.(time.Time)
	return now.Sub(since) >= scaleInDelay
}

// requestPool requests a pool's nodes. The parts of a fleet are requested together.
func (s *Service) requestPool(id string, p pool, workers []pool) error {
	if !p.fleet {
		return s.Store.ResizeGroup(id, p.id, p.count)
	}
	units := map[types.MarketType]int{p.market: p.count * p.weight}
	for _, other := range workers {
		if _, counted := units[other.market]; other.id == p.id && !counted {
			units[other.market] = other.count * other.weight
		}
	}
	return s.Store.ResizeFleet(id, p.id, units[types.MarketTypeOnDemand], units[types.MarketTypeSpot])
}

// nodeLimits are the limits of a managed scaling policy as numbers of nodes.
type nodeLimits struct{ least, most, core, onDemand int }

// newNodeLimits converts limits from their unit. All pools of a fleet's cluster count with
// the weight of the first.
func newNodeLimits(l *types.ComputeLimits, workers []pool) nodeLimits {
	unit := 1
	switch l.UnitType {
	case types.ComputeLimitsUnitTypeVcpu:
		unit = nodeVCores
	case types.ComputeLimitsUnitTypeInstanceFleetUnits:
		unit = max(workers[0].weight, 1)
	}
	nodes := func(units *int32) int { return int(aws.ToInt32(units)) / unit }
	out := nodeLimits{least: (int(aws.ToInt32(l.MinimumCapacityUnits)) + unit - 1) / unit, most: nodes(l.MaximumCapacityUnits)}
	out.core, out.onDemand = out.most, out.most
	if l.MaximumCoreCapacityUnits != nil {
		out.core = nodes(l.MaximumCoreCapacityUnits)
	}
	if l.MaximumOnDemandCapacityUnits != nil {
		out.onDemand = nodes(l.MaximumOnDemandCapacityUnits)
	}
	return out
}

// spread returns pools with the needed number of nodes in all. Nodes are added to core
// pools, then to task pools, and taken from task pools, then from core pools, of which
// one node stays (Management Guide, "Understanding node allocation strategy").
func (l nodeLimits) spread(workers []pool, needed int) []pool {
	out := append([]pool{}, workers...)
	total, cores, onDemand := 0, 0, 0
	for _, p := range out {
		total += p.count
		if p.role == platform.RoleCore {
			cores += p.count
		}
		if p.market == types.MarketTypeOnDemand {
			onDemand += p.count
		}
	}
	for i := range out {
		p := &out[i]
		more := max(needed-total, 0)
		if p.role == platform.RoleCore {
			more = min(more, max(l.core-cores, 0))
		}
		if p.market == types.MarketTypeOnDemand {
			more = min(more, max(l.onDemand-onDemand, 0))
			onDemand += more
		}
		p.count, total = p.count+more, total+more
	}
	for i := len(out) - 1; i >= 0; i-- {
		p := &out[i]
		fewer := min(max(total-needed, 0), p.count)
		if p.role == platform.RoleCore {
			fewer = min(fewer, max(cores-1, 0))
			cores -= fewer
		}
		p.count, total = p.count-fewer, total-fewer
	}
	return out
}

// changedPools returns the pools whose count differs.
func changedPools(before, after []pool) []pool {
	var out []pool
	for i, p := range after {
		if p.count != before[i].count {
			out = append(out, p)
		}
	}
	return out
}

// metricValue returns a metric of EMR in CloudWatch, computed from YARN's own (Management
// Guide, "Metrics reported by EMR in CloudWatch"). It knows those of YARN only.
func (m yarnMetrics) metricValue(name string) (float64, error) {
	ratio := func(part, whole int) float64 { return float64(part) / float64(max(whole, 1)) }
	switch name {
	case "YARNMemoryAvailablePercentage":
		return 100 * ratio(m.AvailableMB, m.TotalMB), nil
	case "ContainerPendingRatio":
		if m.ContainersAllocated == 0 { // EMR: then it is the number of pending ones
			return float64(m.ContainersPending), nil
		}
		return ratio(m.ContainersPending, m.ContainersAllocated), nil
	}
	values := map[string]int{
		"ContainerPending": m.ContainersPending, "ContainerAllocated": m.ContainersAllocated, "AppsPending": m.AppsPending,
		"AppsRunning": m.AppsRunning, "MemoryAvailableMB": m.AvailableMB, "MemoryAllocatedMB": m.AllocatedMB, "MemoryTotalMB": m.TotalMB,
		"MRActiveNodes": m.ActiveNodes,
	}
	value, known := values[name]
	if !known {
		return 0, fmt.Errorf("metric %s: the local cloud has no value of it", name)
	}
	return float64(value), nil
}
