package changes_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
	"github.com/emr-observatory/emr-observatory/stacks/changes"
)

// busy is a cluster behind EMR's API whose steps last until released.
type busy struct{ release chan struct{} }

func (b busy) RunStep(ctx context.Context, _ string, _ types.Step) error {
	select {
	case <-b.release:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (busy) Terminate(context.Context, string) error { return nil }

// api serves EMR's API with one cluster that waits for steps.
func api(t *testing.T, nodes busy) (client *emr.Client, cluster string) {
	t.Helper()
	store, err := emrapi.Open(t.TempDir())
	require.NoError(t, err)
	server, err := emrapi.New(store, nodes, nodes, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	served := httptest.NewServer(server)
	t.Cleanup(func() { served.Close(); server.Close() })
	cluster = emrapi.NewID("j")
	require.NoError(t, store.PutCluster(types.Cluster{Id: &cluster, Name: aws.String("test")}, nil, nil))
	for _, state := range []types.ClusterState{types.ClusterStateBootstrapping, types.ClusterStateRunning} {
		require.NoError(t, store.SetClusterState(cluster, state, types.ClusterStateChangeReason{}))
	}
	return emr.New(emr.Options{
		Region: "us-east-1", BaseEndpoint: &served.URL, Credentials: credentials.NewStaticCredentialsProvider("local", "local-secret", ""),
	}), cluster
}

const clusterType = "aws:emr/cluster:Cluster"

func gone(id string, e changes.Effect) changes.Plan {
	return changes.Plan{{URN: "urn:pulumi:dev::p::" + clusterType + "::emr-cluster", Type: clusterType, Name: "emr-cluster", ID: id, Effect: e, Holds: changes.Stateful()[clusterType]}}
}

func TestStepsThatHaveNotEndedKeepTheirCluster(t *testing.T) {
	nodes := busy{release: make(chan struct{})}
	client, cluster := api(t, nodes)
	g := changes.Guard{Ephemeral: true, Unfinished: changes.UnfinishedSteps(client)}
	require.NoError(t, g.Check(t.Context(), gone(cluster, changes.Replaced)), "no step yet")

	added, err := client.AddJobFlowSteps(t.Context(), &emr.AddJobFlowStepsInput{JobFlowId: &cluster, Steps: []types.StepConfig{{
		Name: aws.String("nightly"), ActionOnFailure: types.ActionOnFailureContinue, HadoopJarStep: &types.HadoopJarStepConfig{Jar: aws.String("command-runner.jar"), Args: []string{"true"}},
	}}})
	require.NoError(t, err)
	for _, effect := range []changes.Effect{changes.Replaced, changes.Deleted} {
		err := g.Check(t.Context(), gone(cluster, effect))
		require.ErrorContains(t, err, "would end steps that run or wait: "+added.StepIds[0]+" (nightly)")
		require.ErrorContains(t, err, "let them end first, or accept it by the name emr-cluster")
		require.Error(t, g.CheckDestroy(t.Context(), gone(cluster, effect)))
	}
	require.NoError(t, g.Check(t.Context(), gone(cluster, changes.Updated)), "it stays")
	accepting := g
	accepting.Accepted = []string{"emr-cluster"}
	require.NoError(t, accepting.Check(t.Context(), gone(cluster, changes.Replaced)))

	close(nodes.release)
	done := emr.NewStepCompleteWaiter(client, func(o *emr.StepCompleteWaiterOptions) { o.MinDelay, o.MaxDelay = 1e7, 1e8 })
	require.NoError(t, done.Wait(t.Context(), &emr.DescribeStepInput{ClusterId: &cluster, StepId: &added.StepIds[0]}, 3e10))
	require.NoError(t, g.Check(t.Context(), gone(cluster, changes.Replaced)))
}

func TestAnAPIThatDoesNotAnswerIsNoConsent(t *testing.T) {
	client, _ := api(t, busy{})
	g := changes.Guard{Ephemeral: true, Unfinished: changes.UnfinishedSteps(client)}
	err := g.Check(t.Context(), gone("j-UNKNOWN", changes.Replaced))
	require.ErrorContains(t, err, "ask for the steps of cluster j-UNKNOWN")
}

func TestWhatAGuardAccepts(t *testing.T) {
	bucket := changes.Change{Type: "aws:s3/bucketV2:BucketV2", Name: "storage-data", Effect: changes.Replaced, Holds: "its objects"}
	protected := bucket
	protected.Protected = true
	for name, c := range map[string]struct {
		guard  changes.Guard
		change changes.Change
		says   string // "" = accepted
	}{
		"nothing said":            {changes.Guard{}, bucket, "would lose what it holds; save it first, and accept it by the name storage-data"},
		"accepted by name":        {changes.Guard{Accepted: []string{"storage-data"}}, bucket, ""},
		"another accepted":        {changes.Guard{Accepted: []string{"storage-logs"}}, bucket, "would lose"},
		"ephemeral":               {changes.Guard{Ephemeral: true}, bucket, ""},
		"protected, though named": {changes.Guard{Accepted: []string{"storage-data"}}, protected, "is protected"},
		"protected and ephemeral": {changes.Guard{Ephemeral: true}, protected, "is protected"},
		"a cluster nobody knows":  {changes.Guard{}, gone("j-1", changes.Replaced)[0], "would end its steps"},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.guard.Check(t.Context(), changes.Plan{c.change})
			if c.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.says)
		})
	}
}
