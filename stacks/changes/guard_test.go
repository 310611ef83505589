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
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi/emrapitest"
	"github.com/emr-observatory/emr-observatory/stacks/changes"
)

// busyCluster is a cluster in EMR's API whose steps run until released.
type busyCluster struct {
	emrapitest.NoNodes
	release chan struct{}
}

func (b busyCluster) RunStep(ctx context.Context, _ string, _ types.Step) error {
	select {
	case <-b.release:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// serveEMR serves EMR's API with one idle cluster that waits for steps.
func serveEMR(t *testing.T, nodes busyCluster) (client *emr.Client, cluster string) {
	t.Helper()
	store, err := emrapi.Open(t.TempDir())
	require.NoError(t, err)
	server, err := emrapi.New(store, nodes, slog.New(slog.DiscardHandler), emrapi.Options{})
	require.NoError(t, err)
	served := httptest.NewServer(server)
	t.Cleanup(func() { served.Close(); server.Close() })
	cluster = emrapitest.PutCluster(t, store)
	for _, state := range []types.ClusterState{types.ClusterStateBootstrapping, types.ClusterStateRunning} {
		require.NoError(t, store.SetClusterState(cluster, state, types.ClusterStateChangeReason{}))
	}
	return emr.New(emr.Options{
		Region: "us-east-1", BaseEndpoint: &served.URL, Credentials: credentials.NewStaticCredentialsProvider("local", "local-secret", ""),
	}), cluster
}

const clusterType = "aws:emr/cluster:Cluster"

// clusterChange returns a plan with one change of a cluster.
func clusterChange(id string, e changes.Effect) changes.Plan {
	return changes.Plan{{URN: "urn:pulumi:dev::p::" + clusterType + "::emr-main-cluster", Type: clusterType, Name: "emr-main-cluster", ID: id,
		Effect: e, Holds: changes.Stateful()[clusterType]}}
}

func TestUnfinishedStepsBlockClusterDeletion(t *testing.T) {
	nodes := busyCluster{release: make(chan struct{})}
	client, cluster := serveEMR(t, nodes)
	g := changes.Guard{Ephemeral: true, Unfinished: changes.UnfinishedSteps(client)}
	require.NoError(t, g.Check(t.Context(), clusterChange(cluster, changes.Replaced)), "no step yet")

	added, err := client.AddJobFlowSteps(t.Context(), &emr.AddJobFlowStepsInput{JobFlowId: &cluster, Steps: []types.StepConfig{{
		Name: aws.String("nightly"), ActionOnFailure: types.ActionOnFailureContinue,
		HadoopJarStep: &types.HadoopJarStepConfig{Jar: aws.String("command-runner.jar"), Args: []string{"true"}},
	}}})
	require.NoError(t, err)
	for _, effect := range []changes.Effect{changes.Replaced, changes.Deleted} {
		err := g.Check(t.Context(), clusterChange(cluster, effect))
		require.ErrorContains(t, err, "would end steps that run or wait: "+added.StepIds[0]+" (nightly)")
		require.ErrorContains(t, err, "let them end first, or accept it by the name emr-main-cluster")
		require.Error(t, g.CheckDestroy(t.Context(), clusterChange(cluster, effect)))
	}
	require.NoError(t, g.Check(t.Context(), clusterChange(cluster, changes.Updated)), "it stays")
	accepting := g
	accepting.Accepted = []string{"emr-main-cluster"}
	require.NoError(t, accepting.Check(t.Context(), clusterChange(cluster, changes.Replaced)))

	close(nodes.release)
	done := emr.NewStepCompleteWaiter(client, func(o *emr.StepCompleteWaiterOptions) { o.MinDelay, o.MaxDelay = 1e7, 1e8 })
	require.NoError(t, done.Wait(t.Context(), &emr.DescribeStepInput{ClusterId: &cluster, StepId: &added.StepIds[0]}, 3e10))
	require.NoError(t, g.Check(t.Context(), clusterChange(cluster, changes.Replaced)))
}

func TestUnreachableAPIBlocksClusterDeletion(t *testing.T) {
	client, _ := serveEMR(t, busyCluster{})
	g := changes.Guard{Ephemeral: true, Unfinished: changes.UnfinishedSteps(client)}
	err := g.Check(t.Context(), clusterChange("j-UNKNOWN", changes.Replaced))
	require.ErrorContains(t, err, "check the steps of cluster j-UNKNOWN")
}

func TestGuardAcceptsListedLosses(t *testing.T) {
	bucket := changes.Change{Type: "aws:s3/bucketV2:BucketV2", Name: "storage-data", Effect: changes.Replaced, Holds: "its objects"}
	protected := bucket
	protected.Protected = true
	for name, c := range map[string]struct {
		guard  changes.Guard
		change changes.Change
		want   string // "" = accepted
	}{
		"nothing accepted":        {changes.Guard{}, bucket, "would lose what it holds; save it first, and accept it by the name storage-data"},
		"accepted by name":        {changes.Guard{Accepted: []string{"storage-data"}}, bucket, ""},
		"another accepted":        {changes.Guard{Accepted: []string{"storage-logs"}}, bucket, "would lose"},
		"ephemeral":               {changes.Guard{Ephemeral: true}, bucket, ""},
		"protected, though named": {changes.Guard{Accepted: []string{"storage-data"}}, protected, "is protected"},
		"protected and ephemeral": {changes.Guard{Ephemeral: true}, protected, "is protected"},
		"a cluster nobody knows":  {changes.Guard{}, clusterChange("j-1", changes.Replaced)[0], "would end its steps"},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.guard.Check(t.Context(), changes.Plan{c.change})
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
		})
	}
}

// A refusal names the edited inputs, and the way in place where EMR has one.
func TestRefusalOfAClusterNamesTheWayInPlace(t *testing.T) {
	const accept = "; see that no step runs, and accept it by the name emr-main-cluster"
	for want, paths := range map[string][]string{
		"EMR cannot edit bootstrapActions.args, releaseLabel of a running cluster" + accept: {
			"bootstrapActions[0].args[2]", "bootstrapActions[1].args[0]", "configurationsJson", "releaseLabel",
		},
		"resize the fleet with `aws emr modify-instance-fleet`, then run `pulumi refresh`" + accept: {
			"coreInstanceFleet.targetOnDemandCapacity", "coreInstanceFleet.targetSpotCapacity",
		},
		"there is no way in place, since the provider sets keepAlive only when it creates a cluster: leave it as it is until the next one" +
			accept: {"keepJobFlowAliveWhenNoSteps"},
		"reconfigure the running groups with `aws emr modify-instance-groups`, and make the edit with the next cluster" + accept: {
			"configurationsJson",
		},
		"declare a task group with it under tasks, which EMR adds to a running cluster" + accept: {"coreInstanceGroup.ebsConfigs[0].size"},
	} {
		c := clusterChange("j-1", changes.Replaced)[0]
		c.Paths = paths
		require.ErrorContains(t, changes.Guard{}.Check(t.Context(), changes.Plan{c}), "would end its steps; "+want)
	}
}
