package emr

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsemr "github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/internal/poll"
)

// CreateGroup adds a task group to a cluster and returns its id once its nodes run.
func (r Resources) CreateGroup(ctx context.Context, props map[string]any) (string, error) {
	in, err := decodeInputs[groupInputs](props)
	if err != nil {
		return "", err
	}
	name := aws.ToString(in.Name)
	config, err := in.config(types.InstanceRoleTypeTask)
	if err != nil {
		return "", fmt.Errorf("create EMR instance group %s: %w", name, err)
	}
	answer, err := r.API.AddInstanceGroups(ctx, &awsemr.AddInstanceGroupsInput{
		JobFlowId: &in.ClusterID, InstanceGroups: []types.InstanceGroupConfig{config},
	})
	if err == nil {
		err = r.awaitGroup(ctx, in.ClusterID, answer.InstanceGroupIds[0])
	}
	if err != nil {
		return "", fmt.Errorf("create EMR instance group %s: %w", name, err)
	}
	return answer.InstanceGroupIds[0], nil
}

// ReadGroup returns the properties of a task group, false if it is gone. A removed group,
// which stays at 0 for the cluster's life, is not gone.
func (r Resources) ReadGroup(ctx context.Context, cluster, id string) (map[string]any, bool, error) {
	g, err := r.group(ctx, cluster, id)
	if isGone(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	props := groupProperties(*g)
	delete(props, "id")
	maps.Copy(props, fields(g, "runningInstanceCount", "ebsOptimized"))
	props["clusterId"], props["status"] = cluster, string(g.Status.State)
	props["configurationsJson"] = configurationsText(g.Configurations)
	return props, true, nil
}

// UpdateGroup applies what differs between a task group's last state and its new inputs.
func (r Resources) UpdateGroup(ctx context.Context, id string, before, props map[string]any) error {
	was, err := decodeInputs[groupInputs](before)
	if err != nil {
		return err
	}
	in, err := decodeInputs[groupInputs](props)
	if err != nil {
		return err
	}
	change := types.InstanceGroupModifyConfig{InstanceGroupId: &id}
	if in.InstanceCount != nil && *in.InstanceCount != aws.ToInt32(was.InstanceCount) {
		change.InstanceCount = in.InstanceCount
	}
	if in.ConfigurationsJSON != was.ConfigurationsJSON {
		if change.Configurations, err = decodeJSON[[]types.Configuration]("configurationsJson", in.ConfigurationsJSON); err != nil {
			return fmt.Errorf("change EMR instance group %s: %w", id, err)
		}
	}
	if change.InstanceCount != nil || change.Configurations != nil {
		if err := r.resizeGroup(ctx, in.ClusterID, change); err != nil {
			return fmt.Errorf("change EMR instance group %s: %w", id, err)
		}
	}
	if in.AutoscalingPolicy == was.AutoscalingPolicy {
		return nil
	}
	if in.AutoscalingPolicy == "" { // as of the provider, which decodes it before it looks
		return fmt.Errorf("change EMR instance group %s: autoscalingPolicy: EOF: the provider cannot remove a policy", id)
	}
	if err := r.setScalingPolicy(ctx, in.ClusterID, id, in.AutoscalingPolicy); err != nil {
		return fmt.Errorf("change EMR instance group %s: %w", id, err)
	}
	return nil
}

// DeleteGroup sets a task group to 0 nodes: EMR has no call that removes it. Like the
// provider it does not wait, and unlike it takes a cluster that has ended for a success.
func (r Resources) DeleteGroup(ctx context.Context, cluster, id string) error {
	if _, err := r.group(ctx, cluster, id); isGone(err) {
		return nil
	}
	input := &awsemr.ModifyInstanceGroupsInput{ClusterId: &cluster, InstanceGroups: []types.InstanceGroupModifyConfig{
		{InstanceGroupId: &id, InstanceCount: aws.Int32(0)},
	}}
	if _, err := r.API.ModifyInstanceGroups(ctx, input); err != nil {
		return fmt.Errorf("delete EMR instance group %s: %w", id, err)
	}
	return nil
}

// CreateFleet adds a task fleet to a cluster and returns its id. Like the provider it
// does not wait for its nodes.
func (r Resources) CreateFleet(ctx context.Context, props map[string]any) (string, error) {
	in, err := decodeInputs[fleetInputs](props)
	if err != nil {
		return "", err
	}
	config := in.config(types.InstanceFleetTypeTask)
	answer, err := r.API.AddInstanceFleet(ctx, &awsemr.AddInstanceFleetInput{ClusterId: &in.ClusterID, InstanceFleet: &config})
	if err != nil {
		return "", fmt.Errorf("create EMR instance fleet %s: %w", aws.ToString(in.Name), err)
	}
	return aws.ToString(answer.InstanceFleetId), nil
}

// ReadFleet returns the properties of a task fleet, false if it is gone.
func (r Resources) ReadFleet(ctx context.Context, cluster, id string) (map[string]any, bool, error) {
	f, err := r.fleet(ctx, cluster, id)
	if isGone(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	props := fleetProperties(f)
	delete(props, "id")
	props["clusterId"] = cluster
	return props, true, nil
}

// UpdateFleet sets a task fleet's target capacities and waits until it runs.
func (r Resources) UpdateFleet(ctx context.Context, id string, props map[string]any) error {
	in, err := decodeInputs[fleetInputs](props)
	if err != nil {
		return err
	}
	if err := r.resizeFleet(ctx, in.ClusterID, id, in.OnDemand, in.Spot); err != nil {
		return fmt.Errorf("change EMR instance fleet %s: %w", id, err)
	}
	err = poll.Until(ctx, poll.Options{Interval: pollInterval, Timeout: createTimeout}, func(ctx context.Context) error {
		f, err := r.fleet(ctx, in.ClusterID, id)
		switch {
		case err != nil:
			return poll.Permanent(err)
		case f.Status.State == types.InstanceFleetStateRunning:
			return nil
		case f.Status.State == types.InstanceFleetStateSuspended:
			return poll.Permanent(fmt.Errorf("unexpected state 'SUSPENDED', wanted target 'RUNNING': %s",
				aws.ToString(f.Status.StateChangeReason.Message)))
		}
		return fmt.Errorf("it is %s", f.Status.State)
	})
	if err != nil {
		return fmt.Errorf("change EMR instance fleet %s: %w", id, err)
	}
	return nil
}

// DeleteFleet sets a task fleet's target capacities to 0: EMR has no call that removes it.
func (r Resources) DeleteFleet(ctx context.Context, cluster, id string) error {
	if _, err := r.fleet(ctx, cluster, id); isGone(err) {
		return nil
	}
	err := r.resizeFleet(ctx, cluster, id, 0, 0)
	if err != nil && !strings.Contains(strings.ToLower(err.Error()), "may only be modified when the cluster is running or waiting") {
		return fmt.Errorf("delete EMR instance fleet %s: %w", id, err)
	}
	return nil
}

func (r Resources) resizeFleet(ctx context.Context, cluster, id string, onDemand, spot int32) error {
	change := &types.InstanceFleetModifyConfig{InstanceFleetId: &id, TargetOnDemandCapacity: &onDemand, TargetSpotCapacity: &spot}
	_, err := r.API.ModifyInstanceFleet(ctx, &awsemr.ModifyInstanceFleetInput{ClusterId: &cluster, InstanceFleet: change})
	return err
}

// fleet returns one instance fleet, errGone if it or its cluster has ended.
func (r Resources) fleet(ctx context.Context, cluster, id string) (*types.InstanceFleet, error) {
	fleets, err := r.fleets(ctx, cluster)
	if err != nil {
		return nil, err
	}
	for _, f := range fleets {
		ended := f.Status.State == types.InstanceFleetStateTerminating || f.Status.State == types.InstanceFleetStateTerminated
		if aws.ToString(f.Id) == id && !ended {
			return &f, nil
		}
	}
	return nil, fmt.Errorf("instance fleet %s: %w", id, errGone)
}

func (r Resources) fleets(ctx context.Context, cluster string) ([]types.InstanceFleet, error) {
	var fleets []types.InstanceFleet
	pages := awsemr.NewListInstanceFleetsPaginator(r.API, &awsemr.ListInstanceFleetsInput{ClusterId: &cluster})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil && strings.Contains(err.Error(), "is not valid") {
			return nil, errGone
		}
		if err != nil {
			return nil, fmt.Errorf("list the instance fleets of %s: %w", cluster, err)
		}
		fleets = append(fleets, page.InstanceFleets...)
	}
	return fleets, nil
}
