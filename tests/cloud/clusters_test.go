package cloud_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/localcloud"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
	"github.com/emr-observatory/emr-observatory/submit"
)

// foreignCluster starts a cluster as another team's script does: from the stack's output
// observe, with the names of the stack's own cluster only where the local cloud has no
// API to make others (IAM, security groups).
const foreignCluster = `
import boto3, json, sys
emr, stack = boto3.client("emr"), json.load(sys.stdin)
observe, main = stack["observe"], emr.describe_cluster(ClusterId=stack["clusters"]["main"]["id"])["Cluster"]
groups = {"AdditionalMasterSecurityGroups": [observe["securityGroupId"]], "AdditionalSlaveSecurityGroups": [observe["securityGroupId"]]}
id = emr.run_job_flow(
    Name="airflow-nightly", ReleaseLabel=main["ReleaseLabel"], Applications=[{"Name": "Hadoop"}, {"Name": "Spark"}],
    ServiceRole=main["ServiceRole"], JobFlowRole=main["Ec2InstanceAttributes"]["IamInstanceProfile"],
    LogUri=main["LogUri"].replace("emr-logs/main/", "lake/logs-of-airflow/"), Configurations=observe["configurations"],
    BootstrapActions=[{"Name": "observatory", "ScriptBootstrapAction": {
        "Path": observe["bootstrap"]["path"], "Args": observe["bootstrap"]["args"]}}],
    Instances={
        "InstanceGroups": [
            {"InstanceRole": "MASTER", "InstanceType": "m5.xlarge", "InstanceCount": 1},
            {"InstanceRole": "CORE", "InstanceType": "m5.xlarge", "InstanceCount": 1},
        ],
        "Ec2SubnetId": stack["network"]["subnetIds"][0], "KeepJobFlowAliveWhenNoSteps": True, **groups,
    },
)["JobFlowId"]
emr.get_waiter("cluster_running").wait(ClusterId=id, WaiterConfig={"Delay": 2, "MaxAttempts": 300})
print(id)
`

// python runs a script with boto3 against the cloud's AWS APIs.
func (c *cloud) python(t *testing.T, script, input string) string {
	t.Helper()
	python := os.Getenv("OBSERVATORY_PYTHON")
	testenv.Require(t, python != "", "OBSERVATORY_PYTHON is not set: `make test` sets it to a Python with boto3")
	secret, err := localcloud.LoadCredentials(c.state)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), python, "-c", script)
	cmd.Env, cmd.Stdin = os.Environ(), strings.NewReader(input)
	for k, v := range c.running(t).Environment(secret) {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	out, err := cmd.CombinedOutput()
	require.NoErrorf(t, err, "%s", out)
	return strings.TrimSpace(string(out))
}

// clustersSideBySide brings up a second cluster of the stack and one that boto3 starts,
// and runs a job on each of the three at once.
func clustersSideBySide(t *testing.T, c *cloud) {
	before := c.outputs(t)
	edits := []string{storeEdit, tagEdit} // of earlier parts, which stay
	c.up(t, append(edits, "clusters.adhoc.core.count=1", "clusters.adhoc.idleTimeoutMinutes=0")...)
	stack := c.outputs(t)
	require.Equal(t, before.Clusters["main"], stack.Clusters["main"], "another cluster is its neighbour's own affair")
	plain, err := json.Marshal(stack)
	require.NoError(t, err)
	foreign := c.python(t, foreignCluster, string(plain))
	require.Regexp(t, `^j-\w+$`, foreign)
	names := map[string]string{
		stack.Clusters["main"].ID: "emr-observatory-local-main", stack.Clusters["adhoc"].ID: "emr-observatory-local-adhoc",
		foreign: "airflow-nightly",
	}
	require.Len(t, names, 3)

	applications := c.jobOnEach(t, map[string]string{stack.Clusters["main"].ID: "main", stack.Clusters["adhoc"].ID: "adhoc", foreign: foreign})
	for application, cluster := range applications {
		series := c.query(t, fmt.Sprintf(`count by (cluster) (last_over_time({spark_app_id=%q}[15m]))`, application))
		require.Lenf(t, series, 1, "a signal of %s is under another cluster's id", application)
		require.Equal(t, cluster, series[0].Metric[platform.Cluster.Metric()])
		for _, row := range c.logs(t, fmt.Sprintf(`%q:=%q`, platform.SparkAppID, application), 100) {
			require.Equal(t, cluster, row[string(platform.Cluster)])
		}
	}
	require.Eventually(t, func() bool { // the control node reads the clusters in the background
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
	}, 3*time.Minute, time.Second, "dashboards choose clusters by name")
	listed := c.status(t).Clusters
	for id, name := range names {
		i := slices.IndexFunc(listed, func(s status.Cluster) bool { return s.ID == id })
		require.NotEqual(t, -1, i, "%s is not on the page", name)
		require.Equal(t, name, listed[i].Name)
		require.Equal(t, status.BootstrapCurrent, listed[i].Bootstrap, name)
	}

	c.python(t, `import boto3, sys; boto3.client("emr").terminate_job_flows(JobFlowIds=[sys.stdin.read()])`, foreign)
	c.up(t, edits...)
	require.Equal(t, before.Clusters, c.outputs(t).Clusters)
}

// jobOnEach runs the example job on clusters at the same time and returns the cluster of
// each application. names are what submit takes, by cluster id.
func (c *cloud) jobOnEach(t *testing.T, names map[string]string) map[string]string {
	t.Helper()
	type ended struct {
		cluster, out, log string
		err               error
	}
	jobs := make(chan ended)
	lake := platform.PrefixLake.URI(c.outputs(t).DataBucket)
	for id, name := range names {
		go func() {
			out, log, err := c.try(t, "submit", "--wait", "--json", "--cluster", name, "examples/jobs/orders.py", lake+"orders-of-"+id)
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
