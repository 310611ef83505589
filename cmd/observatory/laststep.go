package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// lastStep is when the newest step of a running cluster began, else fallback.
// What the stores hold of earlier runs must not pass for this one's.
func lastStep(ctx context.Context, fallback time.Time) (time.Time, error) {
	cfg, err := awsConfig(ctx)
	if err != nil {
		return fallback, err
	}
	client := emr.NewFromConfig(cfg)
	clusters, err := client.ListClusters(ctx, &emr.ListClustersInput{ClusterStates: []types.ClusterState{types.ClusterStateWaiting, types.ClusterStateRunning}})
	if err != nil {
		return fallback, err
	}
	began := time.Time{}
	for _, c := range clusters.Clusters {
		steps, err := client.ListSteps(ctx, &emr.ListStepsInput{ClusterId: c.Id})
		if err != nil {
			return fallback, err
		}
		for _, s := range steps.Steps {
			if t := s.Status.Timeline; t != nil && t.StartDateTime != nil && t.StartDateTime.After(began) {
				began = *t.StartDateTime
			}
		}
	}
	if began.IsZero() {
		return fallback, nil
	}
	return began, nil
}
