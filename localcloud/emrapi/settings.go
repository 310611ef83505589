package emrapi

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// changeJobFlows changes one flag of several clusters. field is its name in the
// request.
func (s *Server) changeJobFlows(ids []string, field string, value *bool, apply func(*types.Cluster, bool)) error {
	found, err := s.jobFlows(ids)
	if err != nil {
		return err
	}
	if value == nil {
		return validationError("%s: must be true or false", field)
	}
	for _, r := range found {
		err := s.store.change(aws.ToString(r.Cluster.Id), func(r *record) error {
			if !clusterTakesSteps(r.state()) {
				return validationError("A job flow that is shutting down, terminated, or finished may not be modified.")
			}
			apply(&r.Cluster, *value)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) setTerminationProtection(input *emr.SetTerminationProtectionInput) (*emr.SetTerminationProtectionOutput, error) {
	return &emr.SetTerminationProtectionOutput{}, s.changeJobFlows(input.JobFlowIds, "TerminationProtected", input.TerminationProtected,
		func(c *types.Cluster, on bool) { c.TerminationProtected = &on })
}

// setKeepJobFlowAliveWhenNoSteps: a cluster that waits and is no longer kept alive
// terminates at once.
func (s *Server) setKeepJobFlowAliveWhenNoSteps(
	input *emr.SetKeepJobFlowAliveWhenNoStepsInput,
) (*emr.SetKeepJobFlowAliveWhenNoStepsOutput, error) {
	return &emr.SetKeepJobFlowAliveWhenNoStepsOutput{}, s.changeJobFlows(input.JobFlowIds, "KeepJobFlowAliveWhenNoSteps",
		input.KeepJobFlowAliveWhenNoSteps, func(c *types.Cluster, on bool) { c.AutoTerminate = aws.Bool(!on) })
}

func (s *Server) setUnhealthyNodeReplacement(
	input *emr.SetUnhealthyNodeReplacementInput,
) (*emr.SetUnhealthyNodeReplacementOutput, error) {
	return &emr.SetUnhealthyNodeReplacementOutput{}, s.changeJobFlows(input.JobFlowIds, "UnhealthyNodeReplacement",
		input.UnhealthyNodeReplacement, func(c *types.Cluster, on bool) { c.UnhealthyNodeReplacement = &on })
}

func (s *Server) setVisibleToAllUsers(input *emr.SetVisibleToAllUsersInput) (*emr.SetVisibleToAllUsersOutput, error) {
	return &emr.SetVisibleToAllUsersOutput{}, s.changeJobFlows(input.JobFlowIds, "VisibleToAllUsers", input.VisibleToAllUsers,
		func(c *types.Cluster, on bool) { c.VisibleToAllUsers = &on })
}

// modifyCluster changes how many steps a cluster runs at once.
func (s *Server) modifyCluster(input *emr.ModifyClusterInput) (*emr.ModifyClusterOutput, error) {
	level := aws.ToInt32(input.StepConcurrencyLevel)
	if input.StepConcurrencyLevel == nil || level < 1 || level > maxStepConcurrency {
		return nil, invalidRequestError("StepConcurrencyLevel: %d: must be 1 to %d", level, maxStepConcurrency)
	}
	err := s.store.change(aws.ToString(input.ClusterId), func(r *record) error {
		if !clusterReady(r.state()) {
			return invalidRequestError("Cluster id '%s' is not running or waiting.", aws.ToString(input.ClusterId))
		}
		r.Cluster.StepConcurrencyLevel = &level
		return nil
	})
	return &emr.ModifyClusterOutput{StepConcurrencyLevel: &level}, s.invalidCluster(err, input.ClusterId)
}

// resourceCluster returns the cluster id of a tagged resource: its id or ARN.
func resourceCluster(resource *string) string {
	id := aws.ToString(resource)
	return id[strings.LastIndex(id, "/")+1:]
}

// takesTags refuses a change of an ended cluster's tags (EMR Management Guide, "Restrictions
// that apply to tagging resources in Amazon EMR").
func (r *record) takesTags() error {
	if clusterEnded(r.state()) {
		return invalidRequestError("Tags cannot be modified on terminated clusters.")
	}
	return nil
}

func (s *Server) addTags(input *emr.AddTagsInput) (*emr.AddTagsOutput, error) {
	var v violations
	v.checkTags(input.Tags)
	if err := v.refuse(); err != nil {
		return nil, err
	}
	id := resourceCluster(input.ResourceId)
	err := s.store.change(id, func(r *record) error {
		if err := r.takesTags(); err != nil {
			return err
		}
		for _, added := range input.Tags {
			r.Cluster.Tags = slices.DeleteFunc(r.Cluster.Tags, func(t types.Tag) bool { return *t.Key == *added.Key })
			r.Cluster.Tags = append(r.Cluster.Tags, added)
		}
		return nil
	})
	return &emr.AddTagsOutput{}, s.invalidCluster(err, &id)
}

func (s *Server) removeTags(input *emr.RemoveTagsInput) (*emr.RemoveTagsOutput, error) {
	id := resourceCluster(input.ResourceId)
	err := s.store.change(id, func(r *record) error {
		if err := r.takesTags(); err != nil {
			return err
		}
		r.Cluster.Tags = slices.DeleteFunc(r.Cluster.Tags, func(t types.Tag) bool { return slices.Contains(input.TagKeys, *t.Key) })
		return nil
	})
	return &emr.RemoveTagsOutput{}, s.invalidCluster(err, &id)
}
