package emr

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsemr "github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/internal/poll"
)

// Resources does with EMR's API what the AWS provider does for the resources of a
// program: the same calls in the same order. Properties are plain values.
type Resources struct{ API *awsemr.Client }

// Times that the provider waits (terraform-provider-aws).
const (
	createTimeout = 75 * time.Minute
	deleteTimeout = 20 * time.Minute
	resizeTimeout = 30 * time.Minute
	pollInterval  = 200 * time.Millisecond // the provider's is 10 s
)

// CreateCluster starts a cluster and returns its id once it is ready for steps. A cluster
// that was started and does not become ready has an id beside the error.
func (r Resources) CreateCluster(ctx context.Context, props map[string]any) (string, error) {
	in, err := decodeInputs[clusterInputs](props)
	if err != nil {
		return "", err
	}
	name := aws.ToString(in.Name)
	request, err := in.jobFlow()
	if err != nil {
		return "", fmt.Errorf("create EMR cluster %s: %w", name, err)
	}
	answer, err := r.runJobFlow(ctx, request)
	if err != nil {
		return "", fmt.Errorf("create EMR cluster %s: %w", name, err)
	}
	id := aws.ToString(answer.JobFlowId)
	pending := []types.ClusterState{types.ClusterStateStarting, types.ClusterStateBootstrapping}
	c, err := r.awaitCluster(ctx, id, createTimeout, pending)
	if err != nil {
		return id, fmt.Errorf("create EMR cluster %s: %w", name, err)
	}
	if state := c.Status.State; state != types.ClusterStateRunning && state != types.ClusterStateWaiting {
		return id, fmt.Errorf("EMR cluster %s (%s): %s: %s", name, id, state, aws.ToString(c.Status.StateChangeReason.Message))
	}
	return id, nil
}

// awaitCluster waits until a cluster leaves the pending states, and returns it.
func (r Resources) awaitCluster(ctx context.Context, id string, limit time.Duration, pending []types.ClusterState) (*types.Cluster, error) {
	var found *types.Cluster
	err := poll.Until(ctx, poll.Options{Interval: pollInterval, Timeout: limit}, func(ctx context.Context) error {
		answer, err := r.API.DescribeCluster(ctx, &awsemr.DescribeClusterInput{ClusterId: &id})
		if err != nil {
			return poll.Permanent(err)
		}
		if found = answer.Cluster; slices.Contains(pending, found.Status.State) {
			return fmt.Errorf("cluster %s is %s", id, found.Status.State)
		}
		return nil
	})
	return found, err
}

// UpdateCluster applies what differs between a cluster resource's last state and its
// new inputs, and can be changed on a running cluster (resourceClusterUpdate).
func (r Resources) UpdateCluster(ctx context.Context, id string, before, props map[string]any) error {
	was, err := decodeInputs[clusterInputs](before)
	if err != nil {
		return err
	}
	in, err := decodeInputs[clusterInputs](props)
	if err != nil {
		return err
	}
	for _, update := range []func(context.Context, string, clusterInputs, clusterInputs) error{
		r.updateIdleTimeout, r.updateFlags, r.updateCoreGroup, r.updateStepConcurrency, r.updateTags,
	} {
		if err := update(ctx, id, was, in); err != nil {
			return fmt.Errorf("change EMR cluster %s: %w", id, err)
		}
	}
	return nil
}

func (r Resources) updateIdleTimeout(ctx context.Context, id string, was, in clusterInputs) error {
	policy := in.AutoTerminationPolicy
	if reflect.DeepEqual(was.AutoTerminationPolicy, policy) {
		return nil
	}
	if policy != nil {
		_, err := r.API.PutAutoTerminationPolicy(ctx, &awsemr.PutAutoTerminationPolicyInput{ClusterId: &id, AutoTerminationPolicy: policy})
		return err
	}
	_, err := r.API.RemoveAutoTerminationPolicy(ctx, &awsemr.RemoveAutoTerminationPolicyInput{ClusterId: &id})
	return err
}

func (r Resources) updateFlags(ctx context.Context, id string, was, in clusterInputs) error {
	ids := []string{id}
	isOn := func(flag *bool, byDefault bool) bool { return flag == nil && byDefault || aws.ToBool(flag) }
	if visible := isOn(in.VisibleToAllUsers, true); visible != isOn(was.VisibleToAllUsers, true) {
		input := &awsemr.SetVisibleToAllUsersInput{JobFlowIds: ids, VisibleToAllUsers: &visible}
		if _, err := r.API.SetVisibleToAllUsers(ctx, input); err != nil {
			return err
		}
	}
	if in.TerminationProtection != was.TerminationProtection {
		input := &awsemr.SetTerminationProtectionInput{JobFlowIds: ids, TerminationProtected: &in.TerminationProtection}
		if _, err := r.API.SetTerminationProtection(ctx, input); err != nil {
			return err
		}
	}
	if replaced := isOn(in.UnhealthyReplacement, false); replaced != isOn(was.UnhealthyReplacement, false) {
		input := &awsemr.SetUnhealthyNodeReplacementInput{JobFlowIds: ids, UnhealthyNodeReplacement: &replaced}
		if _, err := r.API.SetUnhealthyNodeReplacement(ctx, input); err != nil {
			return err
		}
	}
	return nil
}

// updateCoreGroup changes the core group's scaling policy and count.
func (r Resources) updateCoreGroup(ctx context.Context, id string, was, in clusterInputs) error {
	if in.Core == nil || was.Core == nil {
		return nil
	}
	group, err := r.coreGroup(ctx, id)
	if err != nil {
		return err
	}
	if in.Core.AutoscalingPolicy != was.Core.AutoscalingPolicy {
		if err := r.setScalingPolicy(ctx, id, group, in.Core.AutoscalingPolicy); err != nil {
			return err
		}
	}
	if count := in.Core.count(); count != was.Core.count() {
		return r.resizeGroup(ctx, id, types.InstanceGroupModifyConfig{InstanceGroupId: &group, InstanceCount: &count})
	}
	return nil
}

// coreGroup returns the id of a cluster's core group.
func (r Resources) coreGroup(ctx context.Context, id string) (string, error) {
	answer, err := r.API.ListInstanceGroups(ctx, &awsemr.ListInstanceGroupsInput{ClusterId: &id})
	if err != nil {
		return "", err
	}
	for _, g := range answer.InstanceGroups {
		if g.InstanceGroupType == types.InstanceGroupTypeCore {
			return aws.ToString(g.Id), nil
		}
	}
	return "", fmt.Errorf("cluster %s has no core group", id)
}

// setScalingPolicy sets a group's scaling policy, or removes it if it is "".
func (r Resources) setScalingPolicy(ctx context.Context, id, group, policy string) error {
	if policy == "" {
		_, err := r.API.RemoveAutoScalingPolicy(ctx, &awsemr.RemoveAutoScalingPolicyInput{ClusterId: &id, InstanceGroupId: &group})
		return err
	}
	decoded, err := decodeJSON[*types.AutoScalingPolicy]("autoscalingPolicy", policy)
	if err != nil {
		return err
	}
	input := &awsemr.PutAutoScalingPolicyInput{ClusterId: &id, InstanceGroupId: &group, AutoScalingPolicy: decoded}
	_, err = r.API.PutAutoScalingPolicy(ctx, input)
	return err
}

func (r Resources) updateStepConcurrency(ctx context.Context, id string, was, in clusterInputs) error {
	level := max(aws.ToInt32(in.StepConcurrencyLevel), 1)
	if level == max(aws.ToInt32(was.StepConcurrencyLevel), 1) {
		return nil
	}
	_, err := r.API.ModifyCluster(ctx, &awsemr.ModifyClusterInput{ClusterId: &id, StepConcurrencyLevel: &level})
	return err
}

// updateTags removes tags, then adds those that are new or have another value.
func (r Resources) updateTags(ctx context.Context, id string, was, in clusterInputs) error {
	before, after := map[string]string{}, map[string]string{}
	for _, t := range was.tags() {
		before[*t.Key] = *t.Value
	}
	var added []types.Tag
	for _, t := range in.tags() {
		after[*t.Key] = *t.Value
		if value, had := before[*t.Key]; !had || value != *t.Value {
			added = append(added, t)
		}
	}
	var removed []string
	for k := range before {
		if _, kept := after[k]; !kept {
			removed = append(removed, k)
		}
	}
	if len(removed) > 0 {
		if _, err := r.API.RemoveTags(ctx, &awsemr.RemoveTagsInput{ResourceId: &id, TagKeys: removed}); err != nil {
			return err
		}
	}
	if len(added) == 0 {
		return nil
	}
	_, err := r.API.AddTags(ctx, &awsemr.AddTagsInput{ResourceId: &id, Tags: added})
	return err
}

// DeleteCluster terminates a cluster and waits until it has ended. It fails if the
// cluster has termination protection.
func (r Resources) DeleteCluster(ctx context.Context, id string) error {
	_, err := r.API.TerminateJobFlows(ctx, &awsemr.TerminateJobFlowsInput{JobFlowIds: []string{id}})
	switch {
	case err != nil && strings.Contains(err.Error(), "does not exist"):
		return nil
	case err != nil && strings.Contains(err.Error(), "termination protected"):
		return fmt.Errorf("cluster %s is protected from termination: set terminationProtection to false and run up first: %w", id, err)
	case err != nil:
		return fmt.Errorf("terminate EMR cluster %s: %w", id, err)
	}
	if _, err := r.awaitCluster(ctx, id, deleteTimeout, []types.ClusterState{types.ClusterStateTerminating}); err != nil {
		return fmt.Errorf("terminate EMR cluster %s: %w", id, err)
	}
	return nil
}

// resizeGroup changes a group and waits until it runs.
func (r Resources) resizeGroup(ctx context.Context, id string, change types.InstanceGroupModifyConfig) error {
	input := &awsemr.ModifyInstanceGroupsInput{ClusterId: &id, InstanceGroups: []types.InstanceGroupModifyConfig{change}}
	if _, err := r.API.ModifyInstanceGroups(ctx, input); err != nil {
		return err
	}
	return r.awaitGroup(ctx, id, aws.ToString(change.InstanceGroupId))
}

// awaitGroup waits until an instance group runs. Like the provider it fails if the group
// is ARRESTED or SUSPENDED.
func (r Resources) awaitGroup(ctx context.Context, id, group string) error {
	return poll.Until(ctx, poll.Options{Interval: pollInterval, Timeout: resizeTimeout}, func(ctx context.Context) error {
		found, err := r.group(ctx, id, group)
		if err != nil {
			return poll.Permanent(err)
		}
		switch state := found.Status.State; state {
		case types.InstanceGroupStateRunning:
			return nil
		case types.InstanceGroupStateBootstrapping, types.InstanceGroupStateProvisioning, types.InstanceGroupStateReconfiguring,
			types.InstanceGroupStateResizing:
			return fmt.Errorf("instance group %s is %s", group, state)
		default:
			return poll.Permanent(fmt.Errorf("instance group %s: unexpected state '%s', wanted target 'RUNNING': %s",
				group, state, aws.ToString(found.Status.StateChangeReason.Message)))
		}
	})
}

// errGone reports a resource that no longer exists.
var errGone = errors.New("it no longer exists")

// group returns one instance group, errGone if it or its cluster has ended.
func (r Resources) group(ctx context.Context, id, group string) (*types.InstanceGroup, error) {
	pages := awsemr.NewListInstanceGroupsPaginator(r.API, &awsemr.ListInstanceGroupsInput{ClusterId: &id})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil && strings.Contains(err.Error(), "is not valid") {
			return nil, errGone
		}
		if err != nil {
			return nil, fmt.Errorf("list the instance groups of %s: %w", id, err)
		}
		for _, g := range page.InstanceGroups {
			ended := g.Status.State == types.InstanceGroupStateTerminating || g.Status.State == types.InstanceGroupStateTerminated
			if aws.ToString(g.Id) == group && !ended {
				return &g, nil
			}
		}
	}
	return nil, fmt.Errorf("instance group %s: %w", group, errGone)
}
