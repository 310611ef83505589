package cloud_test

import (
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/redelivery"
	"github.com/emr-observatory/emr-observatory/status"
)

// outage is a part that fails while a job runs.
type outage struct {
	name    string
	program string        // first word of the command line, or its end
	away    time.Duration // suspended for this long, then killed; zero kills at once
	sends   bool          // sends to a store: a line in flight may be stored twice
	repeats int           // how often it fails in a row, after the first time
}

// outages returns the outages, which are injected one after the other while one job runs.
func outages() []outage {
	return []outage{
		{name: "the control node's collector", program: "/otelcol-contrib", away: time.Minute, sends: true},
		{name: "the redelivery between collector and stores", program: "/opt/bin/observatory redeliver", away: 15 * time.Second,
			sends: true},
		{name: "VictoriaMetrics", program: "/victoria-metrics-prod", away: 15 * time.Second},
		{name: "VictoriaLogs", program: "/victoria-logs-prod", away: 15 * time.Second},
		// Tempo once lost the content of its write-ahead log.
		{name: "Tempo", program: "/tempo", away: 15 * time.Second, repeats: 29},
		{name: "Pyroscope", program: "/usr/bin/pyroscope", away: 15 * time.Second},
		{name: "the nodes' collectors", program: "/opt/observatory/bin/otelcol", sends: true},
		{name: "S3", program: "versitygw --port", away: 30 * time.Second},
	}
}

// allowedGap bounds the time between two samples of a node's counter: two
// intervals, and the restart of a killed collector. It is shorter than the long
// outages, so the loss of their samples is detected.
const allowedGap = 2*platform.CollectionInterval + 8*time.Second

// arrival bounds how long a line takes to reach VictoriaLogs if nothing fails: two
// batches, and the wait for the rest of a stack trace; with a margin.
const arrival = 10 * time.Second

// TestOutagesLoseNothing fails each server of the control node, the nodes'
// collectors and S3 while a job runs, and compares what arrived with what the
// nodes sent: every line, span and sample of the job, the samples of every node, the
// step's trace.
func TestOutagesLoseNothing(t *testing.T) {
	testenv.RequireLong(t, "assets/workloads kills the real stores and collector in every run, and assets/node takes the control node away")
	t.Parallel() // see maxClouds
	c := newCloud(t)
	c.up(t)
	testenv.Eventually(t, func() bool { return len(c.coreHosts(t)) == 2 }, testenv.Arrival, time.Second)
	cluster, began := c.outputs(t).Clusters["main"].ID, time.Now()
	run := strconv.FormatInt(began.UnixNano(), 36)
	ends := map[string]int{} // by outage, the number of the last line that it may affect
	result := c.duringMarkers(t, run, func() {
		_, problems, err := c.try(t, "up", "--no-job", "--config", "clusters.main.releaseLabel=emr-7.9.0")
		require.Error(t, err, "a running cluster is not replaced")
		require.Contains(t, problems, "nothing was changed")
		require.Contains(t, problems, "markers "+run)
		for _, o := range outages() {
			for range 1 + o.repeats {
				ends[o.name] = c.failAndRecover(t, o, run, cluster, began)
			}
		}
	})
	written := c.writtenMarkers(t, run, result)
	require.Greater(t, len(written), 100*markerTasks, "the job outlasted the outages")
	missing := func(signal string) []marker {
		stored := c.storedMarkers(t, signal, run)
		return slices.DeleteFunc(slices.Clone(written), func(m marker) bool { return stored[m] > 0 })
	}
	outageOf := func(m marker) outage {
		i := slices.IndexFunc(outages(), func(o outage) bool { return m.n <= ends[o.name] })
		if i < 0 {
			return outage{name: "none"}
		}
		return outages()[i]
	}
	lost := map[string]map[string]int{} // by outage and signal
	for _, o := range append(outages(), outage{name: "none"}) {
		lost[o.name] = map[string]int{}
	}
	for _, signal := range signals() {
		awaitStable(t, testenv.Start, func() int { return len(missing(signal)) })
		gone := missing(signal)
		assert.Emptyf(t, gone, "%s lost; last markers of the outages: %v", signal, ends)
		for _, m := range gone {
			lost[outageOf(m).name][signal]++
		}
	}
	duplicates := map[string]int{} // lines, by outage
	for m, n := range c.storedMarkers(t, "lines", run) {
		if n > 1 {
			o := outageOf(m)
			assert.Truef(t, o.sends, "%v stored %d times in the outage of %s", m, n, o.name)
			duplicates[o.name]++
		}
	}
	testenv.Eventually(t, func() bool {
		return c.tryGet(t, string(platform.WorkloadTempo), "/api/traces/"+result.TraceID, new(any)) == nil
	}, testenv.Arrival, time.Second, "the step's trace")
	// A late sample keeps its own timestamp: no gap may remain.
	testenv.Eventually(t, func() bool { return c.longestGap(t, cluster, began) <= allowedGap }, testenv.Start, 2*time.Second,
		"no gap of a counter's samples over %s", allowedGap)
	gap := c.longestGap(t, cluster, began)
	t.Logf("lost %v of %d markers, lines stored twice %v, longest gap of samples %s", lost, len(written), duplicates, gap)
	writeOutages(t, lost, duplicates, len(written), gap)

	t.Run("another cluster is replaced in a job", func(t *testing.T) { jobSurvivesReplacedNeighbour(t, c) })
	t.Run("a core node is lost in a job", func(t *testing.T) { jobSurvivesLostNode(t, c) })
}

// failAndRecover fails a part once and waits until everything arrives again and the
// redelivery has nothing left to send, so that no two outages overlap. It returns
// the number of the last line that this outage may affect.
func (c *cloud) failAndRecover(t *testing.T, o outage, run, cluster string, began time.Time) int {
	t.Helper()
	seen := c.lastMarker(t, run)
	c.fail(t, o)
	ended := time.Now()
	after := seen + int((o.away + arrival).Seconds())
	testenv.Eventually(t, func() bool { return c.lastMarker(t, run) > after }, testenv.Arrival, time.Second,
		"lines arrive again after the outage of %s", o.name)
	testenv.Eventually(t, func() bool { return c.longestGap(t, cluster, began) <= allowedGap }, testenv.Arrival, time.Second,
		"samples arrive again after the outage of %s", o.name)
	t.Logf("%s did not answer for %s; everything arrived again %s later", o.name, o.away, time.Since(ended).Round(time.Second))
	end := c.lastMarker(t, run)
	until := end + int(redelivery.Settled.Seconds())
	testenv.Eventually(t, func() bool { return c.lastMarker(t, run) > until }, testenv.Arrival, time.Second, "the redelivery has settled")
	return end
}

// awaitStable waits until a count is zero or has been stable for 20 seconds.
func awaitStable(t *testing.T, limit testenv.Limit, count func() int) {
	t.Helper()
	last, since := -1, time.Now()
	testenv.Eventually(t, func() bool {
		if n := count(); n != last {
			last, since = n, time.Now()
		}
		return last == 0 || time.Since(since) > 20*time.Second
	}, limit, time.Second, "a stable count")
}

// fail suspends a program's processes for o.away, then kills them.
func (c *cloud) fail(t *testing.T, o outage) {
	t.Helper()
	var pids []int
	// What was killed several times in a row waits before it starts again, up to half a minute.
	testenv.Eventually(t, func() bool {
		for pid, line := range c.processes(t) {
			if strings.HasPrefix(line, o.program+" ") || strings.Contains(line, "/"+o.program+" ") {
				pids = append(pids, pid)
			}
		}
		return len(pids) > 0
	}, testenv.Start, time.Second, "processes of %s", o.name)
	if o.away > 0 {
		for _, pid := range pids {
			require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
		}
		time.Sleep(o.away) // the outage itself
	}
	for _, pid := range pids {
		require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	}
}

// jobSurvivesLostNode kills a core node during a job. The job continues on the other
// node once Spark has missed the lost executors' heartbeats, which arrive every 10 s;
// the default timeout of two to three minutes would only make the test longer. The
// node without the application master is killed, and the other executor is kept even
// while it idles, because YARN replaces lost containers only after ten minutes
// (yarn.nm.liveness-monitor.expiry-interval-ms).
func jobSurvivesLostNode(t *testing.T, c *cloud) {
	var lost string
	var killed time.Time
	run := strconv.FormatInt(time.Now().UnixNano(), 36)
	result := c.duringMarkers(t, run, func() {
		programs := c.processes(t)
		var master string
		for pid, program := range programs {
			if strings.Contains(program, "spark.deploy.yarn.ExecutorLauncher") {
				master = hostOf(t, pid)
			}
		}
		for pid, program := range programs {
			if strings.Contains(program, "Dproc_NodeManager") && hostOf(t, pid) != master {
				lost = hostOf(t, pid)
				require.NoError(t, syscall.Kill(c.machineOf(t, pid), syscall.SIGKILL))
				killed = time.Now()
			}
		}
		require.NotEmptyf(t, lost, "a NodeManager elsewhere than on %s", master)
	}, "spark.dynamicAllocation.executorIdleTimeout=10m", "spark.storage.blockManagerHeartbeatTimeoutMs=45s",
		"spark.network.timeoutInterval=5s")
	written := c.writtenMarkers(t, run, result)
	testenv.Eventually(t, func() bool {
		stored := c.storedMarkers(t, "lines", run)
		return !slices.ContainsFunc(written, func(m marker) bool { return stored[m] == 0 })
	}, testenv.Arrival, time.Second, "the other node's lines")
	nodes := c.status(t).Nodes
	i := slices.IndexFunc(nodes, func(n status.Node) bool { return n.Host == lost })
	require.GreaterOrEqualf(t, i, 0, "/status lists %s", lost)
	require.Falsef(t, nodes[i].LastSeen.After(killed), "/status: %s was killed at %s and last seen at %s", lost, killed, nodes[i].LastSeen)
}
