package emr

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsemr "github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

func isGone(err error) bool { return errors.Is(err, errGone) }

// policyInputs are the properties of aws:emr/managedScalingPolicy:ManagedScalingPolicy.
type policyInputs struct {
	ClusterID string                `json:"clusterId"`
	Limits    []types.ComputeLimits `json:"computeLimits"`
}

// CreateManagedScaling sets a cluster's managed scaling policy and returns the
// resource's id, which is the cluster's.
func (r Resources) CreateManagedScaling(ctx context.Context, props map[string]any) (string, error) {
	in, err := decodeInputs[policyInputs](props)
	if err != nil {
		return "", err
	}
	policy := &types.ManagedScalingPolicy{}
	for _, l := range in.Limits {
		// The provider sends 0 on-demand units only without a maximum of core units.
		if l.MaximumCoreCapacityUnits != nil && aws.ToInt32(l.MaximumOnDemandCapacityUnits) == 0 {
			l.MaximumOnDemandCapacityUnits = nil
		}
		policy.ComputeLimits = &l
	}
	_, err = r.API.PutManagedScalingPolicy(ctx, &awsemr.PutManagedScalingPolicyInput{ClusterId: &in.ClusterID, ManagedScalingPolicy: policy})
	if err != nil {
		return "", fmt.Errorf("put the managed scaling policy of EMR cluster %s: %w", in.ClusterID, err)
	}
	return in.ClusterID, nil
}

// ReadManagedScaling returns the properties of a cluster's managed scaling policy, false
// if it has none.
func (r Resources) ReadManagedScaling(ctx context.Context, cluster string) (map[string]any, bool, error) {
	answer, err := r.API.GetManagedScalingPolicy(ctx, &awsemr.GetManagedScalingPolicyInput{ClusterId: &cluster})
	switch {
	case err != nil && strings.Contains(err.Error(), "is not valid"):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("read the managed scaling policy of EMR cluster %s: %w", cluster, err)
	case answer.ManagedScalingPolicy == nil:
		return nil, false, nil
	}
	limits := dropNil(fields(answer.ManagedScalingPolicy.ComputeLimits, "unitType", "minimumCapacityUnits", "maximumCapacityUnits",
		"maximumCoreCapacityUnits", "maximumOndemandCapacityUnits"))
	return map[string]any{"clusterId": cluster, "computeLimits": []any{limits}}, true, nil
}

// DeleteManagedScaling removes a cluster's managed scaling policy.
func (r Resources) DeleteManagedScaling(ctx context.Context, cluster string) error {
	_, err := r.API.RemoveManagedScalingPolicy(ctx, &awsemr.RemoveManagedScalingPolicyInput{ClusterId: &cluster})
	ended := err != nil && (strings.Contains(err.Error(), "is not valid") || strings.Contains(err.Error(), "has terminated"))
	if err != nil && !ended {
		return fmt.Errorf("remove the managed scaling policy of EMR cluster %s: %w", cluster, err)
	}
	return nil
}
