package cloud_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/submit"
)

// threeNodesMB is what YARN has of three nodes of the local cloud.
const threeNodesMB = 3 * 2048

// tenantsShare has one tenant's job take all that a cluster of the preset multi-tenant has,
// and another's begin beside it: YARN ends containers of the first until the second has its
// share.
func tenantsShare(t *testing.T, c *cloud) {
	testenv.RequireLong(t, "observe TestTenantsAreQueues renders the queues, and every preset is created in tests/schema")
	edits := []string{storeEdit, tagEdit} // of earlier parts, which stay
	c.up(t, append(edits, "clusters.shared.preset=multi-tenant", "clusters.shared.core.count=2", "clusters.shared.tasks.shared.count=1")...)
	stack := c.outputs(t)

	run := strconv.FormatInt(time.Now().UnixNano(), 36)
	flood := make(chan error, 1)
	go func() {
		_, _, err := c.try(t, "submit", "--wait", "--cluster", "shared", "--conf", "spark.yarn.queue=tenant-a",
			"--conf", "spark.dynamicAllocation.minExecutors=9", "--conf", "spark.task.maxFailures=100", "tests/cloud/testdata/waits.py", run)
		flood <- err
	}()
	const allocated = `max(last_over_time(queue_metrics_allocated_mb{cluster=%q,queue=~".*tenant-a"}[2m]))`
	testenv.Eventually(t, func() bool {
		found := c.query(t, fmt.Sprintf(allocated, stack.Clusters["shared"].ID))
		return len(found) == 1 && found[0].number(t) > 0.6*threeNodesMB
	}, testenv.Arrival, time.Second, "the first tenant has more than its 55 percent")
	out, log, err := c.try(t, "submit", "--wait", "--json", "--cluster", "shared", "--conf", "spark.yarn.queue=tenant-b",
		"--conf", "spark.dynamicAllocation.maxExecutors=1", "examples/jobs/orders.py",
		platform.PrefixLake.URI(stack.DataBucket)+"orders-of-b", "200000")
	c.endJob(t, run)
	require.NoErrorf(t, err, "%s\n%s", out, log)
	require.NoError(t, <-flood, "containers that YARN ends are no failures of a job")
	var r submit.Result
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.EqualValues(t, "COMPLETED", r.State)
	require.Len(t, r.Phases, 1)
	waited := r.Phases[0].Seconds[platform.PhaseResourceWait]
	require.LessOrEqual(t, waited, 90.0, "seconds that the second tenant waited for its share")
	t.Logf("the second tenant waited for %.0f s: %s", waited, r.Phases[0].Line)
	c.up(t, edits...)
}
