package clustertelemetry_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/status/recording"
)

// A cluster that replaces another has its name. The end of the old one is sent, also if
// the control node was down when it came, and is asked for no more.
func TestAReplacedClusterKeepsItsName(t *testing.T) {
	w := newWorld(t)
	old := w.cluster(t, "observatory-dev-etl")
	w.reports(t, old)
	r, _ := w.recorder(t)
	now := time.Now()
	r.Round(t.Context(), now)
	require.Empty(t, r.Problems())
	require.Equal(t, map[string][]string{old: {"observatory-dev-etl emr-7.13.0 STARTING"}}, w.infos(t))

	w.end(t, old, "a node failed")
	replacement := w.cluster(t, "observatory-dev-etl")
	w.reports(t, replacement)
	r, _ = w.recorder(t) // the control node was down at the end
	now = now.Add(time.Hour)
	r.Round(t.Context(), now)
	want := map[string][]string{
		old:         {"observatory-dev-etl emr-7.13.0 STARTING", "observatory-dev-etl emr-7.13.0 TERMINATED_WITH_ERRORS"},
		replacement: {"observatory-dev-etl emr-7.13.0 STARTING"},
	}
	require.Equal(t, want, w.infos(t))
	w.requests()
	for range 30 {
		now = now.Add(recording.Interval)
		r.Round(t.Context(), now)
	}
	require.LessOrEqual(t, w.requests()["DescribeCluster"], 10, "the one that runs, once a minute")
	require.Equal(t, want, w.infos(t))
}

// What EMR does not know, or does not let the control node read, is named by its id,
// whoever started it. What EMR failed to answer has no name yet: a wrong one would stay.
func TestClustersWithoutAName(t *testing.T) {
	w := newWorld(t)
	known := w.cluster(t, "ad hoc")
	for _, id := range []string{known, "j-LOST", "spark-on-a-laptop"} {
		w.reports(t, id)
	}
	w.refuse = func(string) (string, string) { return "ThrottlingException", "Rate exceeded" }
	r, _ := w.recorder(t)
	now := time.Now()
	r.Round(t.Context(), now)
	require.Equal(t, map[string][]string{"spark-on-a-laptop": {"spark-on-a-laptop  "}}, w.infos(t))
	for _, problem := range []string{"list the clusters: ", "describe cluster " + known + ": "} {
		require.Contains(t, strings.Join(r.Problems(), "\n"), problem+"ThrottlingException: Rate exceeded")
	}

	w.refuse = nil
	r.Round(t.Context(), now.Add(2*time.Minute))
	require.Equal(t, map[string][]string{
		known: {"ad hoc emr-7.13.0 STARTING"}, "j-LOST": {"j-LOST  "}, "spark-on-a-laptop": {"spark-on-a-laptop  "},
	}, w.infos(t))
	require.Empty(t, r.Problems())

	secret := w.cluster(t, "secret")
	w.reports(t, secret)
	w.refuse = func(operation string) (string, string) {
		if operation == "DescribeCluster" {
			return "AccessDeniedException", "not authorized to perform: elasticmapreduce:DescribeCluster"
		}
		return "", ""
	}
	r, source := w.recorder(t)
	r.Round(t.Context(), now.Add(2*time.Minute))
	require.Equal(t, []string{secret + "  "}, w.infos(t)[secret])
	cluster, read := source.Clusters.Known(secret)
	require.True(t, read)
	require.Contains(t, cluster.Unknown, "elasticmapreduce:DescribeCluster")
}

// A job that makes up ids hides no cluster, and costs little of EMR's quota: EMR is asked once about
// some of them, after those that it lists, and the others are counted.
func TestForgedClusterIDs(t *testing.T) {
	w := newWorld(t)
	w.reports(t, "j-LAPTOP")
	r, source := w.recorder(t)
	now := time.Now()
	r.Round(t.Context(), now)
	for n := range 300 {
		w.reports(t, fmt.Sprintf("j-%013d", n)) // before those of EMR, in their order
	}
	first := w.cluster(t, "etl")
	w.reports(t, first)
	w.requests()
	began, rounds := time.Now(), 0
	named := func(id, info string) {
		testenv.Eventually(t, func() bool { // the limit is of seconds, and the rounds' times are not
			now, rounds = now.Add(recording.Interval), rounds+1
			r.Round(t.Context(), now)
			return slices.Equal(w.infos(t)[id], []string{info})
		}, testenv.Arrival, time.Second, "before the ids that EMR does not list")
	}
	named(first, "etl emr-7.13.0 STARTING")
	require.Empty(t, r.Problems())
	asked := w.requests()
	require.LessOrEqual(t, asked["DescribeCluster"], 4+int(time.Since(began)/(4*time.Second)), "four at once, then one each 4 s")
	require.LessOrEqual(t, asked["ListClusters"], 2*(1+1+rounds/6), "once for the new ids, and then every two minutes")
	infos := w.infos(t)
	require.Equal(t, []string{"j-LAPTOP  "}, infos["j-LAPTOP"], "what was shown before stays")
	require.LessOrEqual(t, len(infos), 2+asked["DescribeCluster"])
	require.Equal(t, 251, source.Clusters.Unlisted())
	require.True(t, source.Clusters.Lists(first))
	require.False(t, source.Clusters.Lists("j-LAPTOP"))
	_, known := source.Clusters.Known("j-0000000000299")
	require.False(t, known)

	late := w.cluster(t, "started since")
	w.reports(t, late)
	named(late, "started since emr-7.13.0 STARTING")
}

// A cluster that ran for days and ended while the control node was down is in none of EMR's lists
// of today. It is described all the same.
func TestAClusterThatEndedLongAfterItsStart(t *testing.T) {
	w := newWorld(t)
	id := w.cluster(t, "weekly")
	w.end(t, id, "user request")
	require.NoError(t, w.store.UpdateCluster(id, func(c *types.Cluster) {
		c.Status.Timeline.CreationDateTime = aws.Time(time.Now().Add(-72 * time.Hour))
	}))
	w.reports(t, id)
	r, source := w.recorder(t)
	r.Round(t.Context(), time.Now())
	require.Empty(t, r.Problems())
	require.Equal(t, []string{"weekly emr-7.13.0 TERMINATED_WITH_ERRORS"}, w.infos(t)[id])
	require.True(t, source.Clusters.Lists(id), "its steps are read")
}

// A failure is repeated less and less often, and the last answer stands meanwhile.
func TestThrottledEMR(t *testing.T) {
	w := newWorld(t)
	id := w.cluster(t, "etl")
	w.reports(t, id)
	r, source := w.recorder(t)
	now := time.Now()
	r.Round(t.Context(), now)
	w.requests()
	w.refuse = func(string) (string, string) { return "ThrottlingException", "Rate exceeded" }
	for range 15 { // five minutes
		now = now.Add(recording.Interval)
		r.Round(t.Context(), now)
	}
	require.LessOrEqual(t, w.requests()["DescribeCluster"], 4, "after 20 s, 40 s, 80 s")
	cluster, known := source.Clusters.Known(id)
	require.True(t, known)
	require.Equal(t, types.ClusterStateStarting, cluster.State)
	require.Len(t, w.infos(t)[id], 1)
}

// Requests of all clusters together stay within their share of EMR's quota.
func TestRequestsAreLimited(t *testing.T) {
	w := newWorld(t)
	for range 6 {
		w.reports(t, w.cluster(t, "etl"))
	}
	r, _ := w.recorder(t)
	began := time.Now()
	r.Round(t.Context(), began)
	asked := w.requests()
	require.GreaterOrEqual(t, asked["DescribeCluster"], 4)
	require.LessOrEqual(t, asked["DescribeCluster"], 4+int(time.Since(began)/(4*time.Second)), "four at once, then one each 4 s")
	require.GreaterOrEqual(t, asked["ListBootstrapActions"], 4)
	require.LessOrEqual(t, asked["ListBootstrapActions"], asked["DescribeCluster"])
	require.GreaterOrEqual(t, len(w.infos(t)), 4)
	require.LessOrEqual(t, len(w.infos(t)), asked["DescribeCluster"])
}

// The stack's own clusters are read before they report, and where they never do.
func TestOwnClustersAreRead(t *testing.T) {
	w := newWorld(t)
	own := w.cluster(t, "emr-observatory-dev-etl", types.Command{Name: aws.String("ours"), Args: []string{"10.0.0.4", artifacts, "then"}},
		types.Command{Name: aws.String("of the user"), Args: []string{"of", "the", "user"}})
	w.tag(t, own, stack)
	namesake := w.cluster(t, "emr-observatory-dev-adhoc")
	w.tag(t, namesake, "prod")
	w.cluster(t, "of others")
	r, source := w.recorder(t)
	r.Round(t.Context(), time.Now())
	require.Empty(t, r.Problems())
	require.Empty(t, w.infos(t), "no data has these names")
	observed := source.Clusters.Observed()
	require.Len(t, observed, 1)
	require.Equal(t, own, observed[0].ID)
	require.True(t, observed[0].Own)
	require.Equal(t, "then", observed[0].BootstrapHash)

	w.end(t, own, "On the master instance, application provisioning failed")
	r.Round(t.Context(), time.Now().Add(2*time.Minute))
	observed = source.Clusters.Observed()
	require.Len(t, observed, 1)
	require.Equal(t, types.ClusterStateTerminatedWithErrors, observed[0].State)
	require.Equal(t, "On the master instance, application provisioning failed", observed[0].Reason)
}

// What the collector does not take is sent in the next round.
func TestCollectorThatRefuses(t *testing.T) {
	w := newWorld(t)
	id := w.cluster(t, "etl")
	w.reports(t, id)
	w.end(t, id, "a node failed")
	w.setDown(true)
	r, _ := w.recorder(t)
	now := time.Now().Add(time.Hour)
	r.Round(t.Context(), now)
	require.Contains(t, strings.Join(r.Problems(), "\n"), "send what EMR says of cluster "+id)
	w.setDown(false)
	r.Round(t.Context(), now.Add(recording.Interval))
	require.Empty(t, r.Problems())
	require.Equal(t, []string{"etl emr-7.13.0 TERMINATED_WITH_ERRORS"}, w.infos(t)[id])
}
