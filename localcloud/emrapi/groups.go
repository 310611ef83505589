package emrapi

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// notReady is EMR's refusal to change the groups of a cluster that does not run.
const notReady = "An instance group may only be modified when the job flow is running or waiting."

// provisioningGroup returns the status of a group whose nodes do not run yet.
func provisioningGroup(created *time.Time) *types.InstanceGroupStatus {
	return &types.InstanceGroupStatus{
		State:             types.InstanceGroupStateProvisioning,
		StateChangeReason: &types.InstanceGroupStateChangeReason{},
		Timeline:          &types.InstanceGroupTimeline{CreationDateTime: created},
	}
}

// addInstanceGroups adds task groups, and a core group to a cluster without one.
func (s *Server) addInstanceGroups(input *emr.AddInstanceGroupsInput) (*emr.AddInstanceGroupsOutput, error) {
	input, err := clone(input)
	if err != nil {
		return nil, err
	}
	output := &emr.AddInstanceGroupsOutput{JobFlowId: input.JobFlowId}
	err = s.store.change(aws.ToString(input.JobFlowId), func(r *record) error {
		if err := checkAddedGroups(r, input.InstanceGroups); err != nil {
			return err
		}
		output.ClusterArn, output.InstanceGroupIds = r.Cluster.ClusterArn, nil
		for _, config := range input.InstanceGroups {
			group := newGroup(config)
			group.Status = provisioningGroup(now())
			r.Groups = append(r.Groups, group)
			output.InstanceGroupIds = append(output.InstanceGroupIds, *group.Id)
		}
		return nil
	})
	if errors.Is(err, ErrNotFound) {
		return nil, validationError("Specified job flow ID does not exist.")
	}
	return output, err
}

// checkAddedGroups reports why groups cannot be added to a cluster.
func checkAddedGroups(r *record, added []types.InstanceGroupConfig) error {
	var v violations
	v.require(clusterReady(r.state()), notReady)
	v.require(len(r.Fleets) == 0, "Instance fleets and instance groups are mutually exclusive.")
	v.require(len(added) > 0, "InstanceGroups: must hold at least one group")
	tasks, hasCore := 0, false
	for _, g := range r.Groups {
		switch g.InstanceGroupType {
		case types.InstanceGroupTypeTask:
			tasks++
		case types.InstanceGroupTypeCore:
			hasCore = true
		}
	}
	for i, g := range added {
		at := fmt.Sprintf("InstanceGroups[%d]", i)
		v.checkGroup(at, g)
		v.require(g.InstanceRole == types.InstanceRoleTypeTask,
			"%s.InstanceRole: %q: only task groups can be added to a running cluster", at, g.InstanceRole)
	}
	v.require(hasCore, "Task instance groups cannot be added to a cluster without a core instance group.")
	v.require(tasks+len(added) <= maxTaskGroups, "InstanceGroups: %d task groups and %d more: at most %d, those at 0 among them",
		tasks, len(added), maxTaskGroups)
	return v.refuse()
}

// modifyInstanceGroups changes groups' requested counts and configurations.
func (s *Server) modifyInstanceGroups(input *emr.ModifyInstanceGroupsInput) (*emr.ModifyInstanceGroupsOutput, error) {
	for _, change := range input.InstanceGroups {
		id := aws.ToString(input.ClusterId)
		if id == "" { // optional in this operation
			id = s.store.clusterOfGroup(aws.ToString(change.InstanceGroupId))
		}
		err := s.store.change(id, func(r *record) error { return r.modifyGroup(change) })
		if errors.Is(err, ErrNotFound) {
			return nil, validationError("Instance group id '%s' is not valid.", aws.ToString(change.InstanceGroupId))
		}
		if err != nil {
			return nil, err
		}
	}
	return &emr.ModifyInstanceGroupsOutput{}, nil
}

// clusterOfGroup returns the cluster that has a group, "" if none has it.
func (s *Store) clusterOfGroup(id string) string {
	for _, cluster := range s.ClusterIDs() {
		if found, err := s.snapshot(cluster); err == nil && slices.Contains(found.groupAndFleetIDs(), id) {
			return cluster
		}
	}
	return ""
}

// modifyGroup applies a change to a group, which then resizes.
func (r *record) modifyGroup(change types.InstanceGroupModifyConfig) error {
	group, err := r.group(aws.ToString(change.InstanceGroupId))
	if err != nil {
		return err
	}
	var v violations
	v.require(clusterReady(r.state()), notReady)
	if count := aws.ToInt32(change.InstanceCount); change.InstanceCount != nil {
		v.require(group.InstanceGroupType != types.InstanceGroupTypeMaster || count == aws.ToInt32(group.RequestedInstanceCount),
			"The master instance group cannot be resized.")
		v.require(count >= 1 || group.InstanceGroupType == types.InstanceGroupTypeTask && count == 0,
			"InstanceCount: %d: must be at least 1, or 0 for a task group", count)
	}
	v.checkConfigurations("Configurations", change.Configurations)
	if err := v.refuse(); err != nil {
		return err
	}
	if change.InstanceCount != nil {
		group.RequestedInstanceCount = change.InstanceCount
	}
	if change.ShrinkPolicy != nil {
		group.ShrinkPolicy = change.ShrinkPolicy
	}
	if change.Configurations != nil {
		group.Configurations = change.Configurations
		group.ConfigurationsVersion = aws.Int64(aws.ToInt64(group.ConfigurationsVersion) + 1)
	}
	group.Status.State = types.InstanceGroupStateResizing
	if change.InstanceCount == nil && change.Configurations != nil {
		group.Status.State = types.InstanceGroupStateReconfiguring
	}
	group.Status.StateChangeReason = &types.InstanceGroupStateChangeReason{}
	return nil
}
