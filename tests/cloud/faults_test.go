package cloud_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/artifacts"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
	"github.com/emr-observatory/emr-observatory/submit"
)

// failingStep submits a job that fails and requires its error in the result.
func failingStep(t *testing.T, c *cloud) {
	file := filepath.Join(t.TempDir(), "broken.py")
	require.NoError(t, os.WriteFile(file, []byte("raise SystemExit('no such table: orders')\n"), 0o600))
	out, problems, err := c.try(t, "submit", "--wait", "--json", file)
	require.Error(t, err)
	var r submit.Result
	require.NoErrorf(t, json.Unmarshal([]byte(out), &r), "%s%s", out, problems)
	require.EqualValues(t, "FAILED", r.State)
	require.True(t, slices.ContainsFunc(r.Failure.Logs, func(l submit.Log) bool {
		return slices.Contains(l.Tail, "no such table: orders")
	}), "%v", r.Failure.Logs)
}

// brokenParts truncates the artifacts in S3, boots a new cluster from them, and
// runs a job on it. TestBootstrapContinuesWithoutAPart covers each part and fault.
func brokenParts(t *testing.T, c *cloud) {
	testenv.RequireLong(t, "assets/node TestBootstrapContinuesWithoutAPart breaks each part in each way")
	stack := c.outputs(t)
	locked, err := artifacts.LockedFor(artifacts.Development, []string{runtime.GOARCH})
	require.NoError(t, err)
	broken := []platform.NodeComponent{platform.ComponentCollector, platform.ComponentProfiler, platform.ComponentPlugin,
		platform.ComponentConnect}
	for _, a := range locked {
		if a.Name == platform.ArtifactLauncher {
			continue // it is embedded in the bootstrap script
		}
		key := platform.ArtifactKey(a.SHA256, a.Name)
		_, err = c.objects(t).PutObject(t.Context(), &s3.PutObjectInput{
			Bucket: &stack.DataBucket, Key: &key, Body: strings.NewReader("PK\x03\x04 cut short"),
		})
		require.NoError(t, err)
	}
	// The earlier edits stay: reverting the tag would upload the artifacts again.
	c.up(t, storeEdit, tagEdit, "clusters.main.releaseLabel=emr-7.9.0")
	now := c.outputs(t).Clusters["main"].ID
	require.NotEqual(t, stack.Clusters["main"].ID, now, "a new release label replaces the cluster")
	job := filepath.Join(c.project, "examples/jobs/orders.py")
	require.Contains(t, c.run(t, "submit", "--wait", job, platform.PrefixLake.URI(stack.DataBucket)+"orders", "200000"), "COMPLETED")
	// A metric, a log line and a row of /status report what failed, although the node
	// runs no collector of its own.
	for _, component := range broken {
		missing := c.query(t, fmt.Sprintf(`last_over_time(%s{%s=%q,%s=%q}[1h]) == 0`, platform.MetricBootstrapUp,
			platform.Cluster.Metric(), now, platform.BootstrapComponent.Metric(), component))
		require.Lenf(t, missing, 3, "%s of each node", component)
		rows := c.logs(t, fmt.Sprintf(`"service.name":=%q "cluster":=%q "%s not installed"`, platform.ServiceBootstrap, now, component), 10)
		hosts := map[string]bool{} // a record whose answer is late is sent again
		for _, row := range rows {
			hosts[row[string(platform.HostName)]] = true
			require.Contains(t, row["_msg"], "sha256 of s3://"+stack.DataBucket)
		}
		require.Len(t, hosts, 3)
	}
	st := c.status(t)
	require.True(t, slices.ContainsFunc(st.Clusters, func(found status.Cluster) bool {
		return found.ID == now && found.Nodes[platform.RoleMaster] == 1 && found.Nodes[platform.RoleCore] == 2
	}), "%+v", st.Clusters)
	rows := 0
	for _, b := range st.Bootstrap {
		if b.Cluster == now {
			rows++
			require.Equal(t, status.BootstrapPartial, b.Result)
			require.ElementsMatch(t, broken, b.Failed)
		}
	}
	require.Equal(t, 3, rows)
}

// killedCloud kills the region as a power cut does; up restores all of it.
func killedCloud(t *testing.T, c *cloud) {
	testenv.RequireLong(t, "internal/engine kills the program inside an update, and the next part replaces the control node")
	series := len(c.query(t, `last_over_time(system_cpu_logical_count[6h])`))
	require.NoError(t, syscall.Kill(c.running(t).PID, syscall.SIGKILL))
	c.up(t)
	require.Equal(t, changes{}, c.up(t))
	require.GreaterOrEqual(t, len(c.query(t, `last_over_time(system_cpu_logical_count[6h])`)), series, "metrics from before the kill")
	require.Len(t, c.coreHosts(t), 2)
}
