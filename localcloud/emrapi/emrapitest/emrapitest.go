// Package emrapitest puts clusters without nodes into EMR's API, for tests of its
// clients.
package emrapitest

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
)

// NoNodes implements emrapi.Nodes without nodes: steps complete at once, and a launched
// cluster stays in STARTING.
type NoNodes struct{}

// Launch does nothing.
func (NoNodes) Launch(context.Context, string) error { return nil }

// Resize does nothing.
func (NoNodes) Resize(context.Context, string, string) error { return nil }

// RunStep does nothing.
func (NoNodes) RunStep(context.Context, string, types.Step) error { return nil }

// Terminate does nothing.
func (NoNodes) Terminate(context.Context, string) error { return nil }

// PutCluster puts a cluster in STARTING with a primary node's group into a store and
// returns its id.
func PutCluster(t testing.TB, store *emrapi.Store, change ...func(*types.Cluster)) string {
	t.Helper()
	id, err := store.PutJobFlow(JobFlow())
	require.NoError(t, err)
	for _, c := range change {
		require.NoError(t, store.UpdateCluster(id, c))
	}
	return id
}

// JobFlow returns the request for a cluster of one primary node.
func JobFlow() emr.RunJobFlowInput {
	return emr.RunJobFlowInput{
		Name: aws.String("test"), ReleaseLabel: aws.String("emr-7.10.0"), ServiceRole: aws.String("service"), JobFlowRole: aws.String("nodes"),
		Instances: &types.JobFlowInstancesConfig{
			KeepJobFlowAliveWhenNoSteps: aws.Bool(true), Ec2SubnetId: aws.String("subnet-1"),
			InstanceGroups: []types.InstanceGroupConfig{{
				InstanceRole: types.InstanceRoleTypeMaster, InstanceType: aws.String("m6g.xlarge"), InstanceCount: aws.Int32(1),
			}},
		},
	}
}

// Ready is NoNodes whose clusters are ready for steps at once.
type Ready struct {
	NoNodes
	Store *emrapi.Store
}

// Launch sets the cluster to RUNNING.
func (r Ready) Launch(_ context.Context, id string) error {
	for _, state := range []types.ClusterState{types.ClusterStateBootstrapping, types.ClusterStateRunning} {
		if err := r.Store.SetClusterState(id, state, types.ClusterStateChangeReason{}); err != nil {
			return fmt.Errorf("launch without nodes: %w", err)
		}
	}
	return nil
}

// ServeCluster serves EMR's API to this process's AWS clients, and to those of programs that
// it starts. It returns the id of a running cluster, whose nodes are given.
func ServeCluster(t *testing.T, nodes emrapi.Nodes) string {
	t.Helper()
	store, err := emrapi.Open(t.TempDir())
	require.NoError(t, err)
	api, err := emrapi.New(store, nodes, slog.New(slog.DiscardHandler), emrapi.Options{})
	require.NoError(t, err)
	server := httptest.NewServer(api)
	t.Cleanup(func() { server.Close(); api.Close() })
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL_EMR": server.URL, "AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local", "AWS_REGION": "us-east-1",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	} {
		t.Setenv(name, value)
	}
	cluster := PutCluster(t, store)
	for _, state := range []types.ClusterState{types.ClusterStateBootstrapping, types.ClusterStateRunning} {
		require.NoError(t, store.SetClusterState(cluster, state, types.ClusterStateChangeReason{}))
	}
	return cluster
}
