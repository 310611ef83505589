package node_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/assets/node"
	"github.com/emr-observatory/emr-observatory/platform"
)

// bucket is a data bucket's folder with the artifacts of a bootstrap action.
type bucket struct {
	dir   string
	input node.BootstrapInput
}

// downloads is how many artifacts a node downloads: all but the launcher's.
func downloads() int { return len(platform.NodeParts()) - 1 }

func newBucket(t *testing.T, collector []byte) bucket {
	t.Helper()
	b := bucket{dir: t.TempDir()}
	jar, err := os.ReadFile(lockedFile(t, platform.ArtifactLauncher))
	require.NoError(t, err)
	b.input.LauncherJar = jar
	b.add(t, platform.ArtifactProfiler, "", []byte("async-profiler"))
	b.add(t, platform.ArtifactPlugin, "", []byte("plugin"))
	b.add(t, platform.ArtifactConnect, "", []byte("interceptor"))
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

// primary makes this machine a primary node that has not run its bootstrap action, with
// the real collector in its bucket.
func primary(t *testing.T) (bucket, *sink) {
	t.Helper()
	collector, err := os.ReadFile(lockedFile(t, platform.ArtifactCollector(runtime.GOARCH)))
	require.NoError(t, err)
	b := newBucket(t, collector)
	fakeCommands(t, b.dir)
	serveMetadata(t)
	writeEMRInfo(t, platform.RoleMaster, 3)
	return b, startSink(t, fmt.Sprintf("%s:%d", controlIP, platform.OTLPGRPC))
}

// A cluster that reports its hosts only gets the collector, which reads no daemons.
func TestBootstrapOfHostsOnlyInstallsTheCollectorAlone(t *testing.T) {
	if !onMachine(t) {
		return
	}
	b, s := primary(t)
	_, hash, err := node.Bootstrap(b.input)
	require.NoError(t, err)
	out := b.bootstrap(t, controlIP, "s3://bucket/artifacts/", hash, platform.BootstrapHostsOnly)
	t.Log(out)
	r := readReport(t)
	require.Empty(t, r.down())
	require.Len(t, r.Components, 1)
	require.Equal(t, hash, r.Content, "the same action as of every cluster")
	for _, jar := range []string{platform.NodeLauncherJar, platform.NodeProfilerJar, platform.NodePluginJar, platform.NodeConnectJar} {
		require.NoFileExists(t, jar)
	}
	calls, err := os.ReadFile(filepath.Join(b.dir, "calls"))
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(calls), "s3 cp"), "%s", calls)
	env, err := os.ReadFile(platform.NodeCollectorEnv)
	require.NoError(t, err)
	require.Contains(t, string(env), "OBSERVATORY_YARN_TARGETS=[]")
	require.Contains(t, string(env), "OBSERVATORY_HDFS_TARGETS=[]")
	points := s.metric(t, platform.MetricBootstrapUp, nil).metric.GetGauge().GetDataPoints()
	require.Len(t, points, 1)
	require.Equal(t, "collector", attributes(points[0].GetAttributes())["component"])
	require.Equal(t, "j-ABC123", s.metric(t, "system.memory.usage", nil).resource["cluster"])
}

func TestBootstrapInstallsPartsAndStartsCollector(t *testing.T) {
	if !onMachine(t) {
		return
	}
	b, s := primary(t)
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
	require.Equal(t, map[string]int64{"launcher": 1, "collector": 1, "profiler": 1, "plugin": 1, "connect": 1}, up)

	count := func(words string) int {
		content, err := os.ReadFile(filepath.Join(b.dir, "calls"))
		require.NoError(t, err)
		return strings.Count(string(content), words)
	}
	calls := func() int { return count("s3 cp") }
	require.Equal(t, downloads(), calls())
	require.Equal(t, downloads(), count("--region "+nodeRegion), "the CLI's default region is in another partition than some clusters")
	b.bootstrap(t)
	require.Equal(t, downloads(), calls(), "a second run downloads nothing again")
	require.Empty(t, readReport(t).down())
}
