package status_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/storetest"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi/emrapitest"
	"github.com/emr-observatory/emr-observatory/platform"
	profiler "github.com/emr-observatory/emr-observatory/profiler/serve"
	"github.com/emr-observatory/emr-observatory/status"
)

// withProfiler returns a configuration whose profiler has run once.
func withProfiler(t *testing.T, report profiler.Report) status.Config {
	t.Helper()
	repeated := profiler.New(func(context.Context) profiler.Report { return report }, time.Hour)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { repeated.Run(ctx); close(ended) }()
	t.Cleanup(func() { stop(); <-ended })
	testenv.Eventually(t, func() bool { return repeated.State().Last != nil }, testenv.Answer, time.Millisecond)
	server := httptest.NewServer(repeated.Handler())
	t.Cleanup(server.Close)
	c := config(t, "http://"+testenv.Address(t))
	c.Endpoints[platform.WorkloadProfiler] = status.Endpoint{URL: server.URL, ReadyURL: server.URL + "/healthz"}
	return c
}

func TestStatusHasTheProfilersLastRun(t *testing.T) {
	report := profiler.Report{Result: profiler.Incomplete, ClustersFound: 37, ClustersRead: 5, Applications: 12, Objects: 90}
	report.Add(profiler.Missing{Cluster: "j-1", Application: "application_1_0001", Reason: "jobs: <3> of 5 requests failed"})
	report.Add(profiler.Missing{Reason: "only 5 of 37 clusters read: limited by max_clusters"})
	c := withProfiler(t, report)
	url, access := serveSource(t, source(t, c))
	got, err := status.Fetch(t.Context(), url, access)
	require.NoError(t, err)
	require.Equal(t, report.Incomplete, got.History.Last.Incomplete)
	require.NotNil(t, got.History.Next)
	const line = `last run incomplete, ended \d+s ago, took \d+s: 5 of 37 clusters and 12 applications read, 90 objects written, ` +
		`2 incomplete; next run in \d+[hm]`
	var text bytes.Buffer
	require.NoError(t, got.Render(&text, time.Now()))
	require.Regexp(t, "history: "+line, text.String())

	all := open(t, c)
	require.Contains(t, texts(all, "h2"), "Spark history in the lake")
	require.Regexp(t, "The profiler: "+line, strings.Join(texts(all, "p"), "\n"))
	require.Contains(t, texts(all, "tr"), "j-1 application_1_0001 jobs: <3> of 5 requests failed")
	require.NotContains(t, strings.Join(texts(all, "li"), "\n"), "profiler", "what is incomplete is tried again")
}

// Clusters that report and lack the tags of the profiler's scope are named with the remedy.
// One of others that has them is still of others.
func TestClustersWhoseHistoryIsNotRead(t *testing.T) {
	c := withProfiler(t, profiler.Report{Result: profiler.Complete})
	metrics := storetest.DefaultMetrics(t)
	c.Endpoints[platform.WorkloadVictoriaMetrics] = status.Endpoint{URL: metrics, ReadyURL: metrics + "/health"}
	c.HistoryTags = platform.StackTags("dev")
	store, err := emrapi.Open(t.TempDir())
	require.NoError(t, err)
	api, err := emrapi.New(store, emrapitest.NoNodes{}, slog.New(slog.DiscardHandler), emrapi.Options{})
	require.NoError(t, err)
	t.Cleanup(api.Close)
	own := putCluster(t, store, "emr-observatory-dev-etl", "dev")
	foreign, ended := putCluster(t, store, "airflow", "dev"), putCluster(t, store, "gone", "prod")
	lacking := putCluster(t, store, "adhoc", "prod")
	for _, state := range []types.ClusterState{types.ClusterStateTerminating, types.ClusterStateTerminatedWithErrors} {
		require.NoError(t, store.SetClusterState(ended, state, types.ClusterStateChangeReason{}))
	}
	seen(t, metrics, own, foreign, ended, lacking)
	from := source(t, c)
	from.Clusters = status.NewClusterReader(clientOf(t, api), c)
	require.Empty(t, from.Clusters.Refresh(t.Context(), []string{own, foreign, ended, lacking}, time.Now()))

	read := from.Read(t.Context())
	unread := map[string]string{}
	for _, cluster := range read.Clusters {
		unread[cluster.ID] = cluster.HistoryUnread
		require.Equal(t, cluster.ID == own, cluster.Own, cluster.Name)
	}
	const remedy = "it lacks tags; run `aws emr add-tags --resource-id "
	require.Equal(t, map[string]string{
		own: "", foreign: "", lacking: remedy + lacking + " --tags observatory:stack=dev`",
		ended: "it ended without observatory:stack=dev; give these tags to the next one",
	}, unread)
	items := texts(openSource(t, from), "li")
	require.Contains(t, items, "adhoc ( "+lacking+" ): "+unread[lacking])
	require.Contains(t, items, "gone ( "+ended+" ): "+unread[ended])
	require.NotContains(t, strings.Join(items, "\n"), "airflow ( ")
	var text bytes.Buffer
	require.NoError(t, read.Render(&text, time.Now()))
	require.Contains(t, text.String(), "history of adhoc ("+lacking+") is not read: "+unread[lacking])
}

func TestFailedRunOfTheProfilerIsAProblem(t *testing.T) {
	all := open(t, withProfiler(t, profiler.Report{Result: profiler.Failed, Error: "list the EMR clusters of us-east-1: no credentials"}))
	require.Contains(t, texts(all, "li"), "the profiler's last run failed: list the EMR clusters of us-east-1: no credentials")
}

func TestStatusWithoutAProfiler(t *testing.T) {
	c := config(t, "http://"+testenv.Address(t))
	require.Nil(t, source(t, c).Read(t.Context()).History)
	require.NotContains(t, texts(open(t, c), "h2"), "Spark history in the lake")
	c.Endpoints[platform.WorkloadProfiler] = status.Endpoint{URL: "http://" + testenv.Address(t), ReadyURL: "http://" + testenv.Address(t)}
	problems := strings.Join(source(t, c).Read(t.Context()).Problems, "\n")
	require.Contains(t, problems, "read how the profiler's last run went: ")
}
