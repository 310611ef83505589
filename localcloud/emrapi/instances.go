package emrapi

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// PutInstance adds an instance to a group or fleet of a cluster, in PROVISIONING, created now
// unless its timeline says otherwise.
func (s *Store) PutInstance(clusterID string, instance types.Instance) error {
	return s.change(clusterID, func(r *record) error {
		if _, err := r.instance(aws.ToString(instance.Id)); err == nil || instance.Id == nil {
			return fmt.Errorf("put instance: Id: %q: absent or taken; make one with NewID", aws.ToString(instance.Id))
		}
		created := now()
		if given := instance.Status; given != nil && given.Timeline != nil {
			created = given.Timeline.CreationDateTime
		}
		instance.Status = &types.InstanceStatus{
			State:             types.InstanceStateProvisioning,
			StateChangeReason: &types.InstanceStateChangeReason{},
			Timeline:          &types.InstanceTimeline{CreationDateTime: created},
		}
		r.Instances = append(r.Instances, instance)
		return nil
	})
}

// SetInstanceState sets an instance's state and its timeline.
func (s *Store) SetInstanceState(
	clusterID, instanceID string, state types.InstanceState, reason types.InstanceStateChangeReason,
) error {
	return s.change(clusterID, func(r *record) error {
		instance, err := r.instance(instanceID)
		if err != nil {
			return err
		}
		return setInstanceState(instance, state, reason)
	})
}

// setInstanceState sets the state of an instance and its timeline.
func setInstanceState(instance *types.Instance, state types.InstanceState, reason types.InstanceStateChangeReason) error {
	status := instance.Status
	if err := checkMove("instance "+aws.ToString(instance.Id), instanceMoves, status.State, state); err != nil {
		return err
	}
	status.State, status.StateChangeReason = state, &reason
	switch {
	case state == types.InstanceStateRunning && status.Timeline.ReadyDateTime == nil:
		status.Timeline.ReadyDateTime = now()
	case state == types.InstanceStateTerminated && status.Timeline.EndDateTime == nil:
		status.Timeline.EndDateTime = now()
	}
	return nil
}

// Instances lists a cluster's instances in the order in which they were put.
func (s *Store) Instances(clusterID string) ([]types.Instance, error) {
	return read(s, clusterID, func(r *record) []types.Instance { return r.Instances })
}

// InstanceGroups lists a cluster's groups.
func (s *Store) InstanceGroups(clusterID string) ([]types.InstanceGroup, error) {
	return read(s, clusterID, func(r *record) []types.InstanceGroup { return r.Groups })
}

// InstanceFleets lists a cluster's fleets.
func (s *Store) InstanceFleets(clusterID string) ([]types.InstanceFleet, error) {
	return read(s, clusterID, func(r *record) []types.InstanceFleet { return r.Fleets })
}
