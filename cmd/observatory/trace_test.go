package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/toolchain/servers"
)

const goldenLogs = "../../phases/testdata/logs/"

// A real Tempo receives the spans of a log, once from a file and once from S3.
func TestTraceImport(t *testing.T) {
	api, endpoint := startTempo(t)
	out, _, err := runTrace(t, "--endpoint", endpoint, goldenLogs+"static.jsonl")
	require.NoError(t, err)
	require.Contains(t, out, "application_1700000000000_0001 static: wait 19 % · compute 28 % · write 36 % · driver 17 %\n")
	require.Contains(t, out, "io_write   7.5 s   35.7 %")
	require.Contains(t, out, "first executor after   3.0 s")
	const id = "694316b52f37d7e52c2efe66a46d3b93" // of phases/testdata/ids.json
	require.Contains(t, out, "trace "+id+": 15 spans from 2023-11-14T22:13:20Z on, sent to "+endpoint)
	first := storedSpans(t, api, id, 15)

	importFromS3(t, endpoint)
	require.Equal(t, first, storedSpans(t, api, id, 15), "a second import repeats no span")
	names := strings.Join(first, "\n")
	for _, want := range []string{
		"application static <- ", "sql 0 <- application static", "job 0 <- sql 0", "stage 1.0 <- job 0", "task 3 <- stage 1.0",
		"phase io_write <- application static",
	} {
		require.Contains(t, names, want)
	}
}

// importFromS3 imports the log from a real S3 gateway, compressed as Spark does.
func importFromS3(t *testing.T, endpoint string) {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "local")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "local-secret")
	t.Setenv("AWS_REGION", "us-east-1")
	t.Setenv("AWS_CONFIG_FILE", os.DevNull)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", os.DevNull)
	t.Setenv("AWS_ENDPOINT_URL_S3", startGateway(t))
	cfg, err := config.LoadDefaultConfig(t.Context())
	require.NoError(t, err)
	client := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })
	_, err = client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String("data")})
	require.NoError(t, err)
	put := func(key, file string) {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		_, err = client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String("data"), Key: &key, Body: bytes.NewReader(content)})
		require.NoError(t, err)
	}
	put("logs/static.zstd", "../../eventlog/testdata/codecs/application_1700000000000_0001.zstd")
	out, _, err := runTrace(t, "--cluster", "j-0123456789ABC", "--endpoint", endpoint, "s3://data/logs/static.zstd")
	require.NoError(t, err)
	require.Contains(t, out, "15 spans")

	const rolled = "eventlog_v2_app-20261123103508-0000"
	files, err := os.ReadDir("../../eventlog/testdata/" + rolled)
	require.NoError(t, err)
	for _, file := range files {
		put("logs/"+rolled+"/"+file.Name(), "../../eventlog/testdata/"+rolled+"/"+file.Name())
	}
	out, _, err = runTrace(t, "--dry-run", "s3a://data/logs/"+rolled+"/")
	require.NoError(t, err)
	require.Contains(t, out, "app-20261123103508-0000 sample: ")
	require.Contains(t, out, "not sent")

	put("logs/one.zip", zipOf(t, "static.jsonl"))
	inZip, _, err := runTrace(t, "--dry-run", "s3://data/logs/one.zip")
	require.NoError(t, err)
	here, _, err := runTrace(t, "--dry-run", goldenLogs+"static.jsonl")
	require.NoError(t, err)
	require.Equal(t, here, inZip)

	_, _, err = runTrace(t, "--dry-run", "s3://data/logs/none")
	require.ErrorContains(t, err, "read s3://data/logs/none: file does not exist")
}

func TestTraceImportAsJSON(t *testing.T) {
	out, progress, err := runTrace(t, "--dry-run", "--json", goldenLogs+"killed-driver.jsonl")
	require.NoError(t, err)
	require.Empty(t, progress)
	var got map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	require.Equal(t, "wait 37 % · compute 40 % · write 0 % · driver 23 % (approximate)", got["line"])
	require.InDelta(t, 14_000, got["phases"].(map[string]any)["compute"], 0)
	require.Equal(t, true, got["approximate"])
	require.NotEmpty(t, got["segments"])
	require.NotContains(t, got, "endpoint")
}

func TestTraceImportRefuses(t *testing.T) {
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken")
	const text = `{"Event":"SparkListenerLogStart","Spark Version":"3.5.5"}` + "\n" + `{"Event":` + "\n\n"
	require.NoError(t, os.WriteFile(broken, []byte(text), 0o600))
	dead := testenv.Address(t)
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no collector":   {[]string{goldenLogs + "static.jsonl"}, "set --endpoint host:port, or --dry-run"},
		"dead collector": {[]string{"--endpoint", dead, goldenLogs + "static.jsonl"}, "send spans to " + dead},
		"broken line":    {[]string{"--dry-run", broken}, "broken:2: "},
		"no file":        {[]string{"--dry-run", filepath.Join(dir, "none")}, "event log " + filepath.Join(dir, "none") + ": no such file"},
		"folder":         {[]string{"--dry-run", dir}, "event log " + dir + ": "},
		"folder of logs": {[]string{"--dry-run", dir}, "name one log in it"},
		"no log":         {[]string{"--dry-run", goldenLogs + "README.md"}, "this is no Spark event log, which is a file that begins with"},
		"zip of none":    {[]string{"--dry-run", zipOf(t, "README.md")}, "no file in this zip is one: this is no Spark event log"},
		"zip of two": {
			[]string{"--dry-run", zipOf(t, "static.jsonl", "killed-driver.jsonl")},
			"this zip has 2: application_1700000000000_0000, application_1700000000000_0001: unpack it and name one",
		},
		"no application":  {[]string{"--dry-run", goldenLogs + "no-start.jsonl"}, "no SparkListenerApplicationStart in 11 events"},
		"unreadable lzf":  {[]string{"--dry-run", "../../eventlog/testdata/codecs/application_1700000000000_0001.lzf"}, "lzf"},
		"another's scope": {[]string{"--dry-run", goldenLogs + "README.md"}, "README.md:1: read event"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := runTrace(t, c.args...)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestTraceImportSaysWhereALogIsCutOff(t *testing.T) {
	_, progress, err := runTrace(t, "--dry-run", "../../eventlog/testdata/codecs/killed.zstd.inprogress")
	require.NoError(t, err)
	require.Regexp(t, `^killed.zstd.inprogress:[0-9]+: the log is cut off there\n$`, progress)
}

func runTrace(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	command := traceImportCommand(&settings{state: t.TempDir()})
	var out, progress bytes.Buffer
	command.SetOut(&out)
	command.SetErr(&progress)
	command.SetArgs(args)
	command.SilenceUsage, command.SilenceErrors = true, true
	err = command.ExecuteContext(t.Context())
	return out.String(), progress.String(), err
}

// storedSpans returns "name <- name of the parent" of each span of a trace in Tempo,
// once it has as many as expected.
func storedSpans(t *testing.T, api, id string, count int) (tree []string) {
	t.Helper()
	var stored tracepb.TracesData
	var raw []byte
	testenv.Eventually(t, func() bool {
		response, err := http.Get(api + "/api/v2/traces/" + id + "?start=1699900000&end=1700100000")
		if err != nil {
			return false
		}
		defer response.Body.Close()
		raw, _ = io.ReadAll(response.Body)
		var answer struct {
			Trace json.RawMessage `json:"trace"`
		}
		if json.Unmarshal(raw, &answer) != nil || protojson.Unmarshal(answer.Trace, &stored) != nil {
			return false
		}
		return len(spansOf(&stored)) >= count
	}, testenv.Arrival, 200*time.Millisecond, "Tempo has not %d spans: %.2000s", count, string(raw))
	names := map[string]string{}
	for _, span := range spansOf(&stored) {
		names[string(span.SpanId)] = span.Name
	}
	for _, span := range spansOf(&stored) {
		tree = append(tree, span.Name+" <- "+names[string(span.ParentSpanId)])
	}
	require.Len(t, tree, count)
	slices.Sort(tree)
	return tree
}

func spansOf(data *tracepb.TracesData) (all []*tracepb.Span) {
	for _, resource := range data.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			all = append(all, scope.Spans...)
		}
	}
	return all
}

// startTempo runs Tempo with OTLP over gRPC.
func startTempo(t *testing.T) (api, endpoint string) {
	t.Helper()
	dir, address, grpc, endpoint, gossip := t.TempDir(), testenv.Address(t), testenv.Address(t), testenv.Address(t), testenv.Address(t)
	port := func(address string) string {
		_, port, err := net.SplitHostPort(address)
		require.NoError(t, err)
		return port
	}
	file := filepath.Join(dir, "config.yaml")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `
stream_over_http_enabled: true
server: {http_listen_address: 127.0.0.1, http_listen_port: %s, grpc_listen_address: 127.0.0.1, grpc_listen_port: %s}
distributor: {receivers: {otlp: {protocols: {grpc: {endpoint: "%s"}}}}}
ingester: {lifecycler: {address: 127.0.0.1, min_ready_duration: 0s}}
storage: {trace: {backend: local, wal: {path: %s/wal}, local: {path: %s/blocks}}}
memberlist: {bind_addr: [127.0.0.1], bind_port: %s}
usage_report: {reporting_enabled: false}
`, port(address), port(grpc), endpoint, dir, dir, port(gossip)), 0o600))
	startServer(t, "tempo", "http://"+address+"/ready", "-config.file="+file)
	return "http://" + address, endpoint
}

func startGateway(t *testing.T) string {
	t.Helper()
	address := testenv.Address(t)
	t.Setenv("ROOT_ACCESS_KEY", "local")
	t.Setenv("ROOT_SECRET_KEY", "local-secret")
	startServer(t, "versitygw", "http://"+address, "--port", address, "--iam-dir", t.TempDir(), "posix", t.TempDir())
	return "http://" + address
}

func startServer(t *testing.T, name, ready string, args ...string) {
	t.Helper()
	binary, err := servers.Find(t.Context(), name)
	testenv.Require(t, err == nil, fmt.Sprint(err))
	command := exec.Command(binary, args...)
	command.Dir = t.TempDir()
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGKILL)
		_ = command.Wait()
		if t.Failed() {
			t.Logf("%s: %s", name, output.String()[max(0, output.Len()-4000):])
		}
	})
	testenv.Eventually(t, func() bool {
		response, err := http.Get(ready)
		if err == nil {
			response.Body.Close()
		}
		return err == nil && (response.StatusCode == http.StatusOK || name != "tempo")
	}, testenv.Arrival, 50*time.Millisecond, "%s becomes ready", name)
}
