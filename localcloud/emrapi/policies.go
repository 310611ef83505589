package emrapi

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

func (r *record) getAutoTerminationPolicy(_ *emr.GetAutoTerminationPolicyInput) (*emr.GetAutoTerminationPolicyOutput, error) {
	return &emr.GetAutoTerminationPolicyOutput{AutoTerminationPolicy: r.AutoTermination}, nil
}

func (r *record) getManagedScalingPolicy(_ *emr.GetManagedScalingPolicyInput) (*emr.GetManagedScalingPolicyOutput, error) {
	return &emr.GetManagedScalingPolicyOutput{ManagedScalingPolicy: r.ManagedScaling}, nil
}

// changePolicy changes a policy of a cluster that has not ended.
func (s *Server) changePolicy(id *string, apply func(*record) error) error {
	return s.invalidCluster(s.store.change(aws.ToString(id), func(r *record) error {
		if !clusterTakesSteps(r.state()) {
			return validationError("The cluster '%s' is terminating or has terminated.", aws.ToString(id))
		}
		return apply(r)
	}), id)
}

func (s *Server) putAutoTerminationPolicy(input *emr.PutAutoTerminationPolicyInput) (*emr.PutAutoTerminationPolicyOutput, error) {
	var v violations
	v.require(input.AutoTerminationPolicy != nil, "AutoTerminationPolicy: must be present")
	v.checkIdleTimeout(input.AutoTerminationPolicy)
	if err := v.refuse(); err != nil {
		return nil, err
	}
	return &emr.PutAutoTerminationPolicyOutput{}, s.changePolicy(input.ClusterId, func(r *record) error {
		r.AutoTermination = input.AutoTerminationPolicy
		return nil
	})
}

func (s *Server) removeAutoTerminationPolicy(
	input *emr.RemoveAutoTerminationPolicyInput,
) (*emr.RemoveAutoTerminationPolicyOutput, error) {
	return &emr.RemoveAutoTerminationPolicyOutput{}, s.changePolicy(input.ClusterId, func(r *record) error {
		r.AutoTermination = nil
		return nil
	})
}

// putManagedScalingPolicy sets the cluster's only managed scaling policy.
func (s *Server) putManagedScalingPolicy(input *emr.PutManagedScalingPolicyInput) (*emr.PutManagedScalingPolicyOutput, error) {
	policy := input.ManagedScalingPolicy
	return &emr.PutManagedScalingPolicyOutput{}, s.changePolicy(input.ClusterId, func(r *record) error {
		var v violations
		v.require(policy != nil, "ManagedScalingPolicy: must be present")
		if policy != nil {
			v.checkManagedScaling(policy, len(r.Fleets) > 0, slices.ContainsFunc(r.Groups, func(g types.InstanceGroup) bool {
				return isOnDemandCore(types.InstanceRoleType(g.InstanceGroupType), g.Market, g.BidPrice)
			}))
		}
		for _, g := range r.Groups {
			v.require(g.AutoScalingPolicy == nil,
				"Managed scaling cannot be used with automatic scaling policies: instance group %s has one", aws.ToString(g.Id))
		}
		r.ManagedScaling = policy
		return v.refuse()
	})
}

func (s *Server) removeManagedScalingPolicy(
	input *emr.RemoveManagedScalingPolicyInput,
) (*emr.RemoveManagedScalingPolicyOutput, error) {
	return &emr.RemoveManagedScalingPolicyOutput{}, s.changePolicy(input.ClusterId, func(r *record) error {
		r.ManagedScaling = nil
		return nil
	})
}

// putAutoScalingPolicy sets the policy of one core or task group.
func (s *Server) putAutoScalingPolicy(input *emr.PutAutoScalingPolicyInput) (*emr.PutAutoScalingPolicyOutput, error) {
	input, err := clone(input)
	if err != nil {
		return nil, err
	}
	output := &emr.PutAutoScalingPolicyOutput{ClusterId: input.ClusterId, InstanceGroupId: input.InstanceGroupId}
	return output, s.changePolicy(input.ClusterId, func(r *record) error {
		group, err := r.group(aws.ToString(input.InstanceGroupId))
		if err != nil {
			return invalidRequestError("Instance group id '%s' is not valid.", aws.ToString(input.InstanceGroupId))
		}
		var v violations
		v.require(group.InstanceGroupType != types.InstanceGroupTypeMaster, "The master instance group takes no automatic scaling policy.")
		v.require(r.Cluster.AutoScalingRole != nil, "An automatic scaling policy needs a cluster with AutoScalingRole.")
		v.require(r.ManagedScaling == nil, "Automatic scaling policies cannot be used with managed scaling.")
		if input.AutoScalingPolicy == nil {
			v.require(false, "AutoScalingPolicy: must be present")
		} else {
			v.checkScalingPolicy("AutoScalingPolicy", input.AutoScalingPolicy)
		}
		if err := v.refuse(); err != nil {
			return err
		}
		group.AutoScalingPolicy = describePolicy(input.AutoScalingPolicy)
		output.AutoScalingPolicy, output.ClusterArn = group.AutoScalingPolicy, r.Cluster.ClusterArn
		return nil
	})
}

func (s *Server) removeAutoScalingPolicy(input *emr.RemoveAutoScalingPolicyInput) (*emr.RemoveAutoScalingPolicyOutput, error) {
	return &emr.RemoveAutoScalingPolicyOutput{}, s.changePolicy(input.ClusterId, func(r *record) error {
		group, err := r.group(aws.ToString(input.InstanceGroupId))
		if err != nil {
			return invalidRequestError("Instance group id '%s' is not valid.", aws.ToString(input.InstanceGroupId))
		}
		group.AutoScalingPolicy = nil
		return nil
	})
}
