package cloud_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/dashboards/check"
	"github.com/emr-observatory/emr-observatory/internal/processes"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
	"github.com/emr-observatory/emr-observatory/submit"
)

// python runs a script with boto3 against the cloud's AWS APIs.
func (c *cloud) python(t *testing.T, script, input string) string {
	t.Helper()
	python := os.Getenv("OBSERVATORY_PYTHON")
	testenv.Require(t, python != "", "OBSERVATORY_PYTHON is not set: `make test` sets it to a Python with boto3")
	cmd := exec.CommandContext(t.Context(), python, "-c", script)
	cmd.Env, cmd.Stdin = c.environment(t), strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	require.NoErrorf(t, err, "%s", out)
	return strings.TrimSpace(string(out))
}

// clustersSideBySide brings up a second cluster of the stack, of one node, and one that boto3 starts,
// and runs a job on each of the three at once.
func clustersSideBySide(t *testing.T, c *cloud, past history) {
	testenv.RequireLong(t, "localcloud/emr runs two clusters side by side, and profiler/run reads many")
	before := c.outputs(t)
	edits := []string{storeEdit, tagEdit} // of earlier parts, which stay
	c.up(t, append(edits, "clusters.adhoc.core.count=0", "clusters.adhoc.idleTimeoutMinutes=0")...)
	stack := c.outputs(t)
	require.Equal(t, before.Clusters["main"], stack.Clusters["main"], "another cluster is its neighbour's own affair")
	plain, err := json.Marshal(stack)
	require.NoError(t, err)
	c.python(t, teamsRoles, string(plain))
	c.lackingClusterIsNamed(t, string(plain), stack.Observe.SecurityGroupID)
	foreign := c.python(t, foreignCluster, string(plain))
	require.Regexp(t, `^j-\w+$`, foreign)
	require.Contains(t, c.run(t, "observe", "check", foreign), "nothing is missing")
	names := map[string]string{
		stack.Clusters["main"].ID: "emr-observatory-local-main", stack.Clusters["adhoc"].ID: "emr-observatory-local-adhoc",
		foreign: "airflow-nightly",
	}
	require.Len(t, names, 3)

	memory := c.peakMemory(t)
	applications := c.jobOnEach(t, map[string]string{stack.Clusters["main"].ID: "main", stack.Clusters["adhoc"].ID: "adhoc", foreign: foreign})
	require.LessOrEqual(t, memory(), 12.0, "GiB of all processes of the local cloud")
	for application, cluster := range applications {
		c.signalsAreUnder(t, application, cluster)
	}
	hosts := map[string]string{}
	ids := strings.Join(slices.Collect(maps.Keys(names)), "|")
	for _, s := range c.query(t, fmt.Sprintf(`count by (cluster,host_name) (last_over_time({node_role=~"%s|%s",cluster=~%q}[15m]))`,
		platform.RoleMaster, platform.RoleCore, ids)) {
		host, cluster := s.Metric[platform.HostName.Metric()], s.Metric[platform.Cluster.Metric()]
		require.Emptyf(t, hosts[host], "series of host %s are under %s, too", host, cluster)
		hosts[host] = cluster
	}
	require.GreaterOrEqual(t, len(hosts), 2*len(names)-1, "the second cluster of the stack has one node")
	testenv.Eventually(t, func() bool { // the control node reads the clusters in the background
		found := map[string]string{}
		for _, s := range c.query(t, "last_over_time(observatory_cluster_info[15m])") {
			found[s.Metric["cluster"]] = s.Metric["cluster_name"]
		}
		for id, name := range names {
			if found[id] != name {
				return false
			}
		}
		return true
	}, testenv.Start, time.Second, "dashboards choose clusters by name")
	if testenv.Long() {
		c.panelsShowEach(t, names)
		past.runKinds(t, "adhoc")
		past.runCompacted(t, foreign)
	}
	listed := c.status(t).Clusters
	for id, name := range names {
		i := slices.IndexFunc(listed, func(s status.Cluster) bool { return s.ID == id })
		require.NotEqual(t, -1, i, "%s is not on the page", name)
		require.Equal(t, name, listed[i].Name)
		require.Equal(t, status.BootstrapCurrent, listed[i].Bootstrap, name)
	}

	used, err := json.Marshal([]string{foreign, stack.Observe.NodePolicyARN})
	require.NoError(t, err)
	c.python(t, foreignEnd, string(used))
	c.up(t, edits...)
	require.Equal(t, before.Clusters, c.outputs(t).Clusters)
}

// signalsAreUnder requires series, lines, profiles and spans of an application, all of
// them with the id of its cluster.
func (c *cloud) signalsAreUnder(t *testing.T, application, cluster string) {
	t.Helper()
	only := []string{cluster}
	series := c.query(t, fmt.Sprintf(`count by (cluster) (last_over_time({spark_app_id=%q}[15m]))`, application))
	require.Lenf(t, series, 1, "a signal of %s is under another cluster's id", application)
	require.Equal(t, cluster, series[0].Metric[platform.Cluster.Metric()])
	for _, row := range c.logs(t, fmt.Sprintf(`%q:=%q`, platform.SparkAppID, application), 100) {
		require.Equal(t, cluster, row[string(platform.Cluster)])
	}
	var profiled []string
	for _, labels := range c.profileSeries(t, platform.Cluster, platform.SparkAppID) {
		if labels[platform.SparkAppID.Metric()] == application {
			profiled = append(profiled, labels[platform.Cluster.Metric()])
		}
	}
	require.Equal(t, only, profiled, "clusters of the profiles of %s", application)
	of := fmt.Sprintf(`{ resource.%s = %q`, platform.SparkAppID, application)
	id := fmt.Sprintf(`resource.%s = %q }`, platform.Cluster, cluster)
	testenv.Eventually(t, func() bool { return len(c.traces(t, of+" && "+id)) > 0 }, testenv.Arrival, time.Second, "spans of %s", application)
	require.Empty(t, c.traces(t, of+" && !("+strings.TrimSuffix(id, " }")+") }"), "spans of %s are under another cluster's id", application)
}

// lackingClusterIsNamed starts a cluster whose role lacks the policy and whose core nodes
// lack the group. EMR ends it, and `observe check` names what the local cloud can say.
func (c *cloud) lackingClusterIsNamed(t *testing.T, stack, group string) {
	t.Helper()
	printed := c.run(t, "observe", "print", "--for", "cli")
	require.Contains(t, printed, group)
	require.Contains(t, printed, "aws iam attach-role-policy")

	said := c.python(t, lackingCluster, stack)
	id, how, _ := strings.Cut(said, " ")
	require.Regexp(t, `^TERMINATED_WITH_ERRORS BOOTSTRAP_FAILURE BOOTSTRAP_FAILURE: On the primary instance \(i-\w+\), bootstrap action 1 `+
		`\(observatory\) could not be downloaded: .*AccessDenied.* BOOTSTRAP_FAILURE_BA_DOWNLOAD_FAILED_PRIMARY$`, how)
	out, problems, err := c.try(t, "observe", "check", id)
	require.Error(t, err, out)
	require.Contains(t, out, "security group of core and task nodes\n", problems)
	require.Contains(t, out, "add "+group+" to AdditionalSlaveSecurityGroups")
	require.Contains(t, out, "role of the nodes: not examined")
	require.Equal(t, 1, strings.Count(out, "remedy:"), "nothing else is missing: %s", out)
}

// peakMemory begins to sample the memory of the local cloud's processes. The function
// that it returns ends that, and returns the peak in GiB.
func (c *cloud) peakMemory(t *testing.T) func() float64 {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	peak := make(chan float64)
	go func() {
		most := 0.0
		for ctx.Err() == nil {
			if found, err := processes.Of(c.state); err == nil {
				most = max(most, processes.Total(processes.Memory(found))/1024)
			}
			select {
			case <-ctx.Done():
			case <-time.After(2 * time.Second): // reading the memory maps costs CPU time
			}
		}
		peak <- most
	}()
	return func() float64 {
		stop()
		most := <-peak
		require.Positive(t, most)
		t.Logf("memory: %.1f GiB", most)
		return most
	}
}

// panelsShowEach checks the dashboards with each of the clusters selected by its name.
func (c *cloud) panelsShowEach(t *testing.T, names map[string]string) {
	t.Helper()
	for _, name := range names {
		out, problems, err := c.try(t, "dashboards", "check", "--json", "--cluster", name)
		require.NoErrorf(t, err, "%s: %s", name, problems)
		var r check.Report
		require.NoError(t, json.Unmarshal([]byte(out), &r))
		require.Greater(t, r.Panels, 40)
	}
}

// jobOnEach runs the same job on clusters at the same time and returns the cluster of
// each application: the example job, or the one that fills each panel, which takes three
// minutes longer. names are what submit takes, by cluster id.
func (c *cloud) jobOnEach(t *testing.T, names map[string]string) map[string]string {
	t.Helper()
	type ended struct {
		cluster, out, log string
		err               error
	}
	jobs := make(chan ended)
	lake := platform.PrefixLake.URI(c.outputs(t).DataBucket)
	for id, name := range names {
		args := []string{"--cluster", name, "--conf", "spark.dynamicAllocation.maxExecutors=1",
			"examples/jobs/orders.py", lake + "orders-of-" + id, "200000"}
		if testenv.Long() {
			args = slices.Concat([]string{"--cluster", name}, fillsPanels(lake+"panels-of-"+id))
		}
		go func() {
			out, log, err := c.try(t, append([]string{"submit", "--wait", "--json"}, args...)...)
			jobs <- ended{id, out, log, err}
		}()
	}
	applications := map[string]string{}
	for range names {
		job := <-jobs
		require.NoErrorf(t, job.err, "%s\n%s", job.out, job.log)
		var r submit.Result
		require.NoError(t, json.Unmarshal([]byte(job.out), &r))
		require.EqualValues(t, "COMPLETED", r.State)
		require.NotEmpty(t, r.Phases, job.log)
		for _, p := range r.Phases {
			applications[p.ApplicationID] = job.cluster
		}
	}
	require.Len(t, applications, len(names))
	return applications
}
