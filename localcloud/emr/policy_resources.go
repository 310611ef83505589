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
	ClusterID string `json:"clusterId"`
	Limits    []struct {
		UnitType types.ComputeLimitsUnitType `json:"unitType"`
		Minimum  int32                       `json:"minimumCapacityUnits"`
		Maximum  int32                       `json:"maximumCapacityUnits"`
		Core     *int32                      `json:"maximumCoreCapacityUnits"`
		OnDemand *int32                      `json:"maximumOndemandCapacityUnits"`
	} `json:"computeLimits"`
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
		policy.ComputeLimits = &types.ComputeLimits{
			UnitType: l.UnitType, MinimumCapacityUnits: &l.Minimum, MaximumCapacityUnits: &l.Maximum, MaximumCoreCapacityUnits: l.Core,
		}
		// The provider sends 0 on-demand units only without a maximum of core units.
		if l.OnDemand != nil && (*l.OnDemand > 0 || l.Core == nil) {
			policy.ComputeLimits.MaximumOnDemandCapacityUnits = l.OnDemand
		}
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
	l := answer.ManagedScalingPolicy.ComputeLimits
	limits := map[string]any{
		"unitType": string(l.UnitType), "minimumCapacityUnits": number(l.MinimumCapacityUnits),
		"maximumCapacityUnits": number(l.MaximumCapacityUnits), "maximumCoreCapacityUnits": number(l.MaximumCoreCapacityUnits),
		"maximumOndemandCapacityUnits": number(l.MaximumOnDemandCapacityUnits),
	}
	dropNil(limits)
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

// dropNil removes the properties that the API did not return.
func dropNil(props map[string]any) {
	for k, v := range props {
		if v == nil {
			delete(props, k)
		}
	}
}

// text, number and flag return a field of the API as a plain value, nil if it has none.
func text(s *string) any {
	if aws.ToString(s) == "" {
		return nil
	}
	return *s
}

func number(n *int32) any {
	if n == nil {
		return nil
	}
	return float64(*n)
}

func flag(b *bool) any {
	if b == nil {
		return nil
	}
	return *b
}
