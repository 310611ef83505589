package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/artifacts"
	"github.com/emr-observatory/emr-observatory/dashboards/check"
	"github.com/emr-observatory/emr-observatory/localcloud"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
	"github.com/emr-observatory/emr-observatory/submit"
)

// TestLife is the platform's whole life on one machine, as a person has it:
// the real engine, EMR nodes, Spark and telemetry servers, driven by the
// program's own commands. Each part stands on the one before it.
func TestLife(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: brings up the whole local cloud, some ten minutes")
	}
	t.Parallel() // beside TestKilledCommands: either waits most of its time
	c := newCloud(t)
	var trace string
	parts := []struct {
		name string
		run  func(*testing.T)
	}{
		{"up runs the job", func(t *testing.T) { trace = upRunsTheJob(t, c) }},
		{"every query of the dashboards has data", func(t *testing.T) { everyQueryHasData(t, c) }},
		{"core nodes tell of themselves", func(t *testing.T) { coreNodesDiffer(t, c) }},
		{"every signal says where it is from", func(t *testing.T) { signalsAreLabelled(t, c, trace) }},
		{"no secret stands in clear", func(t *testing.T) { noSecretInClear(t, c) }},
		{"S3 has what the job left", func(t *testing.T) { objectsUnderEachPath(t, c) }},
		{"boto3 reads the cluster and the step", func(t *testing.T) { boto3Reads(t, c) }},
		{"a second up changes nothing", func(t *testing.T) {
			require.Equal(t, changes{}, c.up(t))
		}},
		{"up tells programs its result", func(t *testing.T) { upInJSON(t, c) }},
		{"an edit of a store's configuration restarts that store", func(t *testing.T) { editRestartsOne(t, c) }},
		{"traces and profiles come back from S3", func(t *testing.T) { readBackFromS3(t, c, trace) }},
		{"an edit of a tag restarts nothing", func(t *testing.T) { editRestartsNothing(t, c) }},
		{"a failing step says why", func(t *testing.T) { failingStep(t, c) }},
		{"broken parts do not stop a job", func(t *testing.T) { brokenParts(t, c) }},
		{"a killed cloud comes up again", func(t *testing.T) { killedCloud(t, c) }},
		{"down leaves nothing", func(t *testing.T) { downLeavesNothing(t, c) }},
	}
	for _, p := range parts {
		if !t.Run(p.name, p.run) {
			return
		}
	}
}

func upRunsTheJob(t *testing.T, c *cloud) string {
	var out string
	c.watched(t, func() { out = c.run(t, "up") })
	t.Log(out)
	require.Contains(t, out, "job orders.py: COMPLETED")
	m := regexp.MustCompile(`trace ([0-9a-f]{32})`).FindStringSubmatch(out)
	require.NotNil(t, m, out)
	return m[1]
}

func (c *cloud) check(t *testing.T) check.Report {
	t.Helper()
	out, problems, err := c.try(t, "dashboards", "check", "--json")
	require.NoErrorf(t, err, "%s", problems)
	var r check.Report
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	return r
}

func everyQueryHasData(t *testing.T, c *cloud) {
	r := c.check(t)
	require.Zero(t, r.Empty)
	require.Zero(t, r.Errors)
	require.Greater(t, r.Panels, 40)
}

// coreHosts are the core nodes that /status knows of the stack's cluster.
func (c *cloud) coreHosts(t *testing.T) []string {
	t.Helper()
	cluster := c.outputs(t).EMRClusterID
	var hosts []string
	for _, n := range c.status(t).Nodes {
		if n.Role == platform.RoleCore && n.Cluster == cluster {
			hosts = append(hosts, n.Host)
		}
	}
	slices.Sort(hosts)
	return hosts
}

func (c *cloud) status(t *testing.T) status.Status {
	t.Helper()
	var st status.Status
	c.get(t, string(platform.WorkloadStatus), "/status", &st)
	return st
}

func coreNodesDiffer(t *testing.T, c *cloud) {
	hosts := c.coreHosts(t)
	require.Len(t, hosts, 2)
	byHost := regexp.MustCompile(`by \([^)]*` + platform.HostName.Metric() + `[^)]*\)`)
	seen := 0
	for _, r := range c.check(t).Results {
		if r.Datasource != "prometheus" || r.Selection != check.SelectionAll || !byHost.MatchString(r.Expr) {
			continue
		}
		found := map[string]bool{}
		for _, s := range c.query(t, "last_over_time(("+r.Expr+")[10m:10s])") {
			if slices.Contains(hosts, s.Metric[platform.HostName.Metric()]) {
				found[s.Metric[platform.HostName.Metric()]] = true
			}
		}
		if len(found) > 0 { // the others are of the primary or the control node only
			require.Lenf(t, found, 2, "%s / %s: %s", r.Panel, r.Query, r.Expr)
			seen++
		}
	}
	require.Greater(t, seen, 15, "panels by host")
	// What must differ does: each NodeManager counts its own containers, each
	// JVM its own heap.
	for _, metric := range []string{"node_manager_metrics_containers_launched_total", "jvm_memory_used_bytes", "system_network_io_bytes_total"} {
		values := map[string]float64{}
		for _, s := range c.query(t, fmt.Sprintf(`sum by (%s) (max_over_time(%s{%s="core"}[15m]))`, platform.HostName.Metric(), metric, platform.NodeRole.Metric())) {
			if h := s.Metric[platform.HostName.Metric()]; slices.Contains(hosts, h) {
				values[h] = s.number(t)
			}
		}
		require.Lenf(t, values, 2, metric)
		if metric != "node_manager_metrics_containers_launched_total" {
			require.NotEqualf(t, values[hosts[0]], values[hosts[1]], metric)
		}
		require.Positivef(t, values[hosts[0]]+values[hosts[1]], metric)
	}
	for _, h := range hosts {
		require.Containsf(t, c.profiledHosts(t), h, "profiles of %s", h)
	}
}

// profiledHosts are the hosts that Pyroscope has profiles of.
func (c *cloud) profiledHosts(t *testing.T) []string {
	t.Helper()
	hosts, err := profiled(t, c.running(t).URL(string(platform.WorkloadPyroscope)))
	require.NoError(t, err)
	return hosts
}

// profiled asks a Pyroscope for the hosts of the last hour's profiles.
func profiled(t *testing.T, url string) ([]string, error) {
	ask, err := json.Marshal(map[string]any{"name": platform.HostName.Metric(), "start": time.Now().Add(-time.Hour).UnixMilli(), "end": time.Now().UnixMilli()})
	if err != nil {
		return nil, err
	}
	var answer struct{ Names []string }
	err = send(t.Context(), http.MethodPost, url+"/querier.v1.QuerierService/LabelValues", bytes.NewReader(ask), &answer)
	return answer.Names, err
}

func (c *cloud) objects(t *testing.T) *s3.Client {
	t.Helper()
	secret, err := localcloud.LoadCredentials(c.state)
	require.NoError(t, err)
	return s3.New(s3.Options{
		Region: localcloud.AWSRegion, UsePathStyle: true, BaseEndpoint: aws.String(c.running(t).URL("s3")),
		Credentials: credentials.NewStaticCredentialsProvider(secret.AccessKeyID, secret.SecretAccessKey, ""),
	})
}

// keys are those under a prefix; none while S3 does not answer.
func (c *cloud) keys(t *testing.T, bucket, prefix string) []string {
	t.Helper()
	var keys []string
	pages := s3.NewListObjectsV2Paginator(c.objects(t), &s3.ListObjectsV2Input{Bucket: &bucket, Prefix: &prefix})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			return nil
		}
		for _, o := range page.Contents {
			keys = append(keys, *o.Key)
		}
	}
	return keys
}

// boto3Script reads a cluster the way people's scripts do.
const boto3Script = `
import boto3, gzip
emr, s3 = boto3.client("emr"), boto3.client("s3")
c = emr.list_clusters(ClusterStates=["WAITING"])["Clusters"]
assert len(c) == 1, c
cluster = emr.describe_cluster(ClusterId=c[0]["Id"])["Cluster"]
assert cluster["MasterPublicDnsName"], cluster
nodes = emr.list_instances(ClusterId=cluster["Id"], InstanceStates=["RUNNING"])["Instances"]
assert len(nodes) == 3, nodes
step = emr.list_steps(ClusterId=cluster["Id"])["Steps"][0]
emr.get_waiter("step_complete").wait(ClusterId=cluster["Id"], StepId=step["Id"])
assert emr.describe_step(ClusterId=cluster["Id"], StepId=step["Id"])["Step"]["Status"]["State"] == "COMPLETED"
bucket, prefix = cluster["LogUri"].split("://", 1)[1].split("/", 1)
key = prefix.rstrip("/") + "/" + cluster["Id"] + "/steps/" + step["Id"] + "/stderr.gz"
assert b"Submitted application" in gzip.decompress(s3.get_object(Bucket=bucket, Key=key)["Body"].read())
print("read")
`

func boto3Reads(t *testing.T, c *cloud) {
	python := os.Getenv("OBSERVATORY_PYTHON")
	if python == "" {
		t.Skip("OBSERVATORY_PYTHON is not set: `make test` gives a Python with boto3")
	}
	secret, err := localcloud.LoadCredentials(c.state)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), python, "-c", boto3Script)
	cmd.Env = os.Environ()
	for k, v := range c.running(t).Environment(secret) {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	out, err := cmd.CombinedOutput()
	require.NoErrorf(t, err, "%s", out)
	require.Equal(t, "read\n", string(out))
}

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

// brokenParts cuts the artifacts short in S3, has a new cluster boot from
// that, and runs a job on it. Each part in each way is TestBootstrapRunsOnWithoutAPart.
func brokenParts(t *testing.T, c *cloud) {
	c.up(t) // an edit that touches the artifacts would put them right again
	have := c.outputs(t)
	locked, err := artifacts.LockedFor([]string{runtime.GOARCH})
	require.NoError(t, err)
	broken := []platform.NodeComponent{platform.ComponentCollector, platform.ComponentProfiler}
	for _, a := range locked {
		if a.Name == platform.ArtifactLauncher {
			continue // it travels inside the script
		}
		key := platform.ArtifactKey(a.SHA256, a.Name)
		_, err = c.objects(t).PutObject(t.Context(), &s3.PutObjectInput{Bucket: &have.DataBucket, Key: &key, Body: strings.NewReader("PK\x03\x04 cut short")})
		require.NoError(t, err)
	}
	c.up(t, "emr.releaseLabel=emr-7.9.0")
	now := c.outputs(t).EMRClusterID
	require.NotEqual(t, have.EMRClusterID, now, "another release is another cluster")
	job := filepath.Join(c.project, "examples/jobs/orders.py")
	require.Contains(t, c.run(t, "submit", "--wait", job, platform.PrefixLake.URI(have.DataBucket)+"orders"), "COMPLETED")
	// What failed is a metric, a line of the log and a row of /status, though
	// the node has nothing that would tell more.
	for _, component := range broken {
		missing := c.query(t, fmt.Sprintf(`last_over_time(%s{%s=%q,%s=%q}[1h]) == 0`, platform.MetricBootstrapUp,
			platform.Cluster.Metric(), now, platform.BootstrapComponent.Metric(), component))
		require.Lenf(t, missing, 3, "%s of each node", component)
		rows := c.logs(t, fmt.Sprintf(`"service.name":=%q "cluster":=%q "%s not installed"`, platform.ServiceBootstrap, now, component), 10)
		require.Len(t, rows, 3)
		for _, row := range rows {
			require.Contains(t, row["_msg"], "sha256 of s3://"+have.DataBucket)
		}
	}
	st := c.status(t)
	require.Contains(t, st.Clusters, status.Cluster{ID: now, Nodes: map[string]int{platform.RoleMaster: 1, platform.RoleCore: 2}})
	rows := 0
	for _, b := range st.Bootstrap {
		if b.Cluster == now {
			rows++
			require.Equal(t, status.BootstrapPartial, b.Result)
			require.Equal(t, broken, b.Failed)
		}
	}
	require.Equal(t, 3, rows)
}

// killedCloud ends the region as a power cut does; up brings all of it back.
func killedCloud(t *testing.T, c *cloud) {
	series := len(c.query(t, `last_over_time(system_cpu_logical_count[6h])`))
	require.NoError(t, syscall.Kill(c.running(t).PID, syscall.SIGKILL))
	c.up(t)
	require.Equal(t, changes{}, c.up(t))
	require.GreaterOrEqual(t, len(c.query(t, `last_over_time(system_cpu_logical_count[6h])`)), series, "metrics of before")
	require.Len(t, c.coreHosts(t), 2)
}

func downLeavesNothing(t *testing.T, c *cloud) {
	region := c.running(t)
	c.run(t, "down")
	require.NoDirExists(t, c.state)
	// It is there until its parent, the machine's init, has taken its exit code.
	require.Eventually(t, func() bool { return errors.Is(syscall.Kill(region.PID, 0), syscall.ESRCH) }, 10*time.Second, 10*time.Millisecond)
	for name, address := range region.Addresses {
		_, err := http.Get("http://" + address) //nolint:noctx,bodyclose // refused
		require.Errorf(t, err, name)
	}
	require.Contains(t, c.run(t, "down"), "removed", "a second down has nothing to do")
}
