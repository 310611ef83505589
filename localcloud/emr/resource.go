package emr

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// Create launches a cluster from a resource's inputs and returns its id once it is
// ready for steps.
func (s *Service) Create(ctx context.Context, props map[string]any) (string, error) {
	in, spec, err := parse(props)
	if err != nil {
		return "", err
	}
	id, err := s.putCluster(in, spec)
	if err != nil {
		return "", fmt.Errorf("create EMR cluster %s: %w", in.Name, err)
	}
	if err := s.Launch(ctx, id, spec); err != nil {
		return "", fmt.Errorf("EMR cluster %s (%s): TERMINATED_WITH_ERRORS: %w", in.Name, id, err)
	}
	return id, nil
}

// Change applies those of a resource's inputs that EMR can change on a running
// cluster.
func (s *Service) Change(ctx context.Context, id string, props map[string]any) error {
	in, spec, err := parse(props)
	if err == nil {
		err = s.change(ctx, id, in, spec)
	}
	if err != nil {
		return fmt.Errorf("change EMR cluster %s: %w", id, err)
	}
	return nil
}

func (s *Service) change(ctx context.Context, id string, in inputs, spec Spec) error {
	if err := s.Store.UpdateCluster(id, func(c *types.Cluster) {
		c.TerminationProtected = aws.Bool(in.TerminationProtected)
		c.StepConcurrencyLevel, c.Tags = aws.Int32(in.stepConcurrency()), in.tags()
	}); err != nil {
		return err
	}
	if err := s.Store.SetPolicies(id, in.idlePolicy(), nil); err != nil {
		return err
	}
	if in.Core == nil {
		return nil
	}
	return s.resize(ctx, id, spec, int(max(in.Core.InstanceCount, 1)))
}

// TerminateUnlessProtected terminates a cluster and waits until it has ended. It
// fails if the cluster has termination protection.
func (s *Service) TerminateUnlessProtected(ctx context.Context, id string) error {
	c, err := s.Store.Cluster(id)
	if err != nil {
		return err
	}
	if aws.ToBool(c.TerminationProtected) {
		return fmt.Errorf("cluster %s is protected from termination: set its terminationProtection to false and run up first", id)
	}
	switch c.Status.State {
	case types.ClusterStateTerminated, types.ClusterStateTerminatedWithErrors:
		return nil
	}
	reason := types.ClusterStateChangeReason{
		Code: types.ClusterStateChangeReasonCodeUserRequest, Message: aws.String("Terminated by user request"),
	}
	if err := s.Store.SetClusterState(id, types.ClusterStateTerminating, reason); err != nil {
		return fmt.Errorf("terminate EMR cluster %s: %w", id, err)
	}
	return s.Store.Wait(ctx, id, func(c types.Cluster) bool { return c.Status.State == types.ClusterStateTerminated })
}
