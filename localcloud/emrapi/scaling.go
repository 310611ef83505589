package emrapi

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// ManagedScaling returns a cluster's managed scaling policy, or nil.
func (s *Store) ManagedScaling(id string) (*types.ManagedScalingPolicy, error) {
	return read(s, id, func(r *record) *types.ManagedScalingPolicy { return r.ManagedScaling })
}

// ResizeGroup requests a number of instances of a group, as ModifyInstanceGroups does.
func (s *Store) ResizeGroup(clusterID, groupID string, count int) error {
	err := s.change(clusterID, func(r *record) error {
		return r.modifyGroup(types.InstanceGroupModifyConfig{InstanceGroupId: &groupID, InstanceCount: aws.Int32(int32(count))})
	})
	if err != nil {
		return fmt.Errorf("resize instance group %s: %w", groupID, err)
	}
	return nil
}

// ResizeFleet requests capacities of a fleet, as ModifyInstanceFleet does.
func (s *Store) ResizeFleet(clusterID, fleetID string, onDemand, spot int) error {
	err := s.change(clusterID, func(r *record) error {
		fleet, err := r.fleet(fleetID)
		if err != nil {
			return err
		}
		return r.modifyFleet(fleet, &types.InstanceFleetModifyConfig{
			TargetOnDemandCapacity: aws.Int32(int32(onDemand)), TargetSpotCapacity: aws.Int32(int32(spot)),
		})
	})
	if err != nil {
		return fmt.Errorf("resize instance fleet %s: %w", fleetID, err)
	}
	return nil
}
