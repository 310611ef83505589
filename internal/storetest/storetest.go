// Package storetest starts the real stores on loopback for tests: one process
// each, with its data in the test's folder, stopped when the test ends.
package storetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/toolchain/servers"
)

// Metrics starts VictoriaMetrics with the platform's naming rule, and returns its URL.
// Samples can be queried as soon as they are ingested. The cache of the series that a
// filter has found would hide new ones for up to 11 s: a size of 1 byte disables it.
func Metrics(t testing.TB) string {
	t.Helper()
	return DefaultMetrics(t, "-opentelemetry.usePrometheusNaming", "-opentelemetry.promoteScopeMetadata=false",
		"-search.latencyOffset=0s", "-search.minStalenessInterval=1m",
		"-storage.cacheSizeIndexDBTagFilters=1")
}

// DefaultMetrics starts VictoriaMetrics with its own defaults, which hide the newest
// 30 s from queries, and the given flags. It returns the server's URL.
func DefaultMetrics(t testing.TB, flags ...string) string {
	t.Helper()
	return victoria(t, platform.WorkloadVictoriaMetrics, flags...)
}

// Logs starts VictoriaLogs and returns its URL.
func Logs(t testing.TB) string {
	t.Helper()
	return victoria(t, platform.WorkloadVictoriaLogs)
}

// victoria starts VictoriaMetrics or VictoriaLogs, which take the same flags.
func victoria(t testing.TB, workload platform.Workload, flags ...string) string {
	t.Helper()
	address := testenv.Address(t)
	start(t, workload, append([]string{"-httpListenAddr=" + address, "-storageDataPath=" + t.TempDir()}, flags...)...)
	return awaitReady(t, workload, address, "/health")
}

// Traces starts Tempo with blocks on disk, and returns the URLs of its API and
// of its OTLP/HTTP receiver.
func Traces(t testing.TB) (api, otlp string) {
	t.Helper()
	dir, address, grpc := t.TempDir(), testenv.Address(t), testenv.Address(t)
	otlpAddress, gossip := testenv.Address(t), testenv.Address(t)
	config := fmt.Sprintf(`
stream_over_http_enabled: true
server: {http_listen_address: 127.0.0.1, http_listen_port: %s, grpc_listen_address: 127.0.0.1, grpc_listen_port: %s}
distributor: {receivers: {otlp: {protocols: {http: {endpoint: "%s"}}}}}
ingester: {trace_idle_period: 1s, lifecycler: {address: 127.0.0.1, min_ready_duration: 0s}}
storage: {trace: {backend: local, wal: {path: %s/wal}, local: {path: %s/blocks}}}
memberlist: {bind_addr: [127.0.0.1], bind_port: %s}
usage_report: {reporting_enabled: false}
`, port(address), port(grpc), otlpAddress, dir, dir, port(gossip))
	start(t, platform.WorkloadTempo, "-config.file="+writeConfig(t, dir, config))
	return awaitReady(t, platform.WorkloadTempo, address, "/ready"), "http://" + otlpAddress
}

// Profiles starts Pyroscope with blocks on disk, and returns its URL.
func Profiles(t testing.TB) string {
	t.Helper()
	dir, address, grpc := t.TempDir(), testenv.Address(t), testenv.Address(t)
	const memory = "kvstore: {store: inmemory}"
	config := fmt.Sprintf(`
server: {http_listen_address: 127.0.0.1, http_listen_port: %s, grpc_listen_address: 127.0.0.1, grpc_listen_port: %s}
storage: {backend: filesystem, filesystem: {dir: %s/blocks}}
frontend: {instance_addr: 127.0.0.1}
ingester: {lifecycler: {address: 127.0.0.1, min_ready_duration: 0s, ring: {%s, replication_factor: 1}}}
distributor: {ring: {instance_addr: 127.0.0.1, %s}}
query_scheduler: {ring: {instance_addr: 127.0.0.1, %s}}
store_gateway: {sharding_ring: {instance_addr: 127.0.0.1, %s}}
compactor: {data_dir: %s/compactor, sharding_ring: {instance_addr: 127.0.0.1, %s}}
overrides_exporter: {ring: {instance_addr: 127.0.0.1, %s}}
pyroscopedb: {data_path: %s/data}
self_profiling: {disable_push: true}
analytics: {reporting_enabled: false}
`, port(address), port(grpc), dir, memory, memory, memory, memory, dir, memory, memory, dir)
	start(t, platform.WorkloadPyroscope, "-config.file="+writeConfig(t, dir, config))
	return awaitReady(t, platform.WorkloadPyroscope, address, "/ready")
}

func writeConfig(t testing.TB, dir, config string) string {
	t.Helper()
	path := filepath.Join(dir, "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte(config), 0o600))
	return path
}

func port(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}

// start runs a store until the end of the test.
func start(t testing.TB, workload platform.Workload, args ...string) {
	t.Helper()
	binary, err := servers.Find(context.Background(), string(workload))
	require.NoError(t, err)
	log, err := os.Create(filepath.Join(t.TempDir(), string(workload)+".log"))
	require.NoError(t, err)
	command := exec.Command(binary, args...)
	command.Stdout, command.Stderr, command.Dir = log, log, t.TempDir()
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		if t.Failed() {
			content, _ := os.ReadFile(log.Name())
			t.Logf("end of the log of %s:\n%s", workload, content[max(0, len(content)-4000):])
		}
		_ = log.Close()
	})
}

// awaitReady waits until a store is ready and returns its URL.
func awaitReady(t testing.TB, workload platform.Workload, address, path string) string {
	t.Helper()
	base := "http://" + address
	testenv.Eventually(t, func() bool {
		response, err := http.Get(base + path)
		if err != nil {
			return false
		}
		defer response.Body.Close()
		return response.StatusCode == http.StatusOK
	}, testenv.Start, 100*time.Millisecond, "%s does not become ready", workload)
	return base
}

// Post sends a body, which must be accepted.
func Post(t testing.TB, target, contentType string, body []byte) {
	t.Helper()
	response, err := http.Post(target, contentType, bytes.NewReader(body))
	require.NoError(t, err)
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Less(t, response.StatusCode, http.StatusMultipleChoices, "%s: %s", target, content)
}

// Get reads a page.
func Get(t testing.TB, target string) []byte {
	t.Helper()
	response, err := http.Get(target)
	require.NoError(t, err)
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode, "%s: %s", target, content)
	return content
}

// Series is a series in the answer to an instant query.
type Series struct {
	Metric map[string]string
	Number float64
}

// Ask returns VictoriaMetrics' answer to an instant query at a time.
func Ask(t testing.TB, metrics, expression string, at time.Time) (found []Series) {
	t.Helper()
	query := url.Values{"query": {expression}, "time": {strconv.FormatInt(at.Unix(), 10)}}
	var answer struct {
		Data struct {
			Result []struct {
				Metric map[string]string
				Value  [2]any
			}
		}
	}
	require.NoError(t, json.Unmarshal(Get(t, metrics+"/api/v1/query?"+query.Encode()), &answer))
	for _, series := range answer.Data.Result {
		text, _ := series.Value[1].(string)
		number, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err)
		found = append(found, Series{series.Metric, number})
	}
	return found
}
