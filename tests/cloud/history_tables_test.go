package cloud_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
)

// workloadAgrees requires that the workload's tables get the same applications. A changed
// interval restarts it, and it runs at its start.
func (h history) workloadAgrees(t *testing.T, folder string) {
	t.Helper()
	h.cloud.up(t, storeEdit, tagEdit, "profiler.intervalMinutes=5")
	want, bucket := h.cloud.applicationsIn(t, folder), h.cloud.outputs(t).DataBucket
	err := testenv.Poll(t.Context(), testenv.Cloud, 2*time.Second, func(context.Context) error {
		copied := t.TempDir()
		if err := h.cloud.download(t, bucket, string(platform.PrefixHistory), copied); err != nil {
			return err // a run may delete objects that have been listed
		}
		if _, err := os.Stat(filepath.Join(copied, "findings")); err != nil {
			return err // a query needs a file of each table
		}
		if got := h.cloud.applicationsIn(t, copied); !slices.Equal(want, got) {
			return fmt.Errorf("the workload has written %d attempts of applications, the command %d:\n%+v\n%+v", len(got), len(want), got, want)
		}
		return nil
	})
	require.NoError(t, err)
}

// endedUI opens the persistent UI of a terminated cluster. It prints how many applications the
// UI lists, which must be those in the tables.
const endedUI = `
import boto3, duckdb, http.cookiejar, json, os, ssl, sys, time, urllib.error, urllib.request
emr, folder = boto3.client("emr"), sys.stdin.read()
ended = emr.list_clusters(ClusterStates=["TERMINATED"])["Clusters"]
cluster = next(c for c in ended if c["Name"] == "airflow-nightly")
ui = emr.create_persistent_app_ui(TargetResourceArn=cluster["ClusterArn"])["PersistentAppUIId"]
deadline = time.monotonic() + 120
while emr.describe_persistent_app_ui(PersistentAppUIId=ui)["PersistentAppUI"]["PersistentAppUIStatus"] != "ATTACHED":
    assert time.monotonic() < deadline
    time.sleep(0.2)
url = emr.get_persistent_app_ui_presigned_url(PersistentAppUIId=ui, PersistentAppUIType="SHS")["PresignedURL"]
trust = urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=os.environ["AWS_CA_BUNDLE"]))
browser = urllib.request.build_opener(trust, urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
page = browser.open(url).url
listed = {a["id"] for a in json.load(browser.open(page + "api/v1/applications"))}
try:
    urllib.request.build_opener(trust).open(url)
    raise AssertionError("the URL worked twice")
except urllib.error.HTTPError as error:
    assert error.code == 403, error
applications = f"read_parquet('{folder}/applications/**/*.parquet')"
rows = duckdb.sql(f"select distinct application_id from {applications} where cluster_id = '{cluster['Id']}'").fetchall()
assert listed == {row[0] for row in rows}, (listed, rows)
print(len(listed))
`

// endedClusterOpens requires that boto3 opens the UI of the foreign cluster, which is gone.
func (h history) endedClusterOpens(t *testing.T, folder string) {
	t.Helper()
	listed, err := strconv.Atoi(h.cloud.python(t, endedUI, folder))
	require.NoError(t, err)
	require.Positive(t, listed)
}

// sparkReadsTables runs the guide's example on a cluster, over the workload's tables in S3.
func (h history) sparkReadsTables(t *testing.T) {
	t.Helper()
	guide, err := os.ReadFile("../../docs/guides/history.md")
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(guide), "```python\n")
	example, _, found := strings.Cut(rest, "```")
	require.True(t, found)
	require.Contains(t, example, "DATA_BUCKET")
	job := filepath.Join(t.TempDir(), "example.py")
	text := `from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("example").getOrCreate()
` + strings.ReplaceAll(example, "DATA_BUCKET", h.cloud.outputs(t).DataBucket) + `
assert spark.table("stages").where("stage_name is not null and num_tasks > 0").count() > 10
`
	require.NoError(t, os.WriteFile(job, []byte(text), 0o600))
	h.run(t, "main", "FAILED", "example", job) // the tables have what other teams ran
	h.cloud.up(t, storeEdit, tagEdit, "profiler.intervalMinutes=5", "profiler.readableByJobs=true")
	h.run(t, "main", "COMPLETED", "example", job)
}

// download copies the objects below a prefix to a folder.
func (c *cloud) download(t *testing.T, bucket, prefix, folder string) error {
	t.Helper()
	for _, key := range c.keys(t, bucket, prefix) {
		out, err := c.objects(t).GetObject(t.Context(), &s3.GetObjectInput{Bucket: &bucket, Key: &key})
		if err != nil {
			return err
		}
		content, err := io.ReadAll(out.Body)
		if err := errors.Join(err, out.Body.Close()); err != nil {
			return err
		}
		file := filepath.Join(folder, strings.TrimPrefix(key, prefix))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, content, 0o600))
	}
	return nil
}

// secret is what history.py puts into a configuration, an environment and SQL.
const secret = "k4n4ry"

// secretRows asks DuckDB how many rows have a secret, and how many have what took its place.
const secretRows = `
import duckdb, json, os, sys
folder, secret = json.load(sys.stdin)
found, rows = [], 0
for name in sorted(os.listdir(folder)):
    if name.startswith(("_", ".")):
        continue
    of = f"from (select * from read_parquet('{folder}/{name}/**/*.parquet')) t"
    rows += duckdb.sql(f"select count(*) {of}").fetchall()[0][0]
    found += [name] * duckdb.sql(f"select count(*) {of} where t::varchar like '%{secret}%'").fetchall()[0][0]
sql = f"(select * from read_parquet('{folder}/sql/**/*.parquet'))"
kept = duckdb.sql(f"select count(*) from {sql} t where t::varchar like '%jdbc:postgresql://%'")
print(json.dumps({"tables": found, "rows": rows, "statements": kept.fetchall()[0][0]}))
`

// secretsAreRedacted requires that no table and no tool has a secret of a job that ran.
func (h history) secretsAreRedacted(t *testing.T, folder string) {
	t.Helper()
	input, err := json.Marshal([]string{folder, secret})
	require.NoError(t, err)
	var out struct {
		Tables           []string
		Rows, Statements int
	}
	require.NoError(t, json.Unmarshal([]byte(h.cloud.python(t, secretRows, string(input))), &out))
	require.Empty(t, out.Tables)
	require.Positive(t, out.Rows)
	require.Positive(t, out.Statements, "the statement that has it is there")
	var application string
	for id, name := range h.names {
		if name == "history-udf" {
			application = id
		}
	}
	from := map[string][]string{
		"tables": {"--output", folder},
		"UI":     {"--output", t.TempDir(), "--emr-cluster-arn", h.arnOf(t, folder, application)},
	}
	for name, args := range from {
		answers := h.ask(t, args, application)
		require.NotContains(t, answers, secret, name)
		require.Contains(t, answers, "history-udf", name)
		require.Contains(t, answers, `"stage_id":`, name)
	}
}

// arnOf returns the ARN of the cluster of an application.
func (h history) arnOf(t *testing.T, folder, application string) string {
	t.Helper()
	const script = `
import duckdb, json, sys
folder, application = json.load(sys.stdin)
print(*duckdb.sql(f"select region, account, cluster_id from read_parquet('{folder}/applications/**/*.parquet')"
                  f" where application_id = '{application}'").fetchall()[0])
`
	input, err := json.Marshal([]string{folder, application})
	require.NoError(t, err)
	var region, account, cluster string
	_, err = fmt.Sscan(h.cloud.python(t, script, string(input)), &region, &account, &cluster)
	require.NoError(t, err)
	return fmt.Sprintf("arn:aws:elasticmapreduce:%s:%s:cluster/%s", region, account, cluster)
}

// firstSign is the time within which the tools answer the first call or report progress.
const firstSign = 10 * time.Second

// ask calls the tools about an application, and returns all that they answer and print. Whoever waits
// for the first answer, for which a cluster's history may have to be read, is told what happens.
func (h history) ask(t *testing.T, args []string, application string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), h.cloud.program, append([]string{"profile", "tools"}, args...)...)
	cmd.Env = h.cloud.environment(t)
	var said strings.Builder
	cmd.Stderr = &said
	var reported atomic.Pointer[time.Time] // first
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) {
			reported.CompareAndSwap(nil, new(time.Now()))
		},
	}).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	require.NoErrorf(t, err, "%s", &said)
	began := time.Now()
	var answers strings.Builder
	for i, call := range []mcp.CallToolParams{
		{Name: "getappid", Arguments: map[string]any{}},
		{Name: "getsloweststages", Arguments: map[string]any{"id": application}},
		{Name: "findings", Arguments: map[string]any{"id": application}},
	} {
		call.SetProgressToken(call.Name)
		result, err := session.CallTool(t.Context(), &call)
		require.NoErrorf(t, err, "%s", &said)
		if i == 0 {
			took := time.Since(began)
			sign := took
			if at := reported.Load(); at != nil {
				sign = at.Sub(began)
			}
			t.Logf("%v: the first answer after %s, the first sign after %s", args, took, sign)
			require.LessOrEqual(t, sign, testenv.Limit(firstSign).Scaled(), "%v", args)
		}
		text, err := json.Marshal(result)
		require.NoError(t, err)
		require.Falsef(t, result.IsError, "%s", text)
		answers.Write(text)
	}
	require.NoError(t, session.Close())
	return answers.String() + said.String()
}
