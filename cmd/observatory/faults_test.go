package main_test

import (
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/redelivery"
)

// outage is a part that fails while a job runs.
type outage struct {
	name    string
	program string        // as its command line begins, with or without the folder
	away    time.Duration // stopped for so long, then killed; zero kills at once
	sends   bool          // to a store: of what is on its way then, a line may be stored twice
}

// outages come one after the other while one job runs.
func outages() []outage {
	return []outage{
		{name: "the control node's collector", program: "/otelcol-contrib", away: time.Minute, sends: true},
		{name: "the redelivery between collector and stores", program: "/opt/bin/observatory redeliver", away: 15 * time.Second, sends: true},
		{name: "VictoriaMetrics", program: "/victoria-metrics-prod", away: 15 * time.Second},
		{name: "VictoriaLogs", program: "/victoria-logs-prod", away: 15 * time.Second},
		{name: "Tempo", program: "/tempo", away: 15 * time.Second},
		{name: "Pyroscope", program: "/usr/bin/pyroscope", away: 15 * time.Second},
		{name: "the nodes' collectors", program: "/opt/observatory/bin/otelcol", sends: true},
		{name: "S3", program: "versitygw --port", away: 30 * time.Second},
	}
}

// allowedGap is what may lie between two samples of a node's counter: two
// intervals, and the time in which a killed collector starts again. It is
// shorter than the long outages: one that loses their samples is seen.
const allowedGap = 2*platform.CollectionInterval + 8*time.Second

// arrival is how long a line may take to VictoriaLogs when nothing fails: two
// batches, and the wait for the rest of a stack trace; with time to spare.
const arrival = 10 * time.Second

// TestOutagesLoseNothing has each server of the control node, the nodes'
// collectors and S3 fail while a job runs, and compares what arrived with what
// the nodes themselves sent: every line, span and sample of the job, the samples
// of every node, the step's trace.
func TestOutagesLoseNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: brings up the whole local cloud")
	}
	c := newCloud(t)
	c.up(t)
	require.Eventually(t, func() bool { return len(c.coreHosts(t)) == 2 }, time.Minute, time.Second)
	cluster, began := c.outputs(t).EMRClusterID, time.Now()
	run := strconv.FormatInt(began.UnixNano(), 36)
	ends := map[string]int{} // number of the last line that may be an outage's
	result := c.duringMarkers(t, run, func() {
		_, problems, err := c.try(t, "up", "--no-job", "--config", "emr.releaseLabel=emr-7.9.0")
		require.Error(t, err, "a cluster that works is not replaced")
		require.Contains(t, problems, "nothing was changed")
		require.Contains(t, problems, "markers "+run)
		for _, o := range outages() {
			seen := c.lastMarker(t, run)
			c.fail(t, o)
			restored := time.Now()
			after := seen + int((o.away + arrival).Seconds())
			require.Eventuallyf(t, func() bool { return c.lastMarker(t, run) > after }, 2*time.Minute, time.Second, "lines arrive again after the outage of %s", o.name)
			require.Eventuallyf(t, func() bool { return c.longestGap(t, cluster, began) <= allowedGap }, time.Minute, time.Second, "samples arrive again after the outage of %s", o.name)
			t.Logf("%s was away for %s; all arrives again %s later", o.name, o.away, time.Since(restored).Round(time.Second))
			// One fault at a time: after its own a redelivery has nothing to send again.
			ends[o.name] = c.lastMarker(t, run)
			until := ends[o.name] + int(redelivery.Settled.Seconds())
			require.Eventually(t, func() bool { return c.lastMarker(t, run) > until }, time.Minute, time.Second)
		}
	})
	written := c.written(t, run, result)
	require.Greater(t, len(written), 100*markerTasks, "the job outlasted the outages")
	missing := func(signal string) []marker {
		have := c.arrived(t, signal, run)
		return slices.DeleteFunc(slices.Clone(written), func(m marker) bool { return have[m] > 0 })
	}
	during := func(m marker) outage {
		of := slices.IndexFunc(outages(), func(o outage) bool { return m.n <= ends[o.name] })
		if of < 0 {
			return outage{name: "none"}
		}
		return outages()[of]
	}
	lost := map[string]map[string]int{} // by outage and signal
	for _, o := range append(outages(), outage{name: "none"}) {
		lost[o.name] = map[string]int{}
	}
	for _, signal := range signals() {
		settled(t, 3*time.Minute, func() int { return len(missing(signal)) })
		gone := missing(signal)
		assert.Emptyf(t, gone, "%s lost; last markers of the outages: %v", signal, ends)
		for _, m := range gone {
			lost[during(m).name][signal]++
		}
	}
	twice := map[string]int{} // lines, by outage
	for m, n := range c.arrived(t, "lines", run) {
		if n > 1 {
			o := during(m)
			assert.Truef(t, o.sends, "%v stored %d times in the outage of %s", m, n, o.name)
			twice[o.name]++
		}
	}
	require.Eventually(t, func() bool {
		return c.tryGet(t, string(platform.WorkloadTempo), "/api/traces/"+result.TraceID, new(any)) == nil
	}, time.Minute, time.Second, "the step's trace")
	// A sample that comes late still has its own time: no gap may stay.
	require.Eventuallyf(t, func() bool { return c.longestGap(t, cluster, began) <= allowedGap }, 3*time.Minute, 2*time.Second, "no gap of a counter's samples over %s", allowedGap)
	t.Logf("lost %v of %d markers, lines twice %v, longest gap of samples %s", lost, len(written), twice, c.longestGap(t, cluster, began))
	writeOutages(t, lost, twice, len(written), c.longestGap(t, cluster, began))

	t.Run("a core node ends in a job", func(t *testing.T) { losesANode(t, c) })
}

// settled waits until a count is zero or has not changed for 20 seconds.
func settled(t *testing.T, within time.Duration, count func() int) {
	t.Helper()
	last, since := -1, time.Now()
	require.Eventually(t, func() bool {
		if n := count(); n != last {
			last, since = n, time.Now()
		}
		return last == 0 || time.Since(since) > 20*time.Second
	}, within, time.Second, "a count comes to rest")
}

// fail stops a program's processes, waits, and kills them.
func (c *cloud) fail(t *testing.T, o outage) {
	t.Helper()
	var pids []int
	for pid, line := range c.processes(t) {
		if strings.HasPrefix(line, o.program+" ") || strings.Contains(line, "/"+o.program+" ") {
			pids = append(pids, pid)
		}
	}
	require.NotEmptyf(t, pids, "processes of %s", o.name)
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

// losesANode ends a core node in a job: the job goes on on the other, once
// Spark has missed the lost executors' heartbeats for two minutes. It is the
// node without the application master, and the other executor stays though it
// idles: YARN gives new containers only after ten minutes
// (yarn.nm.liveness-monitor.expiry-interval-ms).
func losesANode(t *testing.T, c *cloud) {
	var lost string
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
			}
		}
		require.NotEmptyf(t, lost, "a NodeManager elsewhere than on %s", master)
	}, "spark.dynamicAllocation.executorIdleTimeout=10m")
	written := c.written(t, run, result)
	require.Eventually(t, func() bool {
		have := c.arrived(t, "lines", run)
		return !slices.ContainsFunc(written, func(m marker) bool { return have[m] == 0 })
	}, time.Minute, time.Second, "the other node's lines")
	for _, n := range c.status(t).Nodes {
		if n.Host == lost {
			require.Greaterf(t, time.Since(n.LastSeen), time.Minute, "/status shows when %s was last seen", lost)
		}
	}
}
