package emr

import (
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// EndLost ends, in the store, every cluster of an earlier process: its machines
// ended with that process, so it must not be shown as one that takes steps.
// What they left on disk goes. Call it before the API is served.
func (s *Service) EndLost() error {
	var errs []error
	for _, id := range s.Store.ClusterIDs() {
		c, err := s.Store.Cluster(id)
		if err != nil {
			return err
		}
		switch c.Status.State {
		case types.ClusterStateTerminated, types.ClusterStateTerminatedWithErrors:
			continue
		case types.ClusterStateRunning, types.ClusterStateWaiting: // EMR ends these by way of TERMINATING
			errs = append(errs, s.Store.SetClusterState(id, types.ClusterStateTerminating, lost()))
		}
		errs = append(errs, s.Store.SetClusterState(id, types.ClusterStateTerminatedWithErrors, lost()))
		instances, err := s.Store.Instances(id)
		errs = append(errs, err)
		for _, i := range instances {
			errs = append(errs, s.Region.Remove(aws.ToString(i.Ec2InstanceId)))
		}
	}
	return errors.Join(errs...)
}

func lost() types.ClusterStateChangeReason {
	return types.ClusterStateChangeReason{
		Code:    types.ClusterStateChangeReasonCodeInternalError,
		Message: aws.String("The local cloud ended while the cluster ran; its machines are gone. The next up makes a new cluster."),
	}
}
