package emr

import (
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// TerminateLost sets every cluster of an earlier process to terminated and deletes
// its machines' disks: the machines ended with that process, so the cluster must not
// appear ready for steps. Call it before the API is served.
func (s *Service) TerminateLost() error {
	if err := s.terminateLost(); err != nil {
		return fmt.Errorf("terminate the clusters of an earlier run: %w", err)
	}
	return nil
}

func (s *Service) terminateLost() error {
	var errs []error
	for _, id := range s.Store.ClusterIDs() {
		c, err := s.Store.Cluster(id)
		if err != nil {
			return err
		}
		switch c.Status.State {
		case types.ClusterStateTerminated, types.ClusterStateTerminatedWithErrors:
			continue
		case types.ClusterStateRunning, types.ClusterStateWaiting: // these pass through TERMINATING
			errs = append(errs, s.Store.SetClusterState(id, types.ClusterStateTerminating, lostReason()))
		}
		errs = append(errs, s.Store.SetClusterState(id, types.ClusterStateTerminatedWithErrors, lostReason()))
		instances, err := s.Store.Instances(id)
		errs = append(errs, err)
		for _, i := range instances {
			errs = append(errs, s.Region.Remove(aws.ToString(i.Ec2InstanceId)))
		}
	}
	return errors.Join(errs...)
}

// lostReason returns the state change reason of a lost cluster.
func lostReason() types.ClusterStateChangeReason {
	return types.ClusterStateChangeReason{
		Code:    types.ClusterStateChangeReasonCodeInternalError,
		Message: aws.String("The local cloud stopped while the cluster ran; its machines are gone. The next up creates a new cluster."),
	}
}
