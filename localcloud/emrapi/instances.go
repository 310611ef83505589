package emrapi

import (
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// PutInstance adds an instance to a group of a cluster, in PROVISIONING.
func (s *Store) PutInstance(clusterID string, instance types.Instance) error {
	return s.change(clusterID, func(r *record) error {
		if _, err := r.instance(aws.ToString(instance.Id)); err == nil || instance.Id == nil {
			return fmt.Errorf("put instance: Id: %q: absent or taken; make one with NewID", aws.ToString(instance.Id))
		}
		instance.Status = &types.InstanceStatus{
			State:             types.InstanceStateProvisioning,
			StateChangeReason: &types.InstanceStateChangeReason{},
			Timeline:          &types.InstanceTimeline{CreationDateTime: now()},
		}
		r.Instances = append(r.Instances, instance)
		return nil
	})
}

// UpdateInstance changes facts of an instance other than its id and status,
// such as its addresses.
func (s *Store) UpdateInstance(clusterID, instanceID string, update func(*types.Instance)) error {
	return s.change(clusterID, func(r *record) error {
		instance, err := r.instance(instanceID)
		if err != nil {
			return err
		}
		status, state := instance.Status, instance.Status.State
		update(instance)
		if aws.ToString(instance.Id) != instanceID || instance.Status != status || status.State != state {
			return errors.New("update instance: Id and Status are not for UpdateInstance; use SetInstanceState")
		}
		return nil
	})
}

// SetInstanceState moves an instance along its life and stamps its timeline.
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

func setInstanceState(instance *types.Instance, state types.InstanceState, reason types.InstanceStateChangeReason) error {
	status := instance.Status
	if err := move("instance "+aws.ToString(instance.Id), instanceMoves, status.State, state); err != nil {
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

// Instances lists a cluster's instances in the order they were put.
func (s *Store) Instances(clusterID string) ([]types.Instance, error) {
	found, err := s.snapshot(clusterID)
	if err != nil {
		return nil, err
	}
	return clone(found.Instances)
}

// PutInstanceGroup adds a group, such as a task group made after the cluster.
// Its state follows the cluster's.
func (s *Store) PutInstanceGroup(clusterID string, group types.InstanceGroup) error {
	return s.change(clusterID, func(r *record) error {
		group.Status = &types.InstanceGroupStatus{
			State:             groupState(r.state()),
			StateChangeReason: &types.InstanceGroupStateChangeReason{},
			Timeline:          &types.InstanceGroupTimeline{CreationDateTime: now()},
		}
		r.Groups = append(r.Groups, group)
		return nil
	})
}

// UpdateInstanceGroup changes facts of a group, such as its requested count.
// Its running count follows its instances, its state the cluster's.
func (s *Store) UpdateInstanceGroup(clusterID, groupID string, update func(*types.InstanceGroup)) error {
	return s.change(clusterID, func(r *record) error {
		group, err := r.group(groupID)
		if err != nil {
			return err
		}
		update(group)
		return nil
	})
}

// InstanceGroups lists a cluster's groups.
func (s *Store) InstanceGroups(clusterID string) ([]types.InstanceGroup, error) {
	found, err := s.snapshot(clusterID)
	if err != nil {
		return nil, err
	}
	return clone(found.Groups)
}
