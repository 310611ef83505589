package emrapi

import (
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/simulator/emrlimits"
)

// fleetNotReady is the same of fleets. terraform-provider-aws compares its text.
const fleetNotReady = "An instance fleet may only be modified when the cluster is running or waiting."

// provisioningFleet returns the status of a fleet whose nodes do not run yet.
func provisioningFleet(created *time.Time) *types.InstanceFleetStatus {
	return &types.InstanceFleetStatus{
		State:             types.InstanceFleetStateProvisioning,
		StateChangeReason: &types.InstanceFleetStateChangeReason{},
		Timeline:          &types.InstanceFleetTimeline{CreationDateTime: created},
	}
}

// addInstanceFleet adds a task fleet.
func (s *Server) addInstanceFleet(input *emr.AddInstanceFleetInput) (*emr.AddInstanceFleetOutput, error) {
	input, err := clone(input)
	if err != nil {
		return nil, err
	}
	output := &emr.AddInstanceFleetOutput{ClusterId: input.ClusterId}
	err = s.store.change(aws.ToString(input.ClusterId), func(r *record) error {
		var v violations
		v.require(clusterReady(r.state()), fleetNotReady)
		v.require(len(r.Groups) == 0, "Instance fleets and instance groups are mutually exclusive.")
		if input.InstanceFleet == nil {
			v.require(false, "InstanceFleet: must be present")
			return v.refuse()
		}
		added := input.InstanceFleet
		all := []emrlimits.Fleet{strategies(added.TargetOnDemandCapacity, added.TargetSpotCapacity, added.LaunchSpecifications)}
		for _, f := range r.Fleets {
			all = append(all, strategies(f.TargetOnDemandCapacity, f.TargetSpotCapacity, f.LaunchSpecifications))
		}
		v.checkFleet("InstanceFleet", *added, emrlimits.MaxTypesOf(all...))
		v.require(input.InstanceFleet.InstanceFleetType == types.InstanceFleetTypeTask,
			"InstanceFleet.InstanceFleetType: only a task fleet can be added")
		v.require(!slices.ContainsFunc(r.Fleets, func(f types.InstanceFleet) bool { return f.InstanceFleetType == types.InstanceFleetTypeTask }),
			"InstanceFleet: the cluster has a task fleet: at most one")
		if err := v.refuse(); err != nil {
			return err
		}
		fleet := newFleet(*input.InstanceFleet)
		fleet.Status = provisioningFleet(now())
		r.Fleets = append(r.Fleets, fleet)
		output.ClusterArn, output.InstanceFleetId = r.Cluster.ClusterArn, fleet.Id
		return nil
	})
	return output, s.invalidCluster(err, input.ClusterId)
}

// modifyInstanceFleet changes a fleet's target capacities.
func (s *Server) modifyInstanceFleet(input *emr.ModifyInstanceFleetInput) (*emr.ModifyInstanceFleetOutput, error) {
	err := s.store.change(aws.ToString(input.ClusterId), func(r *record) error {
		if input.InstanceFleet == nil {
			return invalidRequestError("InstanceFleet: must be present")
		}
		fleet, err := r.fleet(aws.ToString(input.InstanceFleet.InstanceFleetId))
		if err != nil {
			return invalidRequestError("Instance fleet id '%s' is not valid.", aws.ToString(input.InstanceFleet.InstanceFleetId))
		}
		return r.modifyFleet(fleet, input.InstanceFleet)
	})
	return &emr.ModifyInstanceFleetOutput{}, s.invalidCluster(err, input.ClusterId)
}

// modifyFleet applies a change to a fleet, which then resizes.
func (r *record) modifyFleet(fleet *types.InstanceFleet, change *types.InstanceFleetModifyConfig) error {
	if !clusterReady(r.state()) {
		return invalidRequestError(fleetNotReady)
	}
	onDemand, spot := aws.ToInt32(fleet.TargetOnDemandCapacity), aws.ToInt32(fleet.TargetSpotCapacity)
	if change.TargetOnDemandCapacity != nil {
		onDemand = *change.TargetOnDemandCapacity
	}
	if change.TargetSpotCapacity != nil {
		spot = *change.TargetSpotCapacity
	}
	switch {
	case onDemand < 0 || spot < 0 || onDemand+spot == 0 && fleet.InstanceFleetType != types.InstanceFleetTypeTask:
		return invalidRequestError("target capacities %d and %d: must not be negative, and be at least 1 in all except for a task fleet",
			onDemand, spot)
	case fleet.InstanceFleetType == types.InstanceFleetTypeMaster:
		return invalidRequestError("The master instance fleet cannot be resized.")
	}
	fleet.TargetOnDemandCapacity, fleet.TargetSpotCapacity = &onDemand, &spot
	if change.ResizeSpecifications != nil {
		fleet.ResizeSpecifications = change.ResizeSpecifications
	}
	fleet.Status.State, fleet.Status.StateChangeReason = types.InstanceFleetStateResizing, &types.InstanceFleetStateChangeReason{}
	return nil
}

// invalidCluster replaces ErrNotFound by EMR's error about a cluster's id.
func (s *Server) invalidCluster(err error, id *string) error {
	if errors.Is(err, ErrNotFound) {
		return invalidRequestError("Cluster id '%s' is not valid.", aws.ToString(id))
	}
	return err
}
