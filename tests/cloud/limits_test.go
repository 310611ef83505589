package cloud_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
)

// limitsAreOfClusters finds that the relay knows which cluster each sender belongs to, which only the
// nodes' own addresses tell, and that no job of the suite has reached a limit.
func limitsAreOfClusters(t *testing.T, c *cloud) {
	main := c.outputs(t).Clusters["main"].ID
	used := fmt.Sprintf("%s{%s=%q,%s=%q} > 0", platform.MetricLimitUsed, platform.Cluster.Metric(), main,
		platform.LimitSignal, platform.SignalMetrics)
	testenv.Eventually(t, func() bool { return len(c.query(t, used)) == 1 }, testenv.Arrival, time.Second, used)
	// Its nodes have no shares of their own any more.
	own := fmt.Sprintf(`%s{%s=~"10[.]0[.].*"}`, platform.MetricLimitUsed, platform.LimitSender)
	testenv.Eventually(t, func() bool { return len(c.query(t, own)) == 0 }, testenv.Arrival, time.Second, own)
	t.Logf("used parts of limits: %v", c.query(t, platform.MetricLimitUsed+" > 0"))
	require.Empty(t, c.query(t, platform.MetricOverLimit+" > 0"))
}

// floodIsRefused lowers a limit and floods in a job, under the name of another cluster. The node's cluster
// is refused what is beyond its limit, and people are told.
func floodIsRefused(t *testing.T, c *cloud) {
	testenv.RequireLong(t, "assets/workloads TestAFloodCostsNobodyElse floods the same servers")
	const limit, sent = 200, 1000
	stack := c.outputs(t)
	require.Equal(t, changes{updated: 1}, c.up(t, fmt.Sprintf("limits.profilesPerHour=%d", limit)))
	target := fmt.Sprintf("http://%s:%d%s?", stack.ControlPrivateIP, platform.Pyroscope, platform.ProfileIngestPath) + url.Values{
		"name": {`flood{cluster="j-OTHERS"}`}, "format": {"groups"}, "sampleRate": {"100"},
		"from": {fmt.Sprint(time.Now().Unix() - 10)}, "until": {fmt.Sprint(time.Now().Unix())},
	}.Encode()
	// Its own JVMs send a few, too, and a share grows by the minute.
	out := c.run(t, "submit", "--wait", "--name", "flood", "tests/cloud/testdata/flood.py", target, fmt.Sprint(sent), fmt.Sprint(sent-2*limit))
	require.Contains(t, out, "COMPLETED")

	main := stack.Clusters["main"].ID
	over := fmt.Sprintf("%s{%s=%q,%s=%q} > %d", platform.MetricOverLimit, platform.Cluster.Metric(), main, platform.LimitSignal,
		platform.SignalProfiles, sent-2*limit)
	testenv.Eventually(t, func() bool { return len(c.query(t, over)) == 1 }, testenv.Arrival, time.Second, over)
	require.Empty(t, c.query(t, platform.MetricOverLimit+`{cluster="j-OTHERS"}`))
	said := fmt.Sprintf("(%s) sends more than limits.profilesPerHour allows: ", main)
	testenv.Eventually(t, func() bool {
		return strings.Contains(strings.Join(c.status(t).Problems, "\n"), said)
	}, testenv.Arrival, time.Second, "the status page names the cluster and the limit")
}
