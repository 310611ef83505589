package local

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// LastStepStart returns when the newest step of any running cluster started; zero
// if there is none.
func LastStepStart(ctx context.Context) (time.Time, error) {
	var lastStart time.Time
	cfg, err := AWSConfig(ctx)
	if err != nil {
		return lastStart, err
	}
	client := emr.NewFromConfig(cfg)
	clusters, err := client.ListClusters(ctx, &emr.ListClustersInput{
		ClusterStates: []types.ClusterState{types.ClusterStateWaiting, types.ClusterStateRunning},
	})
	if err != nil {
		return lastStart, fmt.Errorf("list clusters: %w", err)
	}
	for _, c := range clusters.Clusters {
		steps, err := client.ListSteps(ctx, &emr.ListStepsInput{ClusterId: c.Id})
		if err != nil {
			return lastStart, fmt.Errorf("list steps of %s: %w", *c.Id, err)
		}
		for _, s := range steps.Steps {
			if t := s.Status.Timeline; t != nil && t.StartDateTime != nil && t.StartDateTime.After(lastStart) {
				lastStart = *t.StartDateTime
			}
		}
	}
	return lastStart, nil
}
