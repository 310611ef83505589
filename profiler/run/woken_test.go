package run_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/run"
	"github.com/emr-observatory/emr-observatory/profiler/serve"
	"github.com/emr-observatory/emr-observatory/profiler/source"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// A woken cluster is read alone, and what its source does not show yet is missing. The filters of
// the options apply, and rows of other clusters stay although they are old.
func TestWokenCluster(t *testing.T) {
	w := newWorld(t)
	old := w.cluster("old", tagged(platform.StackTags("dev")))
	w.ran(old, "adaptive", appID(1))
	w.end(old, time.Hour)
	own, other := w.cluster("etl", tagged(platform.StackTags("dev"))), w.cluster("etl")
	w.step(own, appID(2))
	w.ran(own, "adaptive", appID(2))
	o := w.options()
	o.Tags = platform.StackTags("dev")
	wake := serve.Wake{Cluster: own, Applications: []string{appID(2), appID(3)}}

	found, err := run.Woken(t.Context(), w.aws, o, wake, &progress{})
	require.NoError(t, err)
	require.Equal(t, serve.Found{From: found.From, Missing: []string{appID(3)}}, found)
	require.Contains(t, found.From, "persistent UI", "it runs, and its own history server does not answer here")
	require.Equal(t, 0, w.made(source.OpListClusters))
	require.Equal(t, []string{appID(2)}, w.applicationIDs())

	w.ran(own, "retries", appID(3))
	err = testenv.Poll(t.Context(), testenv.Start, 200*time.Millisecond, func(ctx context.Context) error {
		found, err = run.Woken(ctx, w.aws, o, wake, &progress{})
		if err == nil && len(found.Missing) > 0 {
			return fmt.Errorf("%s is not in the tables", found.Missing)
		}
		return err
	})
	require.NoError(t, err)

	found, err = run.Woken(t.Context(), w.aws, o, serve.Wake{Cluster: other, Applications: []string{appID(4)}}, &progress{})
	require.NoError(t, err)
	require.True(t, found.Excluded, "it has no tag of the stack")
	o.States = []types.ClusterState{types.ClusterStateTerminated}
	found, err = run.Woken(t.Context(), w.aws, o, wake, &progress{})
	require.NoError(t, err)
	require.True(t, found.Excluded)
	require.Equal(t, []string{appID(2), appID(3)}, w.applicationIDs(), "a run of one cluster reads no other")
	_, err = run.Woken(t.Context(), w.aws, o, serve.Wake{Cluster: "j-GONE", Applications: []string{appID(4)}}, &progress{})
	require.ErrorContains(t, err, "j-GONE")
}

// applicationIDs lists the applications in the tables.
func (w *world) applicationIDs() (ids []string) {
	w.t.Helper()
	for _, row := range readLake[tables.Application](w) {
		ids = append(ids, row.ApplicationID)
	}
	slices.Sort(ids)
	return ids
}
