package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/prometheus/procfs"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/processes"
)

// Command lines of a local cloud, shortened.
func cloudProcesses() map[consumer][]processes.Process {
	const java = "/usr/lib/jvm/jre-17/bin/java"
	return map[consumer][]processes.Process{
		ownProcesses: {
			{Parent: 1, Args: []string{java, "-cp", "/usr/lib/spark/jars/*", "org.apache.spark.deploy.SparkSubmit", "--deploy-mode", "client"}},
			{Parent: 100, Args: []string{"/usr/bin/python3", "/tmp/spark-e233ac91/orders.py"}}, // child of the first
			{Parent: 1, Args: []string{java, "-server", "org.apache.spark.executor.YarnCoarseGrainedExecutorBackend", "--executor-id", "1"}},
			{Parent: 1, Args: []string{java, "-server", "org.apache.spark.deploy.yarn.ExecutorLauncher", "--arg", "ip-10-0-1-10:41373"}},
		},
		nodeCollectors:   {{Parent: 1, Args: []string{"/opt/observatory/bin/otelcol", "--config", "/opt/observatory/collector.yaml"}}},
		controlCollector: {{Parent: 1, Args: []string{"/otelcol-contrib", "--config=/etc/observatory/collector.yaml"}}},
		redeliveryProxy:  {{Parent: 1, Args: []string{"/opt/bin/observatory", "redeliver", "--listen=0.0.0.0:4319"}}},
		telemetryStores: {
			{Parent: 1, Args: []string{"/victoria-metrics-prod", "-httpListenAddr=:8428"}},
			{Parent: 1, Args: []string{"/victoria-logs-prod", "-httpListenAddr=:9428"}},
			{Parent: 1, Args: []string{"/tempo", "-config.file=/etc/observatory/tempo.yaml"}},
			{Parent: 1, Args: []string{"/usr/bin/pyroscope", "-config.file=/etc/observatory/pyroscope.yaml"}},
		},
		noConsumer: {
			{Parent: 1, Args: []string{"/opt/bin/observatory", "serve", "--config", "/etc/observatory/status.json"}},
			{Parent: 1, Args: []string{java, "-Dproc_HistoryServer", "org.apache.spark.deploy.history.HistoryServer"}},
			{Parent: 1, Args: []string{"/tmp/bin/machined", "boot"}},
		},
	}
}

func TestConsumersOfProcesses(t *testing.T) {
	var found []processes.Process
	want := map[int]consumer{}
	pid := 200
	for c, processes := range cloudProcesses() {
		for i, p := range processes {
			p.PID = pid
			if c == ownProcesses && i == 0 {
				p.PID = 100 // Python's parent
			}
			found, want[p.PID] = append(found, p), c
			pid++
		}
	}
	require.Equal(t, want, consumers(found))
}

// The launcher names its threads; the kernel keeps 15 bytes of a name.
func TestEveryThreadOfTheLauncherHasItsConsumer(t *testing.T) {
	names := map[string]consumer{}
	constant := regexp.MustCompile(`(?:Thread\(.*|THREAD = )"(observatory-[a-z-]+)"`)
	require.NoError(t, filepath.WalkDir("../../assets/node/launcher/src", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range constant.FindAllStringSubmatch(string(source), -1) {
			names[m[1]] = consumerOfThread(m[1][:min(len(m[1]), 15)])
		}
		return err
	}))
	require.Equal(t, map[string]consumer{
		"observatory-launcher": launcherThreads, "observatory-telemetry": launcherThreads, "observatory-exit": launcherThreads,
		"observatory-context": launcherThreads, "observatory-profiler": profilerThreads, "observatory-profiler-exit": profilerThreads,
	}, names)
	require.Equal(t, profilerThreads, consumerOfThread("Async-profiler "))
	for _, name := range []string{"java", "GC Thread#0", "Executor task l", "dispatcher-even"} {
		require.Equal(t, noConsumer, consumerOfThread(name))
	}
}

// testdata/proc has threads of an executor, as the kernel showed them.
func TestTelemetryThreadsOfARealExecutor(t *testing.T) {
	proc, err := procfs.NewFS("testdata/proc")
	require.NoError(t, err)
	require.Equal(t, map[int]cpuTime{
		20927: {consumer: launcherThreads, last: 0.28},
		20970: {consumer: profilerThreads, last: 0.30},
		29874: {consumer: profilerThreads, last: 0}, // async-profiler's own, of this recording
	}, telemetryThreads(proc, 20736))
	require.Empty(t, telemetryThreads(proc, 1), "has ended")
}

func TestLedgerCountsWhatHasEnded(t *testing.T) {
	ledger := cpuLedger{}
	ledger.add(task{pid: 1}, nodeCollectors, 5, true) // ran before the job
	ledger.add(task{pid: 1}, nodeCollectors, 6, false)
	ledger.add(task{pid: 2}, ownProcesses, 3, false)
	ledger.add(task{2, 20}, launcherThreads, 0.25, false)
	ledger.add(task{2, 21}, profilerThreads, 0.75, false)
	ledger.add(task{pid: 2}, ownProcesses, 11, false) // its threads have ended before it
	for i, c := range []consumer{controlCollector, redeliveryProxy, telemetryStores} {
		ledger.add(task{pid: 3 + i}, c, 2, false)
	}
	got, err := ledger.attribute()
	require.NoError(t, err)
	require.Equal(t, jobCPU{
		Own: 10, LauncherThreads: 0.25, LauncherThreadsShare: 0.025, ProfilerThreads: 0.75, ProfilerThreadsShare: 0.075,
		NodeCollectors: 1, NodeCollectorsShare: 0.1, ControlCollector: 2, ControlCollectorShare: 0.2,
		Redelivery: 2, RedeliveryShare: 0.2, Stores: 2, StoresShare: 0.2,
	}, got)
}

// An empty measurement would look good.
func TestAttributionNeedsEveryConsumer(t *testing.T) {
	ledger := cpuLedger{}
	ledger.add(task{pid: 2}, ownProcesses, 3, false)
	_, err := ledger.attribute()
	require.ErrorContains(t, err, "launcher")
}
