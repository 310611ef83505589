package emr

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// Create launches a cluster from a resource's inputs and gives its id once it
// is ready for steps.
func (s *Service) Create(ctx context.Context, props map[string]any) (string, error) {
	in, spec, err := parse(props)
	if err != nil {
		return "", err
	}
	id, err := s.put(in, spec)
	if err != nil {
		return "", err
	}
	if err := s.Launch(ctx, id, spec); err != nil {
		return "", fmt.Errorf("EMR cluster %s (%s): TERMINATED_WITH_ERRORS: %w", in.Name, id, err)
	}
	return id, nil
}

// Change takes the inputs that EMR changes on a running cluster.
func (s *Service) Change(ctx context.Context, id string, props map[string]any) error {
	in, spec, err := parse(props)
	if err != nil {
		return err
	}
	if err := s.Store.UpdateCluster(id, func(c *types.Cluster) {
		c.TerminationProtected = aws.Bool(in.TerminationProtected)
		c.StepConcurrencyLevel = aws.Int32(max(in.StepConcurrency, 1))
		c.Tags = nil
		for k, v := range in.Tags {
			c.Tags = append(c.Tags, types.Tag{Key: aws.String(k), Value: aws.String(v)})
		}
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

// End terminates a cluster; termination protection refuses.
func (s *Service) End(ctx context.Context, id string) error {
	c, err := s.Store.Cluster(id)
	if err != nil {
		return err
	}
	if aws.ToBool(c.TerminationProtected) {
		return fmt.Errorf("cluster %s is protected from termination: set emr.terminationProtection to false and run up first", id)
	}
	switch c.Status.State {
	case types.ClusterStateTerminated, types.ClusterStateTerminatedWithErrors:
		return nil
	}
	reason := types.ClusterStateChangeReason{Code: types.ClusterStateChangeReasonCodeUserRequest, Message: aws.String("Terminated by user request")}
	if err := s.Store.SetClusterState(id, types.ClusterStateTerminating, reason); err != nil {
		return err
	}
	return s.Store.Wait(ctx, id, func(c types.Cluster) bool { return c.Status.State == types.ClusterStateTerminated })
}
