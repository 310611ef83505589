package node_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	collectorlogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
)

func TestBootstrapContinuesWithoutAPart(t *testing.T) {
	if !onMachine(t) {
		return
	}
	components := map[string]string{
		platform.ArtifactProfiler:                  string(platform.ComponentProfiler),
		platform.ArtifactPlugin:                    string(platform.ComponentPlugin),
		platform.ArtifactConnect:                   string(platform.ComponentConnect),
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
	writeEMRInfo(t, platform.RoleCore, 3)
	serveMetadata(t)
	answerHealth(t)
	received := startReceiver(t)
	identity := labels{"cluster": "j-ABC123", "node.role": "core", "host.name": nodeHost, "service.name": "emr-bootstrap"}
	// Each part and each fault once; all combinations in the hour-long form.
	one := map[string]string{
		platform.ArtifactProfiler: "missing", platform.ArtifactPlugin: "truncated", platform.ArtifactConnect: "other",
		platform.ArtifactCollector(runtime.GOARCH): "hanging",
	}
	for name, component := range components {
		require.Contains(t, faults, one[name])
		for kind, fault := range faults {
			if !testenv.Long() && one[name] != kind {
				continue
			}
			t.Run(name+" "+kind, func(t *testing.T) {
				require.NoError(t, os.RemoveAll(platform.NodeInstallDir))
				b := newBucket(t, gzipBytes(t, "#!/bin/sh\nexit 0\n"))
				fakeCommands(t, b.dir)
				limit := 20 // a busy machine may need seconds
				if kind == "hanging" {
					limit = 3
				}
				shortenTimeouts(t, limit)
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

// shortenTimeouts skips the script's pauses, and limits each download to this many
// seconds.
func shortenTimeouts(t *testing.T, seconds int) {
	t.Helper()
	dir := t.TempDir()
	timeout := fmt.Appendf(nil, "#!/bin/sh\nshift\nexec /usr/bin/timeout %d \"$@\"\n", seconds)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sleep"), []byte("#!/bin/sh\n[ \"$1\" = 600 ] && exec /bin/sleep 600\nexit 0\n"),
		0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "timeout"), timeout, 0o755))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

func TestBootstrapReportsUnresponsiveCollector(t *testing.T) {
	if !onMachine(t) {
		return
	}
	b := newBucket(t, gzipBytes(t, "#!/bin/sh\nexit 1\n"))
	fakeCommands(t, b.dir)
	shortenTimeouts(t, 20)
	writeEMRInfo(t, platform.RoleTask, 3)
	b.bootstrap(t)
	require.Contains(t, readReport(t).down()["collector"], "does not answer on port 13133")
}

// The collector scrapes the daemons that run on its node, and no others.
func TestBootstrapNamesTheDaemonsOfTheNode(t *testing.T) {
	if !onMachine(t) {
		return
	}
	b := newBucket(t, gzipBytes(t, "#!/bin/sh\nexit 1\n"))
	require.NoError(t, os.Remove(b.file(platform.ArtifactCollector(runtime.GOARCH)))) // nothing is started
	fakeCommands(t, b.dir)
	serveMetadata(t)
	shortenTimeouts(t, 20)
	for name, c := range map[string]struct {
		role       string
		nodes      int
		yarn, hdfs []platform.Port
	}{
		"primary": {platform.RoleMaster, 3, []platform.Port{platform.ResourceManagerUI}, []platform.Port{platform.NameNodeUI}},
		"core":    {platform.RoleCore, 3, []platform.Port{platform.NodeManagerUI}, []platform.Port{platform.DataNodeUI}},
		"task":    {platform.RoleTask, 3, []platform.Port{platform.NodeManagerUI}, nil},
		"one node": {platform.RoleMaster, 1, []platform.Port{platform.NodeManagerUI, platform.ResourceManagerUI},
			[]platform.Port{platform.DataNodeUI, platform.NameNodeUI}},
	} {
		t.Run(name, func(t *testing.T) {
			writeEMRInfo(t, c.role, c.nodes)
			b.bootstrap(t)
			env, err := os.ReadFile(platform.NodeCollectorEnv)
			require.NoError(t, err)
			require.Contains(t, string(env), platform.EnvRole+"="+c.role+"\n")
			require.Contains(t, string(env), platform.EnvYARNTargets+"="+targets(c.yarn)+"\n")
			require.Contains(t, string(env), platform.EnvHDFSTargets+"="+targets(c.hdfs)+"\n")
		})
	}
}

// targets is a YAML list of a node's ports.
func targets(ports []platform.Port) string {
	list := make([]string, 0, len(ports))
	for _, p := range ports {
		list = append(list, fmt.Sprintf("%s:%d", nodeIP, p))
	}
	return "[" + strings.Join(list, ",") + "]"
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
		"no arguments":  {[]string{}, func(t *testing.T, _ *bucket) { writeEMRInfo(t, platform.RoleCore, 3) }, downloads()},
		"no sudo right": {nil, func(t *testing.T, _ *bucket) { failCommand(t, "sudo") }, -1},
		"no aws":        {nil, func(t *testing.T, _ *bucket) { failCommand(t, "aws") }, downloads()},
		"no systemctl":  {nil, func(t *testing.T, _ *bucket) { failCommand(t, "systemctl") }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.RemoveAll(platform.NodeInstallDir))
			require.NoError(t, os.RemoveAll(platform.EMRInfoDir))
			b := newBucket(t, gzipBytes(t, "#!/bin/sh\nexit 0\n"))
			fakeCommands(t, b.dir)
			shortenTimeouts(t, 20)
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
