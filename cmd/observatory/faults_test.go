package main_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/submit"
)

// outage is a part that fails while a job runs.
type outage struct {
	name    string
	program string        // as its command line begins
	lasts   time.Duration // stopped for so long, then killed; zero kills at once
	resumes bool          // goes on after lasts instead of being killed
}

// outages come one after the other while one job runs.
func outages() []outage {
	return []outage{
		{"control collector", "/otelcol-contrib", 30 * time.Second, false},
		{"VictoriaMetrics", "/victoria-metrics-prod", 15 * time.Second, false},
		{"VictoriaLogs", "/victoria-logs-prod", 15 * time.Second, false},
		{"Tempo", "/tempo", 5 * time.Second, false},
		{"Pyroscope", "/usr/bin/pyroscope", 5 * time.Second, false},
		{"node collectors", "/opt/observatory/bin/otelcol", 0, false},
		{"S3", "", 30 * time.Second, true},
	}
}

// The markers job: so many lines from executors, one a second and task.
const (
	markerTasks   = 4
	markerSeconds = 130
)

// allowedGap is what may lie between two samples of a node's counter: two
// intervals, and the time in which a killed collector starts again (RestartSec
// of its unit, and its own start).
const allowedGap = 2*platform.CollectionInterval + 15*time.Second

// TestOutagesLoseNothing has each server of the control node, the nodes'
// collectors and S3 fail while a job runs, and then counts what arrived: every
// line, the samples of every node, the step's trace.
func TestOutagesLoseNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: brings up the whole local cloud")
	}
	c := newCloud(t)
	c.run(t, "up", "--no-job")
	require.Eventually(t, func() bool { return len(c.coreHosts(t)) == 2 }, time.Minute, time.Second)
	before := time.Now()
	run := strconv.FormatInt(before.UnixNano(), 36)
	result := c.duringMarkers(t, run, func() {
		for _, o := range outages() {
			c.fail(t, o)
			t.Logf("%s was away for %s", o.name, o.lasts)
		}
	})
	const all = markerTasks * markerSeconds
	require.Eventuallyf(t, func() bool { return len(c.markers(t, run)) == all }, 3*time.Minute, 2*time.Second, "%d lines of the job in VictoriaLogs", all)
	require.Eventually(t, func() bool {
		return c.tryGet(t, string(platform.WorkloadTempo), "/api/traces/"+result.TraceID, new(any)) == nil
	}, time.Minute, time.Second, "the step's trace")
	// A sample that comes late still has its own time: no gap may stay.
	require.Eventuallyf(t, func() bool { return c.longestGap(t, before) <= allowedGap }, 3*time.Minute, 2*time.Second, "no gap of a counter's samples over %s", allowedGap)
	t.Logf("%d of %d lines, longest gap of samples %s", len(c.markers(t, run)), all, c.longestGap(t, before))

	t.Run("a core node ends in a job", func(t *testing.T) { losesANode(t, c) })
}

// duringMarkers runs the markers job and does something once its first line
// was written.
func (c *cloud) duringMarkers(t *testing.T, run string, do func()) submit.Result {
	t.Helper()
	cmd := c.command(t, "submit", "--wait", "--json", "--name", "markers "+run, "cmd/observatory/testdata/markers.py", run, strconv.Itoa(markerTasks), strconv.Itoa(markerSeconds))
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool { return len(c.markers(t, run)) > 0 }, 2*time.Minute, time.Second, "the job's first line")
	do()
	var r submit.Result
	require.NoError(t, json.NewDecoder(out).Decode(&r))
	require.NoError(t, cmd.Wait())
	require.EqualValues(t, "COMPLETED", r.State)
	return r
}

// fail stops a program's processes, waits, and kills them or lets them go on.
func (c *cloud) fail(t *testing.T, o outage) {
	t.Helper()
	var pids []int
	for pid, line := range c.processes(t) {
		if strings.HasPrefix(line, o.program+" ") && o.program != "" || o.program == "" && strings.Contains(line, "versitygw --port") {
			pids = append(pids, pid)
		}
	}
	require.NotEmptyf(t, pids, "processes of %s", o.name)
	if o.lasts > 0 {
		for _, pid := range pids {
			require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
		}
		time.Sleep(o.lasts) // the outage itself
	}
	signal := syscall.SIGKILL
	if o.resumes {
		signal = syscall.SIGCONT
	}
	for _, pid := range pids {
		require.NoError(t, syscall.Kill(pid, signal))
	}
}

var marker = regexp.MustCompile(`marker run=(\w+) task=(\d+) n=(\d+);`)

// markers are the different lines of a run that VictoriaLogs has; none while
// it does not answer.
func (c *cloud) markers(t *testing.T, run string) map[string]bool {
	t.Helper()
	rows, _ := c.tryLogs(t, fmt.Sprintf(`"marker run=%s" | fields _msg`, run), 100_000)
	found := map[string]bool{}
	for _, row := range rows {
		for _, m := range marker.FindAllString(row["_msg"], -1) {
			found[m] = true
		}
	}
	return found
}

// longestGap is the longest time between two samples of a counter that every
// node's collector sends each interval, over all nodes since from.
func (c *cloud) longestGap(t *testing.T, from time.Time) time.Duration {
	t.Helper()
	cluster := c.outputs(t).EMRClusterID
	ask := url.Values{"match[]": {fmt.Sprintf(`system_cpu_time_seconds_total{%s=%q,state="user",cpu="cpu0"}`, platform.Cluster.Metric(), cluster)}, "start": {from.Format(time.RFC3339)}}
	res, err := http.Get(c.running(t).URL(string(platform.WorkloadVictoriaMetrics)) + "/api/v1/export?" + ask.Encode()) //nolint:noctx // a local page
	require.NoError(t, err)
	defer res.Body.Close()
	longest, series := time.Duration(0), 0
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var s struct{ Timestamps []int64 }
		require.NoError(t, json.Unmarshal(lines.Bytes(), &s))
		slices.Sort(s.Timestamps)
		for i := 1; i < len(s.Timestamps); i++ {
			longest = max(longest, time.Duration(s.Timestamps[i]-s.Timestamps[i-1])*time.Millisecond)
		}
		series++
	}
	if series < 3 { // one of each node
		return time.Hour
	}
	return longest
}

// losesANode ends a core node in a job: the job goes on on the other.
func losesANode(t *testing.T, c *cloud) {
	var machine int
	hosts := c.coreHosts(t)
	for pid, line := range c.processes(t) {
		if strings.Contains(line, "Dproc_NodeManager") && hostOf(t, pid) == hosts[1] {
			machine = pid
		}
	}
	require.NotZero(t, machine, "the NodeManager of %s", hosts[1])
	_ = c.duringMarkers(t, strconv.FormatInt(time.Now().UnixNano(), 36), func() {
		require.NoError(t, syscall.Kill(c.machineOf(t, machine), syscall.SIGKILL))
	})
	require.Eventually(t, func() bool {
		for _, n := range c.status(t).Nodes {
			if n.Host == hosts[1] {
				return time.Since(n.LastSeen) > 30*time.Second
			}
		}
		return true
	}, 2*time.Minute, time.Second, "/status shows when the lost node was last seen")
}
