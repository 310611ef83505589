package cloud_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/dashboards/check"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/localcloud"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
)

// check runs every query of the dashboards.
func (c *cloud) check(t *testing.T) check.Report {
	t.Helper()
	out, problems, err := c.try(t, "dashboards", "check", "--json")
	require.NoErrorf(t, err, "%s", problems)
	var r check.Report
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	return r
}

// everyQueryHasData checks the dashboards with the job that fills each of their panels.
func everyQueryHasData(t *testing.T, c *cloud, job *panelsJob) {
	job.wait(t)
	r := c.check(t)
	require.Zero(t, r.Empty)
	require.Zero(t, r.Errors)
	require.Greater(t, r.Panels, 40)
	airflowIsShown(t, c, r) // before a second job moves the first out of the report's range
	countsAreAboveZero(t, c, r)
}

// predefinedPanelsHaveData asks for each query of the dashboards that
// VictoriaMetrics serves to its own UI, with the UI's parameters for an hour.
func predefinedPanelsHaveData(t *testing.T, c *cloud) {
	var served struct {
		DashboardsSettings []struct {
			Rows []struct {
				Panels []struct {
					Title, Description string
					Expr               []string
				}
			}
		}
	}
	store := string(platform.WorkloadVictoriaMetrics)
	c.get(t, store, "/vmui/custom-dashboards", &served)
	hour := url.Values{"start": {strconv.FormatInt(time.Now().Add(-time.Hour).Unix(), 10)}, "step": {"10s"}}
	panels := 0
	for _, d := range served.DashboardsSettings {
		for _, row := range d.Rows {
			for _, p := range row.Panels {
				panels++
				series := 0
				for _, expr := range p.Expr {
					hour.Set("query", expr)
					var answer struct{ Data struct{ Result []any } }
					c.get(t, store, "/api/v1/query_range?"+hour.Encode(), &answer)
					series += len(answer.Data.Result)
				}
				require.Truef(t, series > 0 || panel.EmptyWhenHealthy(p.Description) != "", "%s: no data", p.Title)
			}
		}
	}
	require.Greater(t, panels, 30)
}

// coreHosts returns the core nodes that /status knows of the stack's cluster.
func (c *cloud) coreHosts(t *testing.T) []string {
	t.Helper()
	cluster := c.outputs(t).Clusters["main"].ID
	var hosts []string
	for _, n := range c.status(t).Nodes {
		if n.Role == platform.RoleCore && n.Cluster == cluster {
			hosts = append(hosts, n.Host)
		}
	}
	slices.Sort(hosts)
	return hosts
}

// status returns the control node's /status, if possible one without problems: it gives
// each of its stores three seconds, which a busy machine exceeds.
func (c *cloud) status(t *testing.T) (st status.Status) {
	t.Helper()
	err := testenv.Poll(t.Context(), testenv.Answer, time.Second, func(context.Context) error {
		var read status.Status
		if err := c.tryGet(t, string(platform.WorkloadStatus), "/status", &read); err != nil {
			return err
		}
		st = read
		if len(st.Problems) > 0 {
			return fmt.Errorf("problems: %v", st.Problems)
		}
		return nil
	})
	require.NotZero(t, st.SchemaVersion, err)
	if err != nil {
		t.Log(err)
	}
	return st
}

// withoutHosts maps queries that group by host, but show no core node, to the reason.
func withoutHosts() map[string]string {
	return map[string]string{"Collector queues/A": "shows the fullest queue of each role"}
}

// coreNodesDiffer requires both core nodes in the result of every query by host
// of the dashboards: none may merge them or show one for the other.
func coreNodesDiffer(t *testing.T, c *cloud) {
	hosts := c.coreHosts(t)
	require.Len(t, hosts, 2)
	label := platform.HostName.Metric()
	byHost := regexp.MustCompile(`by \([^)]*` + label + `[^)]*\)`)
	compared, excused := 0, withoutHosts()
	for _, r := range c.check(t).Results {
		if r.Datasource != "prometheus" || r.Selection != check.SelectionAll || !byHost.MatchString(r.Expr) {
			continue
		}
		var found []string
		for _, s := range c.query(t, "last_over_time(("+r.Expr+")[10m:10s])") {
			if h := s.Metric[label]; slices.Contains(hosts, h) && !slices.Contains(found, h) {
				found = append(found, h)
			}
		}
		name := r.Panel + "/" + r.Query
		if reason, ok := withoutHosts()[name]; ok {
			require.Emptyf(t, found, "%s shows core nodes, remove it from withoutHosts (%s)", name, reason)
			delete(excused, name)
			continue
		}
		require.Lenf(t, found, 2, "%s: core nodes in %s", name, r.Expr)
		compared++
	}
	require.Empty(t, excused, "listed queries that no dashboard has")
	require.Greater(t, compared, 15, "panels by host")
	for _, metric := range []string{
		"node_manager_metrics_containers_launched_total", "jvm_memory_used_bytes", "system_network_io_bytes_total",
	} {
		valuesDiffer(t, c, hosts, metric)
	}
	for _, h := range hosts {
		require.Containsf(t, c.profiledHosts(t), h, "profiles of %s", h)
	}
}

// valuesDiffer requires different values of a metric on two nodes, except for the
// number of containers, which may be equal.
func valuesDiffer(t *testing.T, c *cloud, hosts []string, metric string) {
	t.Helper()
	label := platform.HostName.Metric()
	values := map[string]float64{}
	for _, s := range c.query(t, fmt.Sprintf(`sum by (%s) (max_over_time(%s{%s="core"}[15m]))`, label, metric, platform.NodeRole.Metric())) {
		if h := s.Metric[label]; slices.Contains(hosts, h) {
			values[h] = s.number(t)
		}
	}
	require.Lenf(t, values, 2, metric)
	if metric != "node_manager_metrics_containers_launched_total" {
		require.NotEqualf(t, values[hosts[0]], values[hosts[1]], metric)
	}
	require.Positivef(t, values[hosts[0]]+values[hosts[1]], metric)
}

// contractIsEmitted requires every unconditional metric of the contract in
// VictoriaMetrics, and none of a job that the contract does not list. Others that it does
// not list are only logged: no dashboard, alert or recipe may use them.
func contractIsEmitted(t *testing.T, c *cloud) {
	running := c.running(t)
	url := running.URL(string(platform.WorkloadVictoriaMetrics))
	var e check.Emission
	testenv.Eventually(t, func() bool {
		var err error
		e, err = check.Emitted(t.Context(), url, running.Started, time.Now(), nil)
		require.NoError(t, err)
		return len(e.Missing) == 0
	}, testenv.Arrival, time.Second, "metrics of the contract that were not emitted")
	require.Greater(t, e.Found, 100)
	for _, name := range slices.Concat(e.Absent, e.Unlisted) {
		if name == platform.MetricLostRuns {
			continue // a later part has a schedule, and waits for it
		}
		require.NotRegexp(t, `^(spark|hadoop_s3a|observatory)_`, name, "of a job: absent, or not in the contract")
	}
	t.Logf("%d metrics of the contract found\nabsent without their condition: %v\nnot in the contract: %v", e.Found, e.Absent, e.Unlisted)
}

// profiledHosts returns the hosts that Pyroscope has profiles of.
func (c *cloud) profiledHosts(t *testing.T) []string {
	t.Helper()
	hosts, err := hostsWithProfiles(t, c.running(t).URL(string(platform.WorkloadPyroscope)))
	require.NoError(t, err)
	return hosts
}

// hostsWithProfiles queries a Pyroscope for the hosts of the last hour's profiles.
func hostsWithProfiles(t *testing.T, url string) ([]string, error) {
	now := time.Now()
	query, err := json.Marshal(map[string]any{
		"name": platform.HostName.Metric(), "start": now.Add(-time.Hour).UnixMilli(), "end": now.UnixMilli(),
	})
	if err != nil {
		return nil, err
	}
	var answer struct{ Names []string }
	err = send(t.Context(), http.MethodPost, url+"/querier.v1.QuerierService/LabelValues", bytes.NewReader(query), &answer)
	return answer.Names, err
}

// boto3Script reads a cluster and a step as users' scripts do.
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

// profileScript lists the buckets with the profile of a file, and with no key pair of its own.
const profileScript = `
import boto3, os
for name in "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY":
    del os.environ[name]
os.environ["AWS_CONFIG_FILE"] = input()
print(boto3.Session(profile_name="` + localcloud.Profile + `").client("s3").list_buckets()["Buckets"][0]["Name"])
`

// boto3Reads runs boto3Script against the cloud's AWS APIs, and profileScript with the profile that
// `make up` names.
func boto3Reads(t *testing.T, c *cloud) {
	require.Equal(t, "read", c.python(t, boto3Script, ""))
	require.NotEmpty(t, c.python(t, profileScript, localcloud.ProfileFile(c.state)))
}
