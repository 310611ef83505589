package changes_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/simulator"
	"github.com/emr-observatory/emr-observatory/stacks/changes"
)

// clusterCreation records clusters, and fails to create one if it is told so.
type clusterCreation struct {
	simulator.Recording
	fails *atomic.Bool
}

func (c clusterCreation) Create(ctx context.Context, r simulator.Request) (simulator.Result, error) {
	if c.fails.Load() {
		return simulator.Result{}, errors.New("bootstrap action 1 failed")
	}
	return c.Recording.Create(ctx, r)
}

// TestOnlyAFirstTaskFleetIsAddedInPlace adds a task fleet to a running cluster, edits it
// and removes it. EMR does the first alone. An attempt that fails changes nothing about
// that.
func TestOnlyAFirstTaskFleetIsAddedInPlace(t *testing.T) {
	const cluster = "emr-growing-cluster"
	creation := clusterCreation{fails: &atomic.Bool{}}
	s := openWith(t, "dev", map[string]simulator.Handler{"aws:emr/cluster:Cluster": creation}, set{"clusters.growing", growingJSON})
	s.up(t)
	running := s.id(t, cluster)
	preview := func() changes.Plan {
		plan, err := changes.Preview(t.Context(), s.Stack)
		require.NoError(t, err)
		return plan
	}
	edited := func(task string) changes.Plan {
		s.values = s.with(t, set{"clusters.growing.fleets.task", task})
		return preview()
	}

	requireEffects(t, effects{changes.Created: {"emr-growing-task"}}, edited(`{"types":[{}],"onDemand":1}`))
	s.up(t)
	require.Equal(t, running, s.id(t, cluster))
	require.Empty(t, preview())
	requireEffects(t, effects{changes.Updated: {"emr-growing-task"}}, edited(`{"types":[{}],"onDemand":2}`))

	replaced := effects{changes.Replaced: {cluster, "emr-growing-task"}}
	requireEffects(t, replaced, edited(`{"types":[{"bidPercent":70}],"onDemand":1}`))
	creation.fails.Store(true)
	_, err := s.Stack.Up(t.Context())
	require.ErrorContains(t, err, "bootstrap action 1 failed")
	require.Contains(t, preview().Names(changes.Replaced), cluster, "the record of the fleet is new, the cluster is not")
	creation.fails.Store(false)
	s.up(t)
	require.NotEqual(t, running, s.id(t, cluster))
	require.Empty(t, preview())

	requireEffects(t, effects{changes.Replaced: {cluster}, changes.Deleted: {"emr-growing-task"}}, edited(`null`))
	s.up(t)
	require.Empty(t, preview())
	requireEffects(t, effects{changes.Created: {"emr-growing-task"}}, edited(`{"types":[{}],"onDemand":1}`))
}
