// Package storetest starts the real stores on loopback for tests: one process
// each, its data in the test's folder, ended with the test.
package storetest

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud/servers"
	"github.com/emr-observatory/emr-observatory/platform"
)

// readyWithin is how long a store may take to answer on a busy machine.
const readyWithin = 60 * time.Second

// Metrics starts VictoriaMetrics with the naming the platform uses; samples can
// be queried as soon as they are in.
func Metrics(t testing.TB) string {
	t.Helper()
	address := free(t)
	start(t, platform.WorkloadVictoriaMetrics,
		"-httpListenAddr="+address, "-storageDataPath="+t.TempDir(),
		"-opentelemetry.usePrometheusNaming", "-opentelemetry.promoteScopeMetadata=false",
		"-search.latencyOffset=0s", "-search.minStalenessInterval=1m")
	return ready(t, platform.WorkloadVictoriaMetrics, address, "/health")
}

// Logs starts VictoriaLogs.
func Logs(t testing.TB) string {
	t.Helper()
	address := free(t)
	start(t, platform.WorkloadVictoriaLogs, "-httpListenAddr="+address, "-storageDataPath="+t.TempDir())
	return ready(t, platform.WorkloadVictoriaLogs, address, "/health")
}

// Traces starts Tempo with blocks on disk, and gives its API and its OTLP/HTTP
// address.
func Traces(t testing.TB) (api, otlp string) {
	t.Helper()
	dir, address, grpc, otlpAddress, gossip := t.TempDir(), free(t), free(t), free(t), free(t)
	config := fmt.Sprintf(`
stream_over_http_enabled: true
server: {http_listen_address: 127.0.0.1, http_listen_port: %s, grpc_listen_address: 127.0.0.1, grpc_listen_port: %s}
distributor: {receivers: {otlp: {protocols: {http: {endpoint: "%s"}}}}}
ingester: {trace_idle_period: 1s, lifecycler: {address: 127.0.0.1, min_ready_duration: 0s}}
storage: {trace: {backend: local, wal: {path: %s/wal}, local: {path: %s/blocks}}}
memberlist: {bind_addr: [127.0.0.1], bind_port: %s}
usage_report: {reporting_enabled: false}
`, port(address), port(grpc), otlpAddress, dir, dir, port(gossip))
	start(t, platform.WorkloadTempo, "-config.file="+write(t, dir, config))
	return ready(t, platform.WorkloadTempo, address, "/ready"), "http://" + otlpAddress
}

// Profiles starts Pyroscope with blocks on disk.
func Profiles(t testing.TB) string {
	t.Helper()
	dir, address, grpc := t.TempDir(), free(t), free(t)
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
	start(t, platform.WorkloadPyroscope, "-config.file="+write(t, dir, config))
	return ready(t, platform.WorkloadPyroscope, address, "/ready")
}

func write(t testing.TB, dir, config string) string {
	t.Helper()
	path := filepath.Join(dir, "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte(config), 0o600))
	return path
}

// free gives a loopback address nobody listens on.
func free(t testing.TB) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	return listener.Addr().String()
}

func port(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}

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
			said, _ := os.ReadFile(log.Name())
			t.Logf("%s said at last:\n%s", workload, said[max(0, len(said)-4000):])
		}
		_ = log.Close()
	})
}

func ready(t testing.TB, workload platform.Workload, address, path string) string {
	t.Helper()
	base := "http://" + address
	require.Eventually(t, func() bool {
		response, err := http.Get(base + path)
		if err != nil {
			return false
		}
		defer response.Body.Close()
		return response.StatusCode == http.StatusOK
	}, readyWithin, 100*time.Millisecond, "%s does not become ready", workload)
	return base
}
