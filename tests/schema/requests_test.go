package schema_test

import (
	"context"
	"errors"
	"testing"

	awsemr "github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/smithy-go/middleware"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/localcloud/emr"
	"github.com/emr-observatory/emr-observatory/simulator/property"
)

var errRecorded = errors.New("recorded, not sent")

// recordRequests returns a client of EMR's API that sends nothing, and its requests.
func recordRequests() (*awsemr.Client, *[]any) {
	sent := &[]any{}
	record := func(_ context.Context, in middleware.InitializeInput, _ middleware.InitializeHandler) (
		out middleware.InitializeOutput, metadata middleware.Metadata, err error,
	) {
		*sent = append(*sent, in.Parameters)
		return out, metadata, errRecorded
	}
	return awsemr.New(awsemr.Options{Region: "us-east-1", APIOptions: []func(*middleware.Stack) error{func(s *middleware.Stack) error {
		return s.Initialize.Add(middleware.InitializeMiddlewareFunc("Record", record), middleware.Before)
	}}}), sent
}

// fromPulumi returns the cluster that the provider creates from resources, as one input of
// RunJobFlow.
func fromPulumi(t *testing.T, resources []recorder.Resource) map[string]any {
	t.Helper()
	api, sent := recordRequests()
	provider := emr.Resources{API: api}
	creators := map[string]func(context.Context, map[string]any) (string, error){
		"aws:emr/cluster:Cluster":                           provider.CreateCluster,
		"aws:emr/instanceGroup:InstanceGroup":               provider.CreateGroup,
		"aws:emr/instanceFleet:InstanceFleet":               provider.CreateFleet,
		"aws:emr/managedScalingPolicy:ManagedScalingPolicy": provider.CreateManagedScaling,
	}
	var security any
	for _, r := range resources {
		if create, isEMR := creators[r.Type]; isEMR {
			_, err := create(t.Context(), property.Plain(r.Inputs))
			require.ErrorIs(t, err, errRecorded)
		}
		if r.Type == "aws:emr/securityConfiguration:SecurityConfiguration" {
			security = r.Inputs.Mappable()["configuration"]
		}
	}
	out := withoutEnvironment(plain(t, oneJobFlow(t, *sent)))
	out["security"] = security
	return out
}

// oneJobFlow adds what other requests create to that of RunJobFlow.
func oneJobFlow(t *testing.T, requests []any) *awsemr.RunJobFlowInput {
	t.Helper()
	var flow *awsemr.RunJobFlowInput
	for _, request := range requests {
		if f, is := request.(*awsemr.RunJobFlowInput); is {
			flow = f
		}
	}
	require.NotNil(t, flow, "no cluster is created")
	for _, request := range requests {
		switch r := request.(type) {
		case *awsemr.AddInstanceGroupsInput:
			flow.Instances.InstanceGroups = append(flow.Instances.InstanceGroups, r.InstanceGroups...)
		case *awsemr.AddInstanceFleetInput:
			flow.Instances.InstanceFleets = append(flow.Instances.InstanceFleets, *r.InstanceFleet)
		case *awsemr.PutManagedScalingPolicyInput:
			flow.ManagedScalingPolicy = r.ManagedScalingPolicy
		}
	}
	return flow
}
