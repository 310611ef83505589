package node_test

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/emr-observatory/emr-observatory/assets/node"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
)

// unpackCollector returns the locked collector's binary for this machine.
func unpackCollector(t *testing.T) string {
	t.Helper()
	f, err := os.Open(lockedFile(t, platform.ArtifactCollector(runtime.GOARCH)))
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "otelcol")
	out, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	require.NoError(t, err)
	_, err = io.Copy(out, z)
	require.NoError(t, err)
	require.NoError(t, out.Close())
	return path
}

// startCollector runs the real collector with the rendered configuration, as
// its unit would on a core node. edits are pairs of old and new text in it.
func startCollector(t *testing.T, edits ...string) (stop func()) {
	t.Helper()
	config, err := node.CollectorConfig()
	require.NoError(t, err)
	write(t, platform.NodeCollectorConfig, strings.NewReplacer(edits...).Replace(string(config)))
	cmd := exec.Command(unpackCollector(t), "--config", platform.NodeCollectorConfig)
	cmd.Env = append(os.Environ(),
		"OBSERVATORY_CLUSTER=j-ABC123", "OBSERVATORY_ROLE=core", "OBSERVATORY_HOST="+nodeHost, "OBSERVATORY_CONTROL="+controlIP,
		fmt.Sprintf("OBSERVATORY_YARN_TARGETS=[%s:%d]", nodeIP, platform.NodeManagerUI), "OBSERVATORY_HDFS_TARGETS=[]")
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	cmd.Stdout, cmd.Stderr = log, log
	require.NoError(t, cmd.Start())
	stop = func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	}
	t.Cleanup(func() {
		stop()
		if t.Failed() {
			content, _ := os.ReadFile(log.Name())
			t.Log("collector: " + string(content))
		}
	})
	return stop
}

var hostLabels = labels{"cluster": "j-ABC123", "node.role": "core", "host.name": nodeHost}

// with returns l with another label.
func (l labels) with(key, value string) labels {
	out := maps.Clone(l)
	out[key] = value
	return out
}

func TestCollectorSendsHostDaemonAndOwnMetrics(t *testing.T) {
	if !onMachine(t) {
		return
	}
	serveDaemon(t)
	s := startSink(t, fmt.Sprintf("%s:%d", controlIP, platform.OTLPGRPC))
	startCollector(t)

	for _, name := range []string{"system.cpu.time", "system.cpu.logical.count", "system.memory.usage", "system.memory.limit",
		"system.cpu.load_average.1m"} {
		require.Equal(t, hostLabels.with("service.name", "node-collector"), s.metric(t, name, nil).resource, name)
	}
	yarn := s.metric(t, "node_manager_metrics_containers_running", nil)
	require.Equal(t, hostLabels.with("service.name", "yarn"), yarn.resource)
	point := yarn.metric.GetGauge().GetDataPoints()[0]
	require.InDelta(t, 3, point.GetAsDouble(), 0)
	require.Empty(t, attributes(point.GetAttributes()), "hostname and context repeat the resource")

	queue := s.metric(t, "otelcol_exporter_queue_capacity", nil)
	require.Equal(t, hostLabels.with("service.name", "node-collector"), queue.resource)
	s.metric(t, "otelcol_process_memory_rss", nil)
	found := map[string]float64{}
	for _, point := range s.metric(t, "queue_metrics_available_mb", nil).metric.GetGauge().GetDataPoints() {
		found[attributes(point.GetAttributes())["partition"]] = point.GetAsDouble()
	}
	require.Equal(t, map[string]float64{"": 1024, "ON_DEMAND": 4096}, found, "nodes without a label, and with one")
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, row := range s.metrics {
		require.NotContains(t, row.metric.GetName(), "not_wanted")
		if row.metric.GetName() == "queue_metrics_apps_running" {
			require.NotContains(t, attributes(row.metric.GetGauge().GetDataPoints()[0].GetAttributes()), "user")
		}
	}
}

// serveDaemon answers at /prom as a NodeManager of Hadoop 3.4.1 does.
func serveDaemon(t *testing.T) {
	t.Helper()
	listener, err := net.Listen("tcp", fmt.Sprintf("%s:%d", nodeIP, platform.NodeManagerUI))
	require.NoError(t, err)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain;charset=utf-8")
		_, _ = io.WriteString(w, `# TYPE node_manager_metrics_containers_running gauge
node_manager_metrics_containers_running{context="yarn",hostname="ip-10-0-0-17"} 3
# TYPE queue_metrics_apps_running gauge
queue_metrics_apps_running{queue="root",context="yarn",hostname="x"} 1
queue_metrics_apps_running{queue="root",user="hadoop",context="yarn",hostname="x"} 1
# TYPE queue_metrics_available_mb gauge
queue_metrics_available_mb{queue="root",context="yarn",hostname="x"} 1024
# TYPE partition_queue_metrics_available_mb gauge
partition_queue_metrics_available_mb{partition="",queue="root",context="yarn",hostname="x"} 1024
partition_queue_metrics_available_mb{partition="ON_DEMAND",queue="root",context="yarn",hostname="x"} 4096
partition_queue_metrics_available_mb{partition="ON_DEMAND",context="yarn",hostname="x"} 5
partition_queue_metrics_available_mb{partition="ON_DEMAND",queue="root",user="hadoop",context="yarn",hostname="x"} 7
# TYPE partition_queue_metrics_apps_running gauge
partition_queue_metrics_apps_running{partition="ON_DEMAND",queue="root",context="yarn",hostname="x"} 1
# TYPE not_wanted gauge
not_wanted{hostname="x"} 1
`)
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
}

// rotate appends to a log and renames it at once, as log4j does.
func rotate(t *testing.T, file, last string) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(last)
	require.NoError(t, errors.Join(err, f.Close(), os.Rename(file, file+".1")))
}

const sparkLog = `26/11/20 10:00:00 INFO SparkContext: Running Spark version 3.5.5
26/11/20 10:00:01 ERROR Executor: Exception in task 0.0 in stage 1.0 (TID 3)
java.lang.RuntimeException: no such column
	at org.example.Job.run(Job.scala:7)
Caused by: java.io.IOException: gone
	... 12 more
26/11/20 10:00:02 WARN TaskSetManager: Lost task 0.0
plain words of a user's program
Traceback (most recent call last):
  File "job.py", line 3, in <module>
ValueError: bad row
26/11/20 10:00:03 INFO SparkContext: Successfully stopped SparkContext
`

func TestCollectorReadsLogs(t *testing.T) {
	if !onMachine(t) {
		return
	}
	const application, container = "application_1700000000000_0001", "container_1700000000000_0001_01_000002"
	stderr := filepath.Join(platform.EMRContainerLogDir, application, container, "stderr")
	write(t, stderr, sparkLog)
	daemonLog := "/var/log/hadoop-yarn/hadoop-yarn-nodemanager-" + nodeHost + ".log"
	write(t, daemonLog, "2026-11-20 10:00:00,123 WARN org.apache.hadoop.yarn.Thing: disk is full\n")
	write(t, platform.EMRStepLogDir+"/s-1ABC/controller", "2026-11-20T10:00:00.500Z INFO startExec 'hadoop jar x'\n")
	s := startSink(t, fmt.Sprintf("%s:%d", controlIP, platform.OTLPGRPC))
	stop := startCollector(t)

	hasBody := func(part string) func(logRow) bool {
		return func(r logRow) bool { return strings.Contains(r.record.GetBody().GetStringValue(), part) }
	}
	errorRecord := s.log(t, "of the error", hasBody("Exception in task"))
	require.Equal(t, hostLabels.with("service.name", "yarn-container").with("spark.app.id", application), errorRecord.resource)
	require.Equal(t, container, errorRecord.attributes["yarn.container.id"])
	require.Equal(t, "ERROR", strings.ToUpper(errorRecord.record.GetSeverityText()))
	require.Contains(t, errorRecord.record.GetBody().GetStringValue(), "... 12 more", "the stack trace belongs to its line")
	require.Equal(t, time.Date(2026, 11, 20, 10, 0, 1, 0, time.Local).UnixNano(), int64(errorRecord.record.GetTimeUnixNano()))

	python := s.log(t, "of the traceback", hasBody("Traceback"))
	require.Contains(t, python.record.GetBody().GetStringValue(), "ValueError: bad row")
	require.Equal(t, "SEVERITY_NUMBER_ERROR", python.record.GetSeverityNumber().String())
	require.Equal(t, "SEVERITY_NUMBER_UNSPECIFIED", s.log(t, "plain", hasBody("plain words")).record.GetSeverityNumber().String())

	require.Equal(t, hostLabels.with("service.name", "yarn"), s.log(t, "of the daemon", hasBody("disk is full")).resource)
	rotate(t, daemonLog, "2026-11-20 10:00:05,000 WARN org.apache.hadoop.yarn.Thing: last before the rotation\n")
	s.log(t, "of the rotated file", hasBody("last before the rotation"))
	step := s.log(t, "of the step", hasBody("startExec"))
	require.Equal(t, hostLabels.with("service.name", "emr-step"), step.resource)
	require.Equal(t, "s-1ABC", step.attributes["emr.step.id"])
	s.log(t, "of the end", hasBody("Successfully stopped"))

	// After a restart the collector continues where it was; it does not read a file
	// again that was gzipped in place.
	stop()
	s.mu.Lock()
	before := len(s.logs)
	s.mu.Unlock()
	require.NoError(t, exec.Command("gzip", stderr).Run())
	write(t, filepath.Join(filepath.Dir(stderr), "stdout"), "after the restart\n")
	startCollector(t)
	s.log(t, "after the restart", hasBody("after the restart"))
	s.mu.Lock()
	defer s.mu.Unlock()
	require.Len(t, s.logs, before+1)
}

// A job may write to the folders whose logs are read. It has no other file read by a link,
// and stops nothing by a FIFO or a lease. EMR's own links are followed.
func TestCollectorReadsRegularFilesOnly(t *testing.T) {
	if !onMachine(t) {
		return
	}
	const linked = "/mnt/var/log/hadoop-yarn"
	var above unix.Stat_t
	require.NoError(t, unix.Stat("/var", &above))
	if above.Uid == 0 { // to an ordinary user's namespace, root is somebody else
		require.NoError(t, os.MkdirAll(linked, 0o755))
		require.NoError(t, os.Symlink(linked, "/var/log/hadoop-yarn"))
	}
	application := filepath.Join(platform.EMRContainerLogDir, "application_1700000000000_0001")
	secret := "/opt/secrets/stderr"
	write(t, secret, "the secret of others\n")
	in := func(container, file string) string {
		folder := filepath.Join(application, "container_1700000000000_0001_01_00000"+container)
		require.NoError(t, os.MkdirAll(folder, 0o755))
		return filepath.Join(folder, file)
	}
	require.NoError(t, os.Symlink(secret, in("1", "stderr")))
	require.NoError(t, unix.Mkfifo(in("2", "stdout"), 0o644))
	write(t, in("3", "stdout"), "nobody opens this while the lease is held\n")
	leased, err := os.OpenFile(in("3", "stdout"), os.O_RDWR, 0)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, leased.Close()) })
	_, err = unix.FcntlInt(leased.Fd(), unix.F_SETLEASE, unix.F_WRLCK)
	require.NoError(t, err)
	require.NoError(t, os.Symlink(filepath.Dir(secret), filepath.Join(application, "container_1700000000000_0001_01_000004")))
	require.NoError(t, os.Chmod(application, 0o777)) // as a job's user
	s := startSink(t, fmt.Sprintf("%s:%d", controlIP, platform.OTLPGRPC))
	startCollector(t)
	own, err := os.Create(in("5", "stderr"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, own.Close()) })
	const first = "what the job says first"
	for _, said := range []string{first, "what it says after another poll"} {
		_, err = own.WriteString(said + "\n")
		require.NoError(t, err)
		s.log(t, said, func(r logRow) bool { return strings.Contains(r.record.GetBody().GetStringValue(), said) })
		s.mu.Lock()
		for _, r := range s.logs {
			require.NotContains(t, r.record.GetBody().GetStringValue(), "the secret")
			if said == first { // later the kernel breaks the lease (lease-break-time in proc_sys_fs(5))
				require.NotContains(t, r.record.GetBody().GetStringValue(), "the lease", "the poll has waited for the lease's holder")
			}
		}
		s.mu.Unlock()
	}
}

func TestCollectorQueuesOnDiskWhileControlNodeIsDown(t *testing.T) {
	if !onMachine(t) {
		return
	}
	write(t, "/var/log/hadoop-yarn/hadoop-yarn-nodemanager-x.log", "2026-11-20 10:00:00,123 INFO before the control node was there\n")
	stop := startCollector(t)
	testenv.Eventually(t, func() bool {
		files, _ := filepath.Glob(platform.NodeQueueDir + "/exporter_otlp_grpc__logs")
		return len(files) == 1 && contains(files[0], "before the control node was there")
	}, testenv.Arrival, 100*time.Millisecond, "the record waits on disk")
	stop()
	s := startSink(t, fmt.Sprintf("%s:%d", controlIP, platform.OTLPGRPC))
	startCollector(t)
	s.log(t, "from the queue", func(r logRow) bool {
		return strings.Contains(r.record.GetBody().GetStringValue(), "before the control node")
	})
}

// contains reports whether a file has a text.
func contains(path, text string) bool {
	content, err := os.ReadFile(path)
	return err == nil && strings.Contains(string(content), text)
}
