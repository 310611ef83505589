package run_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/run"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/profiler/workspace"
	"github.com/emr-observatory/emr-observatory/profiler/workspace/workspacetest"
)

// deliveredLog is a golden log of an application of a cluster, as Databricks writes it.
func deliveredLog(t *testing.T, cluster, application string, context int) []byte {
	t.Helper()
	properties := fmt.Sprintf(`"Spark Properties":{"spark.databricks.clusterUsageTags.clusterId":%q,`+
		`"spark.databricks.clusterUsageTags.clusterName":"as it was","spark.databricks.sparkContextId":"%d",`, cluster, context)
	return bytes.Replace(logOf(t, "adaptive", application), []byte(`"Spark Properties":{`), []byte(properties), 1)
}

// named returns a cluster of a workspace that began a week ago and has ended, so many days ago.
func named(id, name string, ended int, deliver func(*workspace.Delivery)) workspace.Cluster {
	now := time.Now()
	c := workspace.Cluster{ID: id, Name: name, State: "TERMINATED", Runtime: "16.4.x-scala2.12", Context: 7000000000000000002}
	c.Started, c.Terminated = workspace.Millis(now.AddDate(0, 0, -7).UnixMilli()), workspace.Millis(now.AddDate(0, 0, -ended).UnixMilli())
	c.Reason.Code = "JOB_FINISHED"
	if deliver != nil {
		deliver(&c.Delivery)
	}
	return c
}

func toVolume(d *workspace.Delivery) {
	d.Volumes = &workspace.Folder{Destination: "/Volumes/main/ops/logs"}
}

// ofWorkspace returns options for a fake workspace, as the command resolves them.
func ofWorkspace(t *testing.T, w *workspacetest.Workspace, output string) run.Options {
	t.Helper()
	o, err := given{
		flags:     []string{"--databricks", "--output", output, "--batch-delay-seconds", "0", "--max-clusters", "0"},
		variables: map[string]string{run.WorkspaceHost: w.URL, run.WorkspaceToken: workspacetest.Token},
	}.resolve(t)
	require.NoError(t, err)
	return o
}

// What a workspace's clusters have delivered is read; what they have not is named with the remedy, and once.
func TestWorkspace(t *testing.T) {
	const etl, dbfs, silent, failing, gone, dropped = "1123-090000-aaaaaaaa", "1123-090001-bbbbbbbb", "1123-090002-cccccccc",
		"1123-090003-dddddddd", "1001-090004-eeeeeeee", "1123-090005-ffffffff"
	w := workspacetest.Serve(t)
	at := time.Now().AddDate(0, 0, -1)
	w.Volumes = fstest.MapFS{
		"main/ops/logs/" + etl + "/eventlog/" + etl + "_10_0_0_1/7000000000000000001/eventlog": {
			Data: deliveredLog(t, etl, "app-20231114221320-0000", 1), ModTime: at,
		},
		"main/ops/logs/" + etl + "/eventlog/" + etl + "_10_0_0_2/7000000000000000002/eventlog": {
			Data: deliveredLog(t, etl, "app-20231114231320-0000", 2), ModTime: at,
		},
	}
	w.Clusters = []workspace.Cluster{
		named(etl, "nightly etl", 1, toVolume),
		named(dbfs, "notebooks", 1, func(d *workspace.Delivery) {
			d.DBFS = &workspace.Folder{Destination: "dbfs:/cluster-logs"}
		}),
		named(silent, "ad hoc", 1, nil), named(failing, "failing", 1, toVolume), named(gone, "of last quarter", 40, toVolume),
		named(dropped, "into a volume that was dropped", 1, func(d *workspace.Delivery) {
			d.Volumes = &workspace.Folder{Destination: "/Volumes/main/ops/dropped"}
		}),
	}
	w.Clusters[3].Status.LastException = "AccessDenied: not authorized to perform: s3:PutObject"
	w.Throttle, w.Fail = 2, 1
	out := t.TempDir()
	o := ofWorkspace(t, w, out)
	summary, said := runOnce(t, o)
	require.Equal(t, []int{5, 5, 2}, []int{summary.ClustersFound, summary.ClustersRead, summary.ApplicationsRead})
	reasons := map[string]string{}
	for _, i := range summary.Incomplete {
		reasons[i.Cluster] += i.Reason
	}
	require.Len(t, reasons, 4, reasons)
	require.Contains(t, reasons[dropped], "/Volumes/main/ops/dropped, which does not exist, or the token's owner may not see it; correct")
	require.Contains(t, reasons[dbfs], "it delivers its logs to DBFS (dbfs:/cluster-logs), whose files every user of the workspace may read")
	require.Contains(t, reasons[silent], "it delivers no logs; set the cluster's log delivery")
	require.Contains(t, reasons[failing], "AccessDenied: not authorized to perform: s3:PutObject; let the cluster write to the destination")

	for _, row := range read[tables.Application](t, out) {
		require.Equal(t, tables.Cluster{ClusterID: etl, ClusterName: "nightly etl"}, row.Cluster, "its name of today")
		require.Positive(t, row.NumTasks)
	}
	for _, row := range read[tables.ClusterSummary](t, out) {
		require.Equal(t, "TERMINATED", row.Status)
		require.Equal(t, "7000000000000000002", aws.ToString(row.SparkContextID))
		require.Equal(t, "JOB_FINISHED", aws.ToString(row.StateChangeReason))
		require.Equal(t, "16.4.x-scala2.12", aws.ToString(row.ReleaseLabel))
	}
	tokenIsNowhere(t, out, said, summary)

	asked := len(w.Requests())
	summary, _ = runOnce(t, o)
	require.Equal(t, []int{5, 4, 1}, []int{summary.ClustersFound, summary.ClustersCurrent, summary.ClustersRead}, "they have ended")
	for _, path := range w.Requests()[asked:] {
		require.True(t, path == "/api/2.1/clusters/list" || strings.Contains(path, "/dropped"), path)
	}
}

// tokenIsNowhere looks for the token in whatever a run has written and said.
func tokenIsNowhere(t *testing.T, out string, said *progress, summary run.Summary) {
	t.Helper()
	text, err := json.Marshal(summary)
	require.NoError(t, err)
	require.NotContains(t, said.text()+string(text), workspacetest.Token)
	require.NoError(t, filepath.WalkDir(out, func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		require.NotContains(t, string(text), workspacetest.Token, name)
		return err
	}))
}

// A cluster that runs is read again, and what it has not delivered yet is no fault.
func TestRunningClusterOfAWorkspace(t *testing.T) {
	const id = "1123-090000-aaaaaaaa"
	w := workspacetest.Serve(t)
	c := named(id, "streams", 0, toVolume)
	c.State, c.Terminated, c.Reason.Code = "RUNNING", 0, ""
	w.Clusters = []workspace.Cluster{c}
	w.Volumes = fstest.MapFS{"main/ops/logs/of-another-cluster": {}}
	out := t.TempDir()
	summary, _ := runOnce(t, ofWorkspace(t, w, out))
	require.Empty(t, summary.Incomplete)
	require.Zero(t, summary.ApplicationsRead)
	w.Volumes = fstest.MapFS{"main/ops/logs/" + id + "/eventlog/x/1/eventlog": {Data: deliveredLog(t, id, "app-20231114221320-0000", 1)}}
	summary, _ = runOnce(t, ofWorkspace(t, w, out))
	require.Equal(t, 1, summary.ApplicationsRead)
}

// Logs that are delivered to S3 are read there.
func TestWorkspaceThatDeliversToS3(t *testing.T) {
	const id = "1123-090000-aaaaaaaa"
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local-secret", "AWS_CONFIG_FILE": os.DevNull,
		"AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	} {
		t.Setenv(name, value)
	}
	cloud := &world{t: t}
	cloud.startS3()
	_, err := cloud.s3.Client.PutObject(t.Context(), &awss3.PutObjectInput{
		Bucket: aws.String(bucket), Key: aws.String("cluster-logs/" + id + "/eventlog/x/1/eventlog"),
		Body: bytes.NewReader(deliveredLog(t, id, "app-20231114221320-0000", 1)),
	})
	require.NoError(t, err)
	w := workspacetest.Serve(t)
	w.Clusters = []workspace.Cluster{named(id, "etl", 1, func(d *workspace.Delivery) {
		d.S3 = &workspace.Bucket{Destination: "s3://" + bucket + "/cluster-logs/", Endpoint: "https://s3.us-east-1.amazonaws.com"}
	})}
	account, err := config.LoadDefaultConfig(t.Context())
	require.NoError(t, err)
	out := t.TempDir()
	summary, err := run.Run(t.Context(), account, ofWorkspace(t, w, out), &progress{})
	require.NoError(t, err)
	require.Empty(t, summary.Incomplete)
	require.Len(t, read[tables.Application](t, out), 1)
}

// An expired token ends the run with what to do, after one request.
func TestExpiredTokenOfAWorkspace(t *testing.T) {
	w := workspacetest.Serve(t)
	o := ofWorkspace(t, w, t.TempDir())
	o.Workspace.Token = "dapi-canary-expired"
	_, err := run.Run(t.Context(), aws.Config{}, o, &progress{})
	require.ErrorIs(t, err, workspace.ErrToken)
	require.NotContains(t, err.Error(), "canary")
	require.Len(t, w.Requests(), 1)
}

func TestVariablesOfAWorkspace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "workspace")
	text := "# of the ops team\nDATABRICKS_HOST = https://dbc-1.cloud.databricks.com\nDATABRICKS_TOKEN=\"dapi-canary\"\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	o, err := given{flags: []string{"--databricks", "--databricks-file", file}}.resolve(t)
	require.NoError(t, err)
	require.Equal(t, run.Workspace{Host: "https://dbc-1.cloud.databricks.com", Token: "dapi-canary"}, o.Workspace)
	require.NotContains(t, fmt.Sprintf("%+v", o), "canary")
	o, err = given{
		flags: []string{"--databricks", "--databricks-file", file}, variables: map[string]string{run.WorkspaceToken: "dapi-other"},
	}.resolve(t)
	require.NoError(t, err)
	require.Equal(t, workspace.Token("dapi-other"), o.Workspace.Token, "the environment goes before the file")

	secrets := map[string]string{
		run.WorkspaceHost: "https://x", run.WorkspaceToken: "t", run.DataPlaneCookie: "dbauth-canary",
		run.DataPlaneURL: "https://dp-1.cloud.databricks.com/sparkui/1123-a/driver-7/jobs/?o=1",
	}
	o, err = given{flags: []string{"--databricks"}, variables: secrets}.resolve(t)
	require.NoError(t, err)
	require.Equal(t, run.Workspace{
		Host: "https://x", Token: "t", DataPlane: "https://dp-1.cloud.databricks.com", Cookie: "dbauth-canary",
	}, o.Workspace)
	require.NotContains(t, fmt.Sprintf("%+v", o), "canary")

	_, err = given{flags: []string{"--databricks-file", file}}.resolve(t)
	require.ErrorContains(t, err, "does nothing without databricks")
	require.NoError(t, os.Chmod(file, 0o640))
	_, err = given{flags: []string{"--databricks", "--databricks-file", file}}.resolve(t)
	require.ErrorContains(t, err, "has mode 0640, which lets others read a token; `chmod 600` it")
	for _, c := range []struct {
		flags     []string
		variables map[string]string
		want      []string
	}{
		{nil, nil, []string{`DATABRICKS_HOST: "" must be set with databricks`, `DATABRICKS_TOKEN: "" must be set with databricks`}},
		{nil, map[string]string{run.WorkspaceHost: "http://u:canary@x", run.WorkspaceToken: "two canary words"}, []string{
			`DATABRICKS_HOST: "[hidden]" must be the https:// URL of a workspace`, `DATABRICKS_TOKEN: "[hidden]" must be one word`,
		}},
		{nil, map[string]string{run.WorkspaceHost: "https://x", run.WorkspaceToken: "t", run.DataPlaneURL: "https://dp-1.example"}, []string{
			`DATABRICKS_DATAPLANE_URL, DATAPLANE_DOMAIN_DBAUTH: "" must be set together; set both, or none`,
		}},
		{nil, map[string]string{
			run.WorkspaceHost: "https://x", run.WorkspaceToken: "t", run.DataPlaneURL: "http://canary@dp-1.example",
			run.DataPlaneCookie: "a=canary; b",
		}, []string{
			`DATAPLANE_DOMAIN_DBAUTH: "[hidden]" must be the value of one cookie`,
			`DATABRICKS_DATAPLANE_URL: "[hidden]" must be the https:// URL of a workspace`,
		}},
		{[]string{"--logs", "x", "--cluster-tags", "a=b"}, map[string]string{run.WorkspaceHost: "https://x", run.WorkspaceToken: "t"}, []string{
			`cannot be combined with logs; give one source`, `flag --cluster-tags: "a=b" cannot be combined with databricks`,
		}},
	} {
		_, err := given{flags: append([]string{"--databricks"}, c.flags...), variables: c.variables}.resolve(t)
		require.Error(t, err)
		for _, want := range c.want {
			require.ErrorContains(t, err, want)
		}
		require.Len(t, strings.Split(err.Error(), "\n"), len(c.want), err)
		require.NotContains(t, err.Error(), "canary")
	}
}
