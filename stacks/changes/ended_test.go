package changes_test

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optpreview"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optrefresh"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/stacks/changes"
)

// describedCluster is EMR's answer for one cluster.
type describedCluster struct {
	emr.DescribeClusterAPIClient
	state types.ClusterState
}

func (d describedCluster) DescribeCluster(
	context.Context, *emr.DescribeClusterInput, ...func(*emr.Options),
) (*emr.DescribeClusterOutput, error) {
	return &emr.DescribeClusterOutput{Cluster: &types.Cluster{Status: &types.ClusterStatus{
		State: d.state, StateChangeReason: &types.ClusterStateChangeReason{Message: aws.String("terminated after idle time")},
	}}}, nil
}

// EMR ends an idle cluster. A preview says nothing of it until the clusters have been
// refreshed, and then plans what a refresh of everything would; both name the cluster
// whose end they have to report.
func TestPreviewOfAnEndedCluster(t *testing.T) {
	s := open(t, "dev")
	s.up(t)
	before := s.previewAsJSON(t)
	id := mainCluster(before)
	require.Regexp(t, "^j-", id)
	s.Servers.Account.End(id)

	unnoticed := s.previewAsJSON(t)
	require.Equal(t, id, mainCluster(unnoticed))
	require.Empty(t, unnoticed.Plan.Names(changes.Created))
	everything := s.previewAsJSON(t, optpreview.Refresh())
	state := s.resources(t)
	_, err := s.Stack.Refresh(t.Context(), optrefresh.Target([]string{platform.ClustersTarget}))
	require.NoError(t, err)
	after := s.resources(t)
	for urn, r := range state {
		if r.URN.Name() != "emr-main-cluster" {
			require.Equal(t, r.ID, after[urn].ID, "%s stays", urn)
		}
	}
	refreshed := s.previewAsJSON(t)
	require.Equal(t, id, mainCluster(refreshed))
	require.Equal(t, []string{"emr-main-cluster"}, refreshed.Plan.Names(changes.Created))
	require.Equal(t, everything.Plan, refreshed.Plan)

	idle := describedCluster{state: types.ClusterStateTerminated}
	for want, plan := range map[string]changes.Plan{
		"cluster " + id + " ended (TERMINATED: terminated after idle time); up creates another": refreshed.Plan,
		"cluster " + id + " ended (TERMINATED: terminated after idle time), and this preview has not noticed; " +
			"`pulumi refresh --target \"**::emr-*\"`, then `pulumi up` creates another": unnoticed.Plan,
	} {
		ended, err := changes.FindEnded(t.Context(), idle, "emr-main-cluster", id, plan)
		require.NoError(t, err)
		require.Equal(t, want, ended.String())
	}
}

// mainCluster is the id of the cluster main in a preview's outputs.
func mainCluster(d changes.Digest) string {
	clusters, _ := d.Outputs["clusters"].(map[string]any)
	cluster, _ := clusters["main"].(map[string]any)
	id, _ := cluster["id"].(string)
	return id
}

func TestClusterThatHasNotEnded(t *testing.T) {
	client, cluster := serveEMR(t, busyCluster{})
	for _, effect := range []changes.Effect{changes.Updated, changes.Replaced, changes.Deleted} {
		ended, err := changes.FindEnded(t.Context(), client, "emr-main-cluster", cluster, clusterChange(cluster, effect))
		require.NoError(t, err)
		require.Nil(t, ended)
	}
	ended, err := changes.FindEnded(t.Context(), describedCluster{state: types.ClusterStateTerminated}, "emr-main-cluster", cluster,
		clusterChange(cluster, changes.Deleted))
	require.NoError(t, err)
	require.Nil(t, ended, "the update deletes it")
	_, err = changes.FindEnded(t.Context(), client, "emr-main-cluster", "j-UNKNOWN", nil)
	require.ErrorContains(t, err, "describe cluster j-UNKNOWN")
}
