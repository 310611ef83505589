package status_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/storetest"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi/emrapitest"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
)

// openEMR returns the local EMR API, on which no node runs, and its store.
func openEMR(t *testing.T) (*emrapi.Store, *emrapi.Server) {
	t.Helper()
	store, err := emrapi.Open(t.TempDir())
	require.NoError(t, err)
	api, err := emrapi.New(store, emrapitest.NoNodes{}, slog.New(slog.DiscardHandler), emrapi.Options{})
	require.NoError(t, err)
	t.Cleanup(api.Close)
	return store, api
}

// putCluster adds a cluster with a bootstrap action, and the tags of a stack.
func putCluster(t *testing.T, store *emrapi.Store, name, stack string, action ...string) string {
	t.Helper()
	cluster := emrapitest.JobFlow()
	cluster.Name, cluster.ReleaseLabel = &name, aws.String("emr-7.13.0")
	for key, value := range platform.StackTags(stack) {
		cluster.Tags = append(cluster.Tags, types.Tag{Key: &key, Value: &value})
	}
	cluster.BootstrapActions = []types.BootstrapActionConfig{{
		Name:                  aws.String("install"),
		ScriptBootstrapAction: &types.ScriptBootstrapActionConfig{Path: aws.String("s3://data/install.sh"), Args: action},
	}}
	id, err := store.PutJobFlow(cluster)
	require.NoError(t, err)
	return id
}

// All clusters are listed, the stack's own and those of others, by name, with what EMR
// says of them. One that ended remains for a day, with the reason.
func TestClustersAsEMRDescribesThem(t *testing.T) {
	metrics := storetest.DefaultMetrics(t)
	store, api := openEMR(t)
	const artifacts = "s3://data/artifacts/"
	own := putCluster(t, store, "emr-observatory-dev-etl", "dev", "10.0.0.4", artifacts, "now", "hostsOnly")
	failed := putCluster(t, store, "emr-observatory-dev-adhoc", "dev", "10.0.0.4", artifacts, "before")
	foreign := putCluster(t, store, "airflow", "prod", "10.0.0.4", "s3://other/artifacts/", "now")
	reason := types.ClusterStateChangeReason{
		Code: types.ClusterStateChangeReasonCodeBootstrapFailure, Message: aws.String("bootstrap action 1 <b>failed</b>"),
	}
	for _, state := range []types.ClusterState{types.ClusterStateTerminating, types.ClusterStateTerminatedWithErrors} {
		require.NoError(t, store.SetClusterState(failed, state, reason))
	}
	seen(t, metrics, own, foreign, "j-LOST")

	from := source(t, config(t, metrics))
	client := clientOf(t, api)
	from.Clusters = status.NewClusterReader(client, from.Config)
	from.Steps = status.NewStepReader(client, status.Tracing{})
	addStep(t, store, own, "daily")
	require.Empty(t, from.Clusters.Refresh(t.Context(), []string{own, foreign, "j-LOST"}, time.Now()))
	read := from.Read(t.Context())
	require.Len(t, read.Clusters, 4)
	require.NotNil(t, read.Clusters[1].Ended)
	read.Clusters[1].Ended = nil
	master := map[string]int{"master": 1}
	require.Equal(t, []status.Cluster{
		{
			ID: foreign, Name: "airflow", State: types.ClusterStateStarting, Release: "emr-7.13.0", Nodes: master,
			Bootstrap: status.BootstrapAbsent,
		},
		{
			ID: failed, Name: "emr-observatory-dev-adhoc", State: types.ClusterStateTerminatedWithErrors, Release: "emr-7.13.0", Own: true,
			Reason: "bootstrap action 1 <b>failed</b>", Nodes: map[string]int{}, Bootstrap: status.BootstrapOutdated,
		},
		{
			ID: own, Name: "emr-observatory-dev-etl", State: types.ClusterStateStarting, Release: "emr-7.13.0", Own: true, Nodes: master,
			Bootstrap: status.BootstrapCurrent,
		},
		{
			ID: "j-LOST", Name: "j-LOST", Reason: "InvalidRequestException: Cluster id 'j-LOST' is not valid.", Nodes: master,
			Bootstrap: status.BootstrapNotKnown,
		},
	}, read.Clusters)

	all := openSource(t, from)
	rows := texts(all, "tr")
	require.Contains(t, rows, "airflow "+foreign+" STARTING, of others 1 master emr-7.13.0 none")
	require.Contains(t, rows, "emr-observatory-dev-etl "+own+" STARTING 1 master emr-7.13.0 current")
	require.Contains(t, texts(all, "li"), "cluster emr-observatory-dev-adhoc ("+failed+") ended with errors: bootstrap action 1 <b>failed</b>")
	require.Contains(t, strings.Join(texts(all, "p"), "\n"), " on emr-observatory-dev-etl")

	var text strings.Builder
	require.NoError(t, read.Render(&text, time.Now()))
	require.Regexp(t, `emr-observatory-dev-adhoc +│ `+failed+` │ TERMINATED_WITH_ERRORS +│ none +│ emr-7.13.0 │ outdated`, text.String())
	require.Regexp(t, `daily +│ emr-observatory-dev-etl │ PENDING`, text.String())
}

// addStep adds a step to a cluster.
func addStep(t *testing.T, store *emrapi.Store, cluster, name string) {
	t.Helper()
	_, err := store.AddSteps(cluster, types.StepConfig{
		Name: &name, ActionOnFailure: types.ActionOnFailureContinue,
		HadoopJarStep: &types.HadoopJarStepConfig{Jar: aws.String("command-runner.jar")},
	})
	require.NoError(t, err)
}

// A job that makes up clusters fills no page with them: some are shown, and the rest are counted.
func TestForgedClustersAreCounted(t *testing.T) {
	metrics := storetest.DefaultMetrics(t)
	store, api := openEMR(t)
	genuine := putCluster(t, store, "etl", "dev")
	reporting := []string{genuine}
	for n := range 60 {
		reporting = append(reporting, fmt.Sprintf("j-%013d", n))
	}
	seen(t, metrics, reporting...)
	from := source(t, config(t, metrics))
	client := clientOf(t, api)
	from.Clusters, from.Steps = status.NewClusterReader(client, from.Config), status.NewStepReader(client, status.Tracing{})
	addStep(t, store, genuine, "daily")
	require.Empty(t, from.Clusters.Refresh(t.Context(), reporting, time.Now()))
	read := from.Read(t.Context())
	require.Len(t, read.Clusters, 51)
	require.Len(t, read.Nodes, 51)
	require.Len(t, read.Steps, 1, "the steps of the one cluster are read")
	require.Contains(t, strings.Join(read.Problems, "\n"), "10 more cluster ids, which EMR does not list, send telemetry")
	require.NotContains(t, strings.Join(read.Problems, "\n"), "are not read yet")
}

// People are told which cluster lost something by which limit, for an hour.
func TestLimitsThatWereExceededAreNamed(t *testing.T) {
	metrics := storetest.DefaultMetrics(t)
	over := func(labels string, value int) string {
		return fmt.Sprintf("%s{%s} %d", platform.MetricOverLimit, labels, value)
	}
	lines, spans, quiet := `cluster="j-1",signal="logs"`, `sender="10.0.1.9",signal="traces"`, `cluster="j-2",signal="profiles"`
	importSamples(t, metrics, 10*time.Minute, over(lines, 0), over(spans, 0), over(quiet, 0))
	importSamples(t, metrics, time.Minute, over(lines, 1200), over(spans, 7), over(quiet, 0))
	read := status.Source{Config: config(t, metrics), Client: http.DefaultClient}.Read(t.Context())
	require.Subset(t, read.Problems, []string{
		"cluster j-1 sends more than limits.logMiBPerHour allows: 1200 log records were refused within an hour; " +
			"find what sends so many, or raise the limit",
		"node 10.0.1.9, of whose cluster EMR says nothing, sends more than limits.spansPerHour allows: 7 spans were refused within an hour; " +
			"find what sends so many, or raise the limit",
	})
	require.NotContains(t, strings.Join(read.Problems, "\n"), "j-2")
}
