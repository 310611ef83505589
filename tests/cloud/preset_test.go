package cloud_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/submit"
)

// shrunkLake is the preset data-lake as far as this machine has room: a node of each group,
// no metastore of AWS's, and an end.
func shrunkLake() []string {
	return []string{
		"clusters.lake.preset=data-lake", "clusters.lake.core.count=1", "clusters.lake.tasks.batch.count=1",
		"clusters.lake.tasks.batch.autoScaling.min=1", "clusters.lake.tasks.batch.autoScaling.max=2", "clusters.lake.tasks.streaming.count=1",
		"clusters.lake.glueCatalog=false", "clusters.lake.terminationProtection=false",
	}
}

// labelled prints the property by which a cluster keeps application masters on demand, and
// the markets of its task nodes.
const labelled = `
import boto3, json, sys
emr, cluster = boto3.client("emr"), sys.stdin.read()
site = [c["Properties"] for c in emr.describe_cluster(ClusterId=cluster)["Cluster"]["Configurations"] if c["Classification"] == "yarn-site"]
tasks = emr.list_instances(ClusterId=cluster, InstanceGroupTypes=["TASK"], InstanceStates=["RUNNING"])["Instances"]
print(json.dumps([site[0]["yarn.node-labels.am.default-node-label-expression"]] + sorted(i["Market"] for i in tasks)))
`

// presetRuns brings up a cluster of a preset beside the stack's own, with a schedule, runs a job on it, whose
// phases are told as any job's, and removes it.
func presetRuns(t *testing.T, c *cloud) {
	before := c.outputs(t)
	edits := []string{storeEdit, tagEdit} // of earlier parts, which stay
	c.up(t, slices.Concat(edits, shrunkLake(), everyMinute())...)
	stack := c.outputs(t)
	require.Equal(t, before.Clusters["main"], stack.Clusters["main"])
	lake := stack.Clusters["lake"]
	require.JSONEq(t, `["ON_DEMAND","ON_DEMAND","SPOT"]`, c.python(t, labelled, lake.ID))

	out, log, err := c.try(t, "submit", "--wait", "--json", "--cluster", "lake", "--conf", "spark.dynamicAllocation.maxExecutors=2",
		"examples/jobs/orders.py", platform.PrefixLake.URI(stack.DataBucket)+"orders-of-a-preset", "200000")
	require.NoErrorf(t, err, "%s\n%s", out, log)
	var r submit.Result
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.EqualValues(t, "COMPLETED", r.State)
	require.Len(t, r.Phases, 1, log)
	require.Positive(t, stack.Cost.Clusters["lake"].Hour.Typical)
	c.requireEveryPartition(t, lake.ID)
	c.scheduleRuns(t, lake.ID)

	c.up(t, edits...)
	require.Equal(t, before.Clusters, c.outputs(t).Clusters)
}

// presetOfKind is a preset, what shrinks it to this machine, and the work that it is for.
type presetOfKind struct {
	name   string
	shrunk []string // below the cluster's key
	kind   string   // of testdata/kinds.py
	has    []string // properties that only the preset sets
}

// onSmallNodes are the sizes of a driver and executors that the local cloud's nodes hold.
func onSmallNodes(more ...string) []string {
	return append([]string{`sparkDefaults["spark.driver.memory"]=600m`, `sparkDefaults["spark.executor.memory"]=600m`}, more...)
}

// kindsOfPresets are those presets that no other part runs, in groups that this machine's memory
// holds at once.
func kindsOfPresets() [][]presetOfKind {
	return [][]presetOfKind{
		{
			{"development", nil, "batch", nil},
			{"memory-optimized", onSmallNodes("core.count=1"), "cache", []string{
				"spark.sql.adaptive.advisoryPartitionSizeInBytes=268435456", "spark.driver.maxResultSize=8g",
			}},
			{"io-optimized", []string{"core.count=1"}, "sort", []string{
				"dfs.datanode.handler.count=100", "dfs.namenode.handler.count=100",
			}},
		}, {
			{"streaming", []string{
				"core.count=1", "tasks.streams.count=1", "tasks.streams.autoScaling.min=1", "tasks.streams.autoScaling.max=2",
			}, "stream", []string{
				"spark.serializer=org.apache.spark.serializer.KryoSerializer", "spark.streaming.backpressure.enabled=true",
			}},
			{"interactive", []string{"core.count=1", "glueCatalog=false"}, "sql", nil},
		},
	}
}

// presetsRunTheirKind brings up a cluster of each preset that no other part runs, and a job of the
// preset's kind on it, which has what the preset sets.
func presetsRunTheirKind(t *testing.T, c *cloud) {
	testenv.RequireLong(t, "tests/schema creates every preset, and localcloud/hadoop reads their files back")
	edits := []string{storeEdit, tagEdit} // of earlier parts, which stay
	for _, group := range kindsOfPresets() {
		config := edits
		for _, p := range group {
			config = append(config, "clusters."+p.name+".preset="+p.name)
			for _, line := range p.shrunk {
				config = append(config, "clusters."+p.name+"."+line)
			}
		}
		c.up(t, config...)
		stack := c.outputs(t)
		for _, p := range group {
			// Nodes have four virtual cores: executors of eight would fit none.
			args := append([]string{"submit", "--wait", "--json", "--cluster", p.name, "--conf", "spark.dynamicAllocation.maxExecutors=2",
				"--conf", "spark.executor.cores=1", "tests/cloud/testdata/kinds.py", p.kind,
				platform.PrefixLake.URI(stack.DataBucket) + "kinds-" + p.name}, p.has...)
			out, log, err := c.try(t, args...)
			require.NoErrorf(t, err, "%s: %s\n%s", p.name, out, log)
			var r submit.Result
			require.NoError(t, json.Unmarshal([]byte(out), &r), p.name)
			require.EqualValues(t, "COMPLETED", r.State, p.name)
			require.Len(t, r.Phases, 1, "%s: %s", p.name, log)
			t.Logf("%s: %s", p.name, r.Phases[0].Line)
		}
	}
	c.up(t, edits...)
}

// requireEveryPartition requires that the root queue's memory is that of all nodes, with a label
// and without.
func (c *cloud) requireEveryPartition(t *testing.T, cluster string) {
	t.Helper()
	of := func(metric string) string { return fmt.Sprintf(`sum(%s{queue="root",cluster=%q})`, metric, cluster) }
	whole := fmt.Sprintf(`sum(cluster_metrics_capability_mb{cluster=%q})`, cluster)
	sum := of("queue_metrics_available_mb") + " + " + of("queue_metrics_allocated_mb") + " == " + whole
	const partitions = `count(count by (partition) (queue_metrics_available_mb{queue="root",cluster=%q})) > 1`
	err := testenv.Poll(t.Context(), testenv.Cloud, time.Second, func(ctx context.Context) error {
		for _, expr := range []string{sum, fmt.Sprintf(partitions, cluster)} {
			found, err := c.tryQuery(ctx, t, expr)
			if err != nil || len(found) == 0 {
				return fmt.Errorf("%s holds for no time: %w", expr, errors.Join(err, errors.New("no series")))
			}
		}
		return nil
	})
	require.NoError(t, err)
}
