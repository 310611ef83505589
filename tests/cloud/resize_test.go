package cloud_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/submit"
)

// resizeGroups gives each of a cluster's groups of workers a count, as somebody at the
// console does.
const resizeGroups = `
import boto3, json, sys
emr, (cluster, count) = boto3.client("emr"), json.load(sys.stdin)
groups = [g for g in emr.list_instance_groups(ClusterId=cluster)["InstanceGroups"] if g["InstanceGroupType"] != "MASTER"]
emr.modify_instance_groups(ClusterId=cluster, InstanceGroups=[{"InstanceGroupId": g["Id"], "InstanceCount": count} for g in groups])
`

// awaitWorkers waits until a cluster has a number of core and task nodes.
const awaitWorkers = `
import boto3, json, sys, time
emr, (cluster, count) = boto3.client("emr"), json.load(sys.stdin)
while True:
    groups = [g for g in emr.list_instance_groups(ClusterId=cluster)["InstanceGroups"] if g["InstanceGroupType"] != "MASTER"]
    if sum(g["RunningInstanceCount"] for g in groups) == count and all(g["Status"]["State"] == "RUNNING" for g in groups):
        break
    time.sleep(0.5)
`

// awaitRequested waits up to ten minutes until a number of task nodes is requested.
const awaitRequested = `
import boto3, json, sys, time
emr, (cluster, count) = boto3.client("emr"), json.load(sys.stdin)
end = time.monotonic() + 600
while not any(g["InstanceGroupType"] == "TASK" and g["RequestedInstanceCount"] == count
              for g in emr.list_instance_groups(ClusterId=cluster)["InstanceGroups"]):
    assert time.monotonic() < end, f"nobody requested {count} task nodes"
    time.sleep(0.5)
`

// taskNodes prints how many task nodes of a cluster run.
const taskNodes = `
import boto3, sys
found = boto3.client("emr").list_instances(ClusterId=sys.stdin.read(), InstanceGroupTypes=["TASK"], InstanceStates=["RUNNING"])
print(len(found["Instances"]))
`

// nodesComeAndGo gives a second cluster a task group that the program makes larger and
// smaller while a job runs.
func nodesComeAndGo(t *testing.T, c *cloud) {
	testenv.RequireLong(t, "localcloud/emr TestClustersSideBySide resizes groups in a job")
	with := func(values ...string) []string {
		return append([]string{storeEdit, tagEdit, "clusters.adhoc.core.count=1", "clusters.adhoc.idleTimeoutMinutes=0"}, values...)
	}
	const count = "clusters.adhoc.tasks.spot.count="
	c.up(t, with(count+"1")...)
	cluster := c.outputs(t).Clusters["adhoc"].ID
	requireTaskNodes := func(n int) { require.Equal(t, strconv.Itoa(n), c.python(t, taskNodes, cluster)) }
	requireTaskNodes(1)

	run := strconv.FormatInt(time.Now().UnixNano(), 36)
	job := make(chan string, 1)
	go func() {
		out, log, err := c.try(t, "submit", "--wait", "--json", "--cluster", "adhoc",
			"--conf", "spark.dynamicAllocation.maxExecutors=3", "tests/cloud/testdata/waits.py", run)
		if err != nil {
			out = log
		}
		job <- out
	}()
	require.Equal(t, changes{updated: 1}, c.up(t, with(count+"3")...), "the group alone")
	requireTaskNodes(3)
	type outcome struct {
		out, log string
		err      error
	}
	shrunk := make(chan outcome, 1)
	go func() {
		out, log, err := c.try(t, upArgs(with(count+"1")...)...)
		shrunk <- outcome{out, log, err}
	}()
	// YARN lets containers on the leaving nodes go on for an hour: the group shrinks when
	// the job has ended, unless its executors are on other nodes.
	c.python(t, awaitRequested, fmt.Sprintf(`[%q, 1]`, cluster))
	c.endJob(t, run)
	up := <-shrunk
	require.NoError(t, up.err, up.out+up.log)
	require.Equal(t, changes{updated: 1}, changesIn(t, up.out))
	requireTaskNodes(1)
	var r submit.Result
	out := <-job
	require.NoError(t, json.Unmarshal([]byte(out), &r), out)
	require.EqualValues(t, "COMPLETED", r.State)

	if testenv.Long() { // tests/schema tries the rest in every run, without nodes
		c.resizedByHand(t, cluster, with, requireTaskNodes)
	}
	c.up(t, storeEdit, tagEdit)
}

// resizedByHand resizes a cluster's groups through EMR's API: an update takes it back,
// unless EMR scales the cluster.
func (c *cloud) resizedByHand(t *testing.T, cluster string, with func(...string) []string, requireTaskNodes func(int)) {
	t.Helper()
	const one = "clusters.adhoc.tasks.spot.count=1"
	input := func(nodes int) string { return fmt.Sprintf(`[%q, %d]`, cluster, nodes) }
	refresh := func() { c.run(t, "pulumi", "--", "refresh", "--yes", "--skip-preview") }
	c.python(t, resizeGroups, input(2))
	c.python(t, awaitWorkers, input(4))
	refresh()
	require.Equal(t, changes{updated: 2}, c.up(t, with(one)...), "core and task group")
	requireTaskNodes(1)

	scaled := with(one, "clusters.adhoc.managedScaling.min=4", "clusters.adhoc.managedScaling.max=4")
	c.up(t, scaled...)
	c.python(t, awaitWorkers, input(4))
	refresh()
	require.Equal(t, changes{}, c.up(t, scaled...), "EMR owns the counts")
	c.python(t, awaitWorkers, input(4))
}
