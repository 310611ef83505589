package changes_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/simulator"
	"github.com/emr-observatory/emr-observatory/stacks/changes"
)

// firstFleet is why only make test-long follows such fleets through updates.
const firstFleet = "TestEffectsOfEdits adds a first task fleet in every run, in place"

// TestOnlyAFirstTaskFleetIsAddedInPlace adds a task fleet to a running cluster, edits it
// and removes it. EMR does the first alone. An attempt that fails changes nothing about
// that.
func TestOnlyAFirstTaskFleetIsAddedInPlace(t *testing.T) {
	testenv.RequireLong(t, firstFleet)
	const cluster = "emr-growing-cluster"
	creation := &faulty{name: cluster}
	s := openWith(t, "dev", map[string]simulator.Handler{clusterType: creation}, set{"clusters.growing", growingJSON})
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
	creation.failWith(refused("bootstrap action 1 failed"))
	_, err := s.Stack.Up(t.Context())
	require.ErrorContains(t, err, "bootstrap action 1 failed")
	require.Contains(t, preview().Names(changes.Replaced), cluster, "the record of the fleet is new, the cluster is not")
	creation.failWith(nil)
	s.up(t)
	require.NotEqual(t, running, s.id(t, cluster))
	require.Empty(t, preview())

	requireEffects(t, effects{changes.Replaced: {cluster}, changes.Deleted: {"emr-growing-task"}}, edited(`null`))
	s.up(t)
	require.Empty(t, preview())
	requireEffects(t, effects{changes.Created: {"emr-growing-task"}}, edited(`{"types":[{}],"onDemand":1}`))
}

// TestRefusedFirstTaskFleet pins what a first task fleet leaves that EMR refuses: its
// record. The same fleet is added in place later. Any other, and none, replaces the
// cluster, which the guard refuses.
func TestRefusedFirstTaskFleet(t *testing.T) {
	testenv.RequireLong(t, firstFleet)
	const cluster, task = "emr-growing-cluster", "emr-growing-task"
	creation := &faulty{name: task}
	handlers := map[string]simulator.Handler{"aws:emr/instanceFleet:InstanceFleet": creation}
	s := openWith(t, "dev", handlers, set{"clusters.growing", growingJSON})
	s.up(t)
	running := s.id(t, cluster)
	edit := func(value string) { s.values = s.with(t, set{"clusters.growing.fleets.task", value}) }
	edit(`{"types":[{"instanceType":"m5.xlarge"}],"onDemand":1}`)
	creation.failWith(refused("instance type m5.xlarge is not supported"))
	_, err := s.Stack.Up(t.Context())
	require.ErrorContains(t, err, "is not supported")

	for value, e := range map[string]effects{
		`{"types":[{"instanceType":"m6i.xlarge"}],"onDemand":1}`: {changes.Replaced: {cluster}, changes.Created: {task}},
		`null`: {changes.Replaced: {cluster}},
	} {
		edit(value)
		plan, err := changes.Preview(t.Context(), s.Stack)
		require.NoError(t, err)
		requireEffects(t, e, plan)
		require.Equal(t, []string{cluster}, refusedNames(t, changes.Guard{}.Check(t.Context(), plan)))
	}

	edit(`{"types":[{"instanceType":"m5.xlarge"}],"onDemand":1}`)
	creation.failWith(nil)
	s.up(t)
	require.Equal(t, running, s.id(t, cluster))
	plan, err := changes.Preview(t.Context(), s.Stack)
	require.NoError(t, err)
	require.Empty(t, plan)
}
