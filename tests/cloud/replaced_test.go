package cloud_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
)

// jobSurvivesReplacedNeighbour replaces one cluster of the stack while a job runs on
// another. The job loses nothing, and its cluster stays as it is.
func jobSurvivesReplacedNeighbour(t *testing.T, c *cloud) {
	const shape, kept = "clusters.adhoc.core.count=0", "clusters.adhoc.idleTimeoutMinutes=0"
	c.up(t, shape, kept)
	before := c.outputs(t).Clusters
	run := strconv.FormatInt(time.Now().UnixNano(), 36)
	result := c.duringMarkers(t, run, func() {
		c.up(t, shape, kept, "clusters.adhoc.releaseLabel=emr-7.9.0")
		replacedAt := c.lastMarker(t, run)
		testenv.Eventually(t, func() bool { return c.lastMarker(t, run) > replacedAt }, testenv.Arrival, time.Second, "the job continues")
	})
	after := c.outputs(t).Clusters
	require.Equal(t, before["main"], after["main"])
	require.NotEqual(t, before["adhoc"].ID, after["adhoc"].ID, "the neighbour was replaced")
	require.Equal(t, before["main"].ID, result.Cluster)

	written := c.writtenMarkers(t, run, result)
	for _, signal := range signals() {
		testenv.Eventually(t, func() bool {
			stored := c.storedMarkers(t, signal, run)
			return !slices.ContainsFunc(written, func(m marker) bool { return stored[m] == 0 })
		}, testenv.Arrival, time.Second, "all %s of %d markers", signal, len(written))
	}
	t.Logf("lost 0 of %d markers", len(written))
	c.up(t)
	require.NotContains(t, c.outputs(t).Clusters, "adhoc")
}
