package emrapi

import (
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

func (s *Server) listClusters(input *listClustersInput) (*emr.ListClustersOutput, error) {
	var all []types.ClusterSummary
	for _, id := range s.store.ClusterIDs() {
		found, err := s.store.snapshot(id)
		if err != nil {
			return nil, err
		}
		all = append(all, types.ClusterSummary{
			Id: found.Cluster.Id, Name: found.Cluster.Name, ClusterArn: found.Cluster.ClusterArn,
			OutpostArn: found.Cluster.OutpostArn, Status: found.Cluster.Status,
			NormalizedInstanceHours: found.Cluster.NormalizedInstanceHours,
		})
	}
	clusters, marker, err := page(all, input.Marker,
		func(c types.ClusterSummary) *string { return c.Id },
		func(c types.ClusterSummary) bool {
			created := c.Status.Timeline.CreationDateTime
			return matches(input.ClusterStates, c.Status.State) &&
				(input.CreatedAfter == nil || created.After(input.CreatedAfter.Time)) &&
				(input.CreatedBefore == nil || created.Before(input.CreatedBefore.Time))
		})
	return &emr.ListClustersOutput{Clusters: clusters, Marker: marker}, err
}

func (r *record) describeCluster(_ *emr.DescribeClusterInput) (*emr.DescribeClusterOutput, error) {
	return &emr.DescribeClusterOutput{Cluster: &r.Cluster}, nil
}

// instanceTime is how long after its end an instance is listed (EMR API Reference, ListInstances).
const instanceTime = 30 * 24 * time.Hour

func (r *record) listInstances(input *emr.ListInstancesInput) (*emr.ListInstancesOutput, error) {
	asksFleet := input.InstanceFleetId != nil || input.InstanceFleetType != ""
	asksGroup := input.InstanceGroupId != nil || len(input.InstanceGroupTypes) > 0
	switch fleets := len(r.Fleets) > 0; {
	case asksFleet && !fleets:
		return nil, exclusiveError("ListInstances request with an instance fleet", "groups")
	case asksGroup && fleets:
		return nil, exclusiveError("ListInstances request with an instance group", "fleets")
	}
	kind, forgotten := r.kinds(), now().Add(-instanceTime)
	instances, marker, err := page(r.Instances, input.Marker,
		func(i types.Instance) *string { return i.Id },
		func(i types.Instance) bool {
			group, fleet := aws.ToString(i.InstanceGroupId), aws.ToString(i.InstanceFleetId)
			ended := i.Status.Timeline.EndDateTime
			return (ended == nil || ended.After(forgotten)) &&
				matches(input.InstanceStates, i.Status.State) && matches(input.InstanceGroupTypes, types.InstanceGroupType(kind[group])) &&
				(input.InstanceGroupId == nil || *input.InstanceGroupId == group) &&
				(input.InstanceFleetType == "" || kind[fleet] == string(input.InstanceFleetType)) &&
				(input.InstanceFleetId == nil || *input.InstanceFleetId == fleet)
		})
	return &emr.ListInstancesOutput{Instances: instances, Marker: marker}, err
}

// kinds returns MASTER, CORE or TASK by the id of a group or fleet.
func (r *record) kinds() map[string]string {
	kind := map[string]string{}
	for _, group := range r.Groups {
		kind[aws.ToString(group.Id)] = string(group.InstanceGroupType)
	}
	for _, fleet := range r.Fleets {
		kind[aws.ToString(fleet.Id)] = string(fleet.InstanceFleetType)
	}
	return kind
}

func (r *record) listInstanceGroups(input *emr.ListInstanceGroupsInput) (*emr.ListInstanceGroupsOutput, error) {
	if len(r.Fleets) > 0 {
		return nil, exclusiveError("ListInstanceGroups request", "fleets")
	}
	groups, marker, err := page(r.Groups, input.Marker,
		func(g types.InstanceGroup) *string { return g.Id },
		func(types.InstanceGroup) bool { return true })
	return &emr.ListInstanceGroupsOutput{InstanceGroups: groups, Marker: marker}, err
}

func (r *record) listInstanceFleets(input *emr.ListInstanceFleetsInput) (*emr.ListInstanceFleetsOutput, error) {
	if len(r.Fleets) == 0 {
		return nil, exclusiveError("ListInstanceFleets request", "groups")
	}
	fleets, marker, err := page(r.Fleets, input.Marker,
		func(f types.InstanceFleet) *string { return f.Id },
		func(types.InstanceFleet) bool { return true })
	return &emr.ListInstanceFleetsOutput{InstanceFleets: fleets, Marker: marker}, err
}

// exclusiveError returns EMR's error for a request about groups to a cluster that uses
// fleets, or the reverse. uses is what the cluster uses.
func exclusiveError(request, uses string) error {
	return invalidRequestError("Instance fleets and instance groups are mutually exclusive. The EMR cluster specified in the "+
		"request uses instance %s. The %s does not support clusters that use instance %s.", uses, request, uses)
}

func (r *record) listBootstrapActions(_ *emr.ListBootstrapActionsInput) (*emr.ListBootstrapActionsOutput, error) {
	// 16 actions at most (Management Guide, "Create bootstrap actions"): one page.
	return &emr.ListBootstrapActionsOutput{BootstrapActions: append([]types.Command{}, r.Actions...)}, nil
}

// jobFlows returns the named clusters, or an error if one does not exist.
func (s *Server) jobFlows(ids []string) ([]*record, error) {
	if len(ids) == 0 {
		return nil, validationError("JobFlowIds: must name at least one cluster")
	}
	var found []*record
	for _, id := range ids {
		r, err := s.store.snapshot(id)
		if err != nil {
			return nil, validationError("Specified job flow ID does not exist.")
		}
		found = append(found, r)
	}
	return found, nil
}

// terminateJobFlows sets every cluster to TERMINATING before it returns: clients
// poll for that at once. If one is protected, it terminates none.
func (s *Server) terminateJobFlows(input *emr.TerminateJobFlowsInput) (*emr.TerminateJobFlowsOutput, error) {
	found, err := s.jobFlows(input.JobFlowIds)
	if err != nil {
		return nil, err
	}
	var protected []string
	for _, r := range found {
		if aws.ToBool(r.Cluster.TerminationProtected) && clusterTakesSteps(r.state()) {
			protected = append(protected, aws.ToString(r.Cluster.Id))
		}
	}
	if len(protected) > 0 {
		return nil, validationError("Could not shut down one or more job flows since they are termination protected. (%s)",
			strings.Join(protected, ", "))
	}
	for _, r := range found {
		reason := types.ClusterStateChangeReason{
			Code: types.ClusterStateChangeReasonCodeUserRequest, Message: aws.String("Terminated by user request"),
		}
		if err := s.store.beginTermination(aws.ToString(r.Cluster.Id), reason); err != nil {
			return nil, err
		}
	}
	return &emr.TerminateJobFlowsOutput{}, nil
}

// beginTermination sets a cluster to TERMINATING, unless it is terminating or
// terminated.
func (s *Store) beginTermination(id string, reason types.ClusterStateChangeReason) error {
	return s.change(id, func(r *record) error {
		if !clusterTakesSteps(r.state()) {
			return nil
		}
		return r.setState(types.ClusterStateTerminating, reason, nil)
	})
}
