package node_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	collectorlogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/emr-observatory/emr-observatory/assets/node"
	"github.com/emr-observatory/emr-observatory/platform"
)

// bucket is a data bucket's folder with the artifacts of a bootstrap action.
type bucket struct {
	dir   string
	input node.BootstrapInput
}

func newBucket(t *testing.T, collector []byte) bucket {
	t.Helper()
	b := bucket{dir: t.TempDir()}
	jar, err := os.ReadFile(lockedFile(t, platform.ArtifactLauncher))
	require.NoError(t, err)
	b.input.LauncherJar = jar
	b.add(t, platform.ArtifactProfiler, "", []byte("async-profiler"))
	b.add(t, platform.ArtifactPlugin, "", []byte("plugin"))
	b.add(t, platform.ArtifactCollector(runtime.GOARCH), runtime.GOARCH, collector)
	return b
}

func (b *bucket) add(t *testing.T, name, arch string, content []byte) {
	t.Helper()
	digest := sha256.Sum256(content)
	a := node.Installed{Name: name, Arch: arch, SHA256: hex.EncodeToString(digest[:])}
	b.input.Artifacts = append(b.input.Artifacts, a)
	write(t, b.file(name), string(content))
}

// file returns the path at which the bucket has an artifact.
func (b *bucket) file(name string) string {
	for _, a := range b.input.Artifacts {
		if a.Name == name {
			return filepath.Join(b.dir, platform.ArtifactKey(a.SHA256, name))
		}
	}
	return ""
}

// bootstrap runs the rendered script as EMR does and returns its output.
func (b *bucket) bootstrap(t *testing.T, args ...string) string {
	t.Helper()
	script, hash, err := node.Bootstrap(b.input)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "bootstrap.sh")
	require.NoError(t, os.WriteFile(path, script, 0o755))
	if args == nil {
		args = []string{controlIP, "s3://bucket/artifacts/", hash}
	}
	out, err := exec.Command(path, args...).CombinedOutput()
	require.NoError(t, err, "it must never fail a node: %s", out)
	return string(out)
}

// gzipBytes compresses a text.
func gzipBytes(t *testing.T, content string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, err := z.Write([]byte(content))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return out.Bytes()
}

// report is the content of platform.NodeReportFile.
type report struct {
	Cluster, Role, Host, Content string
	Seconds                      int
	Components                   []struct {
		Component, Reason, SHA256 string
		Up, Seconds               int
	}
}

func readReport(t *testing.T) report {
	t.Helper()
	content, err := os.ReadFile(platform.NodeReportFile)
	require.NoError(t, err)
	var r report
	require.NoError(t, json.Unmarshal(content, &r), string(content))
	return r
}

// down maps the parts that are not up to their reasons.
func (r report) down() map[string]string {
	out := map[string]string{}
	for _, c := range r.Components {
		if c.Up == 0 {
			out[c.Component] = c.Reason
		}
	}
	return out
}

// answerHealth serves the health check in place of a collector.
func answerHealth(t *testing.T) {
	t.Helper()
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", platform.CollectorHealth))
	require.NoError(t, err)
	server := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
}

func TestBootstrapInstallsPartsAndStartsCollector(t *testing.T) {
	if !onMachine(t) {
		return
	}
	collector, err := os.ReadFile(lockedFile(t, platform.ArtifactCollector(runtime.GOARCH)))
	require.NoError(t, err)
	b := newBucket(t, collector)
	fakeCommands(t, b.dir)
	serveMetadata(t)
	writeEMRInfo(t, platform.RoleMaster)
	s := startSink(t, fmt.Sprintf("%s:%d", controlIP, platform.OTLPGRPC))

	out := b.bootstrap(t)
	t.Log(out)
	r := readReport(t)
	require.Empty(t, r.down())
	require.Len(t, r.Components, len(platform.NodeComponents()))
	require.Equal(t, []string{"j-ABC123", "master", nodeHost}, []string{r.Cluster, r.Role, r.Host})
	facts, err := os.ReadFile(platform.NodeFactsFile)
	require.NoError(t, err)
	require.Equal(t, "cluster=j-ABC123\nnode.role=master\nhost.name="+nodeHost+"\ncontrol.address="+controlIP+"\n", string(facts))
	jar, err := os.ReadFile(platform.NodeLauncherJar)
	require.NoError(t, err)
	require.Equal(t, b.input.LauncherJar, jar)

	up := map[string]int64{}
	row := s.metric(t, platform.MetricBootstrapUp, nil)
	require.Equal(t, labels{"cluster": "j-ABC123", "node.role": "master", "host.name": nodeHost, "service.name": "emr-bootstrap"},
		row.resource)
	for _, p := range row.metric.GetGauge().GetDataPoints() {
		require.NotZero(t, p.GetTimeUnixNano())
		up[attributes(p.GetAttributes())["component"]] = p.GetAsInt()
	}
	require.Equal(t, map[string]int64{"launcher": 1, "collector": 1, "profiler": 1, "plugin": 1}, up)

	calls := func() int {
		content, err := os.ReadFile(filepath.Join(b.dir, "calls"))
		require.NoError(t, err)
		return strings.Count(string(content), "s3 cp")
	}
	require.Equal(t, 3, calls())
	b.bootstrap(t)
	require.Equal(t, 3, calls(), "a second run downloads nothing again")
	require.Empty(t, readReport(t).down())
}

func TestBootstrapContinuesWithoutAPart(t *testing.T) {
	if !onMachine(t) {
		return
	}
	components := map[string]string{
		platform.ArtifactProfiler:                  string(platform.ComponentProfiler),
		platform.ArtifactPlugin:                    string(platform.ComponentPlugin),
		platform.ArtifactCollector(runtime.GOARCH): string(platform.ComponentCollector),
	}
	faults := map[string]struct {
		inject func(t *testing.T, b *bucket, file string)
		reason string
	}{
		"missing":   {func(t *testing.T, _ *bucket, file string) { require.NoError(t, os.Remove(file)) }, "(404)"},
		"truncated": {func(t *testing.T, _ *bucket, file string) { require.NoError(t, os.Truncate(file, 7)) }, "sha256 of"},
		"other":     {func(t *testing.T, _ *bucket, file string) { write(t, file, "something else") }, "sha256 of"},
		"hanging": {func(t *testing.T, b *bucket, file string) {
			write(t, strings.Replace(file, b.dir, b.dir+"/hang", 1), "")
		}, "timed out"},
	}
	writeEMRInfo(t, platform.RoleCore)
	serveMetadata(t)
	answerHealth(t)
	received := startReceiver(t)
	identity := labels{"cluster": "j-ABC123", "node.role": "core", "host.name": nodeHost, "service.name": "emr-bootstrap"}
	for name, component := range components {
		for kind, fault := range faults {
			t.Run(name+" "+kind, func(t *testing.T) {
				require.NoError(t, os.RemoveAll(platform.NodeInstallDir))
				b := newBucket(t, gzipBytes(t, "#!/bin/sh\nexit 0\n"))
				fakeCommands(t, b.dir)
				shortenTimeouts(t)
				fault.inject(t, &b, b.file(name))
				out := b.bootstrap(t)
				require.Contains(t, out, "WARN observatory: "+component+" not installed: ")
				down := readReport(t).down()
				require.Len(t, down, 1, out)
				require.Contains(t, down[component], fault.reason)
				require.FileExists(t, platform.NodeLauncherJar)

				if component != string(platform.ComponentCollector) {
					require.Empty(t, received.logs, "the collector reads it from the node")
					return
				}
				require.Len(t, received.metrics, 1, out)
				require.Len(t, received.logs, 1, out)
				metrics, logs := <-received.metrics, <-received.logs
				require.Equal(t, identity, metrics.resource)
				up := map[string]int64{}
				for _, p := range metrics.metric.GetGauge().GetDataPoints() {
					up[attributes(p.GetAttributes())["component"]] = p.GetAsInt()
				}
				require.Len(t, up, len(platform.NodeComponents()))
				require.Zero(t, up[component])
				require.Equal(t, identity, logs.resource)
				require.Equal(t, component+" not installed: "+down[component], logs.record.GetBody().GetStringValue())
				require.NotZero(t, logs.record.GetTimeUnixNano())
			})
		}
	}
}

// receiver is the control node's OTLP over HTTP, of which the bootstrap action
// uses two paths.
type receiver struct {
	metrics chan metricRow
	logs    chan logRow
}

func startReceiver(t *testing.T) receiver {
	t.Helper()
	r := receiver{make(chan metricRow, 1), make(chan logRow, 1)}
	listener, err := net.Listen("tcp", fmt.Sprintf("%s:%d", controlIP, platform.OTLPHTTP))
	require.NoError(t, err)
	handler := http.NewServeMux()
	read := func(request *http.Request, into proto.Message) {
		body, err := io.ReadAll(request.Body)
		if err == nil {
			err = protojson.Unmarshal(body, into)
		}
		if err != nil {
			t.Errorf("%s: %v: %s", request.URL.Path, err, body)
		}
	}
	handler.HandleFunc("POST /v1/metrics", func(_ http.ResponseWriter, request *http.Request) {
		var exported collectormetrics.ExportMetricsServiceRequest
		read(request, &exported)
		for _, of := range exported.GetResourceMetrics() {
			r.metrics <- metricRow{attributes(of.GetResource().GetAttributes()), of.GetScopeMetrics()[0].GetMetrics()[0]}
		}
	})
	handler.HandleFunc("POST /v1/logs", func(_ http.ResponseWriter, request *http.Request) {
		var exported collectorlogs.ExportLogsServiceRequest
		read(request, &exported)
		for _, of := range exported.GetResourceLogs() {
			r.logs <- logRow{attributes(of.GetResource().GetAttributes()), nil, of.GetScopeLogs()[0].GetLogRecords()[0]}
		}
	})
	server := &http.Server{Handler: handler}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return r
}

// shortenTimeouts shortens the script's pauses and time limits.
func shortenTimeouts(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sleep"), []byte("#!/bin/sh\n[ \"$1\" = 600 ] && exec /bin/sleep 600\nexit 0\n"),
		0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "timeout"), []byte("#!/bin/sh\nshift\nexec /usr/bin/timeout 1 \"$@\"\n"), 0o755))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

func TestBootstrapReportsUnresponsiveCollector(t *testing.T) {
	if !onMachine(t) {
		return
	}
	b := newBucket(t, gzipBytes(t, "#!/bin/sh\nexit 1\n"))
	fakeCommands(t, b.dir)
	shortenTimeouts(t)
	writeEMRInfo(t, platform.RoleTask)
	b.bootstrap(t)
	require.Contains(t, readReport(t).down()["collector"], "does not answer on port 13133")
	env, err := os.ReadFile(platform.NodeCollectorEnv)
	require.NoError(t, err)
	require.Contains(t, string(env), "OBSERVATORY_HDFS_TARGETS=[]\n", "a task node has no DataNode")
	require.Contains(t, string(env), "OBSERVATORY_ROLE=task\n")
}

func TestBootstrapSurvivesUnexpectedNodes(t *testing.T) {
	if !onMachine(t) {
		return
	}
	answerHealth(t)
	for name, c := range map[string]struct {
		args    []string
		prepare func(t *testing.T, b *bucket)
		down    int // parts; -1: there is no report
	}{
		"no facts":      {nil, func(*testing.T, *bucket) {}, 0},
		"no arguments":  {[]string{}, func(t *testing.T, _ *bucket) { writeEMRInfo(t, platform.RoleCore) }, 3},
		"no sudo right": {nil, func(t *testing.T, _ *bucket) { failCommand(t, "sudo") }, -1},
		"no aws":        {nil, func(t *testing.T, _ *bucket) { failCommand(t, "aws") }, 3},
		"no systemctl":  {nil, func(t *testing.T, _ *bucket) { failCommand(t, "systemctl") }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.RemoveAll(platform.NodeInstallDir))
			require.NoError(t, os.RemoveAll(platform.EMRInfoDir))
			b := newBucket(t, gzipBytes(t, "#!/bin/sh\nexit 0\n"))
			fakeCommands(t, b.dir)
			shortenTimeouts(t)
			c.prepare(t, &b)
			out := b.bootstrap(t, c.args...)
			if c.down < 0 {
				require.NoFileExists(t, platform.NodeReportFile)
				require.Contains(t, out, "launcher not installed")
				return
			}
			require.Len(t, readReport(t).down(), c.down, out)
		})
	}
}

// failCommand makes a command fail.
func failCommand(t *testing.T, command string) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, command), []byte("#!/bin/sh\necho "+command+": refused >&2\nexit 1\n"), 0o755))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}
