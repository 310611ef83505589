package emrapi

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// poolKey names a group or fleet of a cluster.
type poolKey struct{ cluster, pool string }

// resizeDue starts the resizing of each group and fleet whose nodes do not match yet.
func (s *Server) resizeDue(ctx context.Context, found *record) {
	for _, pool := range found.changingPools() {
		key := poolKey{aws.ToString(found.Cluster.Id), pool}
		s.mu.Lock()
		if !s.resizing[key] {
			s.resizing[key] = true
			s.startBackground(ctx, key.cluster, func(ctx context.Context) { s.resizeUntilDone(ctx, key) })
		}
		s.mu.Unlock()
	}
}

// resizeUntilDone resizes a group or fleet until its nodes match what is requested,
// which may change meanwhile.
func (s *Server) resizeUntilDone(ctx context.Context, key poolKey) {
	for {
		before, err := s.requested(key)
		if err == nil {
			err = s.nodes.Resize(ctx, key.cluster, key.pool)
		}
		if ctx.Err() == nil {
			failure := err
			err = s.store.change(key.cluster, func(r *record) error { return r.endResize(key.pool, before, failure) })
			if err != nil {
				s.log.Error("end the resizing of an EMR group", "cluster", key.cluster, "group", key.pool, "error", err)
			}
		}
		s.mu.Lock()
		found, snapshotErr := s.store.snapshot(key.cluster)
		if ctx.Err() != nil || err != nil || snapshotErr != nil || !slices.Contains(found.changingPools(), key.pool) {
			delete(s.resizing, key)
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
	}
}

// changingPools returns the ids of the groups and fleets whose nodes do not match
// what is requested.
func (r *record) changingPools() []string {
	changing := []types.InstanceGroupState{
		types.InstanceGroupStateProvisioning, types.InstanceGroupStateBootstrapping, types.InstanceGroupStateResizing,
		types.InstanceGroupStateReconfiguring,
	}
	if !clusterReady(r.state()) {
		return nil
	}
	var ids []string
	for _, g := range r.Groups {
		if slices.Contains(changing, g.Status.State) {
			ids = append(ids, aws.ToString(g.Id))
		}
	}
	for _, f := range r.Fleets {
		if slices.Contains(changing, types.InstanceGroupState(f.Status.State)) {
			ids = append(ids, aws.ToString(f.Id))
		}
	}
	return ids
}

// size is what is requested of a group or fleet.
type size struct{ onDemand, spot, version int64 }

// requested returns what is requested of a group or fleet.
func (s *Server) requested(key poolKey) (size, error) {
	found, err := s.store.snapshot(key.cluster)
	if err != nil {
		return size{}, err
	}
	return found.size(key.pool), nil
}

func (r *record) size(pool string) size {
	if g, err := r.group(pool); err == nil {
		return size{onDemand: int64(aws.ToInt32(g.RequestedInstanceCount)), version: aws.ToInt64(g.ConfigurationsVersion)}
	}
	if f, err := r.fleet(pool); err == nil {
		return size{onDemand: int64(aws.ToInt32(f.TargetOnDemandCapacity)), spot: int64(aws.ToInt32(f.TargetSpotCapacity))}
	}
	return size{}
}

// endResize sets the state of a group or fleet after its nodes have changed: RUNNING, or
// ARRESTED if nodes failed (Management Guide, "Arrested state"), or SUSPENDED for
// a fleet. It changes nothing if another size was requested meanwhile.
func (r *record) endResize(pool string, before size, failure error) error {
	if r.size(pool) != before || !clusterReady(r.state()) {
		return nil
	}
	if g, err := r.group(pool); err == nil {
		status := g.Status
		status.State, status.StateChangeReason = types.InstanceGroupStateRunning, &types.InstanceGroupStateChangeReason{}
		if failure != nil {
			status.State = types.InstanceGroupStateArrested
			status.StateChangeReason.Code = types.InstanceGroupStateChangeReasonCodeInstanceFailure
			status.StateChangeReason.Message = aws.String(failure.Error())
			return nil
		}
		g.LastSuccessfullyAppliedConfigurations, g.LastSuccessfullyAppliedConfigurationsVersion = g.Configurations, g.ConfigurationsVersion
		setTimes(r.state(), &status.Timeline.ReadyDateTime, &status.Timeline.EndDateTime)
		return nil
	}
	f, err := r.fleet(pool)
	if err != nil {
		return err
	}
	status := f.Status
	status.State, status.StateChangeReason = types.InstanceFleetStateRunning, &types.InstanceFleetStateChangeReason{}
	if failure != nil {
		status.State = types.InstanceFleetStateSuspended
		status.StateChangeReason.Code = types.InstanceFleetStateChangeReasonCodeInstanceFailure
		status.StateChangeReason.Message = aws.String(failure.Error())
		return nil
	}
	setTimes(r.state(), &status.Timeline.ReadyDateTime, &status.Timeline.EndDateTime)
	return nil
}
