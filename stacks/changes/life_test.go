package changes_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optdestroy"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/stacks/changes"
	"github.com/emr-observatory/emr-observatory/stacks/outputs"
)

// outputs decodes the stack's outputs.
func (s *scene) outputs(t *testing.T) outputs.Outputs {
	t.Helper()
	all, err := s.Stack.Outputs(t.Context())
	require.NoError(t, err)
	plain := map[string]any{}
	for k, v := range all {
		plain[k] = v.Value
	}
	o, _, err := outputs.FromMap(plain)
	require.NoError(t, err)
	return o
}

// state returns the URNs of all resources in the stack except the stack itself.
func (s *scene) state(t *testing.T) []string {
	t.Helper()
	exported, err := s.Stack.Export(t.Context())
	require.NoError(t, err)
	var deployment apitype.DeploymentV3
	require.NoError(t, json.Unmarshal(exported.Deployment, &deployment))
	var out []string
	for _, r := range deployment.Resources {
		out = append(out, string(r.URN))
	}
	slices.Sort(out)
	return out
}

// TestChangedArtifactReplacesCluster edits what nodes install. The provider
// ignores a change of paths and names alone; the hash among the bootstrap
// arguments makes it replace the cluster. What clusters of other stacks have started
// with remains.
func TestChangedArtifactReplacesCluster(t *testing.T) {
	s := open(t, "local")
	s.up(t)
	before := s.outputs(t)

	edited := &s.materials.Artifacts[0]
	*edited = trial.Stage(t, t.TempDir(), edited.Name, edited.Arch, "-second")
	plan, err := changes.Preview(t.Context(), s.Stack)
	require.NoError(t, err)
	require.Equal(t, []string{"emr-main-cluster", "telemetry-artifact-" + edited.Name, "telemetry-bootstrap"}, plan.Names(changes.Replaced))
	// It tells which clusters have an older bootstrap action.
	require.Equal(t, []string{"workloads-status-config"}, plan.Names(changes.Updated))
	require.Equal(t, []string{"workloads-status"}, plan.Names(changes.Restarted))
	for _, other := range []changes.Effect{changes.Created, changes.Deleted, changes.Unforeseen} {
		require.Empty(t, plan.Names(other), other)
	}
	cluster := plan[slices.IndexFunc(plan, func(c changes.Change) bool { return c.Name == "emr-main-cluster" })]
	require.Equal(t, before.Clusters["main"].ID, cluster.ID)
	require.Contains(t, cluster.Paths, "bootstrapActions[0].args[2]")

	s.up(t)
	after := s.outputs(t)
	require.NotEqual(t, before.Clusters["main"].ID, after.Clusters["main"].ID)
	for _, o := range []outputs.Outputs{before, after} {
		_, key, found := strings.Cut(o.Observe.Bootstrap.Path, "/artifacts/")
		require.True(t, found)
		require.True(t, s.Servers.Account.Exists("aws:s3/bucketObjectv2:BucketObjectv2", "artifacts/"+key),
			"nodes of clusters that started with it fetch %s", o.Observe.Bootstrap.Path)
	}
	require.NotEqual(t, before.Observe.Bootstrap.Hash, after.Observe.Bootstrap.Hash)
	require.Contains(t, after.Observe.Bootstrap.Args, after.Observe.Bootstrap.Hash)
	require.Equal(t, before.DataBucket, after.DataBucket)
}

// TestOnlyEditedWorkloadRestarts edits one server's configuration file and
// arguments.
func TestOnlyEditedWorkloadRestarts(t *testing.T) {
	s := open(t, "local")
	s.up(t)
	for _, c := range []struct{ key, workload string }{
		{"retention.tempoDays", "workloads-tempo"}, {"retention.victoriaMetricsDays", "workloads-victoria-metrics"},
	} {
		s.values = s.with(t, set{c.key, "3"})
		plan, err := changes.Preview(t.Context(), s.Stack)
		require.NoError(t, err)
		require.Equal(t, []string{c.workload}, plan.Names(changes.Restarted), "%s\n%s", c.key, plan)
		require.Empty(t, plan.Names(changes.Replaced))
		s.up(t)
		plan, err = changes.Preview(t.Context(), s.Stack)
		require.NoError(t, err)
		require.Empty(t, plan, "the edit is done")
	}
}

// TestTunnelKeepsControlNodeAndCluster edits the access from vpc to tunnel: only what
// shows operators' addresses changes.
func TestTunnelKeepsControlNodeAndCluster(t *testing.T) {
	s := open(t, "local", set{"controlNode.access", `"vpc"`})
	s.up(t)
	before := s.outputs(t)
	s.values = s.with(t, set{"controlNode.access", `"tunnel"`}, set{"controlNode.apiUrl", `"https://127.0.0.1:6443"`},
		set{"grafana.url", `"https://127.0.0.1:3000"`})
	plan, err := changes.Preview(t.Context(), s.Stack)
	require.NoError(t, err)
	require.Equal(t, []string{"workloads-status"}, plan.Names(changes.Restarted), "%s", plan)
	for _, effect := range []changes.Effect{changes.Created, changes.Replaced, changes.Deleted} {
		require.Empty(t, plan.Names(effect), "%s", plan)
	}
	s.up(t)
	after := s.outputs(t)
	require.Equal(t, "https://127.0.0.1:3000", after.GrafanaURL)
	require.Equal(t, before.ControlInstanceID+before.Clusters["main"].ID, after.ControlInstanceID+after.Clusters["main"].ID)
	require.Equal(t, before.ControlPrivateIP, after.ControlPrivateIP)
}

// TestDestroysEphemeralStackInOneCommand: such a stack has no data to keep.
func TestDestroysEphemeralStackInOneCommand(t *testing.T) {
	s := open(t, "local")
	s.up(t)
	stream := make(chan events.EngineEvent)
	deleted := make(chan int)
	go func() { deleted <- len(changes.FromEvents(drain(stream)).Names(changes.Deleted)) }()
	require.NoError(t, changes.Destroy(t.Context(), s.Stack, changes.Guard{}, optdestroy.EventStreams(stream)))
	require.Greater(t, <-deleted, 100, "the caller's own stream is fed")
	require.Empty(t, s.state(t))
}

// drain collects the events until the stream is closed.
func drain(stream <-chan events.EngineEvent) []events.EngineEvent {
	var all []events.EngineEvent
	for e := range stream {
		all = append(all, e)
	}
	return all
}

// TestRefusesToDestroyProtectedStack expects every reason before the first
// resource is deleted, and a successful destroy once the stack is ephemeral.
func TestRefusesToDestroyProtectedStack(t *testing.T) {
	s := open(t, "dev", set{"clusters.main.terminationProtection", "true"})
	s.up(t)
	before := s.state(t)
	stream, quiet := make(chan events.EngineEvent), make(chan []events.EngineEvent)
	go func() { quiet <- drain(stream) }()
	err := changes.Destroy(t.Context(), s.Stack, changes.Guard{}, optdestroy.EventStreams(stream))
	require.Empty(t, <-quiet)
	require.ErrorContains(t, err, "nothing was changed")
	for _, reason := range []string{
		"storage-data: deleted; holds its objects, which is protected",
		"storage-logs: deleted; holds its objects, which is protected",
		"storage-key: deleted; holds the only way to read what it encrypted, which is protected",
		"control-data: deleted; holds metrics, logs and the Kubernetes datastore, which is protected",
		"emr-main-cluster: deleted; holds steps that have not ended, and HDFS, which EMR refuses to end: " +
			"it has termination protection; set its terminationProtection to false",
	} {
		require.ErrorContains(t, err, reason)
	}
	require.Equal(t, before, s.state(t))

	s.values = s.with(t, set{"clusters.main.terminationProtection", "false"}, set{"ephemeral", "true"})
	s.up(t)
	require.NoError(t, changes.Destroy(t.Context(), s.Stack, changes.Guard{}))
	require.Empty(t, s.state(t))
}
