package main_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/submit"
)

// outage is a part that fails while a job runs.
type outage struct {
	name    string
	program string        // as its command line begins
	away    time.Duration // stopped for so long, then killed; zero kills at once
	resumes bool          // goes on after away instead of being killed
	mayLose int           // lines of a task
	because string        // what else may be lost, and why
}

// outages come one after the other while one job runs.
func outages() []outage {
	return []outage{
		{name: "the control node's collector", program: "/otelcol-contrib", away: 30 * time.Second},
		{
			name: "VictoriaMetrics", program: "/victoria-metrics-prod", away: 15 * time.Second,
			because: "samples of the last three seconds, as with VictoriaLogs; a counter's next sample carries them",
		},
		{
			name: "VictoriaLogs", program: "/victoria-logs-prod", away: 15 * time.Second,
			mayLose: 4, because: "what it took is on its disk up to three seconds later (-inmemoryDataFlushInterval) and is not sent again",
		},
		{name: "Tempo", program: "/tempo", away: 5 * time.Second},
		{name: "Pyroscope", program: "/usr/bin/pyroscope", away: 5 * time.Second},
		{
			name: "the nodes' collectors", program: "/opt/observatory/bin/otelcol",
			mayLose: 4, because: "lines of a file wait up to 3 s in memory for the rest of a stack trace (recombine)",
		},
		{name: "S3", program: "", away: 30 * time.Second, resumes: true},
	}
}

// markerTasks is how many tasks of the markers job write a line each second.
const markerTasks = 4

// allowedGap is what may lie between two samples of a node's counter: two
// intervals, and the time in which a killed collector starts again (RestartSec
// of its unit, and its own start).
const allowedGap = 2*platform.CollectionInterval + 15*time.Second

// arrival is how long a line may take to VictoriaLogs when nothing fails: two
// batches, and the wait for the rest of a stack trace; with time to spare.
const arrival = 10 * time.Second

// line is one line of the markers job.
type line struct{ task, n int }

// TestOutagesLoseNothing has each server of the control node, the nodes'
// collectors and S3 fail while a job runs, and compares what arrived with what
// the nodes themselves wrote: every line, the samples of every node, the
// step's trace.
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
			// What is seen may not be on the store's disk yet; a little later it is.
			ends[o.name] = c.lastMarker(t, run)
			require.Eventually(t, func() bool { return c.lastMarker(t, run) > ends[o.name]+5 }, time.Minute, time.Second)
		}
	})
	written := c.written(t, run, result)
	require.Greater(t, len(written), 100*markerTasks, "the job outlasted the outages")
	missing := func() []line {
		have := c.markers(t, run)
		return slices.DeleteFunc(slices.Clone(written), func(l line) bool { return have[l] })
	}
	settled(t, 3*time.Minute, func() int { return len(missing()) })
	lost := map[string]int{}
	t.Logf("missing %v; last lines of the outages %v", missing(), ends)
	for _, l := range missing() {
		of := slices.IndexFunc(outages(), func(o outage) bool { return l.n <= ends[o.name] })
		require.GreaterOrEqualf(t, of, 0, "line %v is lost after all outages", l)
		lost[outages()[of].name]++
	}
	require.Eventually(t, func() bool {
		return c.tryGet(t, string(platform.WorkloadTempo), "/api/traces/"+result.TraceID, new(any)) == nil
	}, time.Minute, time.Second, "the step's trace")
	// A sample that comes late still has its own time: no gap may stay.
	require.Eventuallyf(t, func() bool { return c.longestGap(t, cluster, began) <= allowedGap }, 3*time.Minute, 2*time.Second, "no gap of a counter's samples over %s", allowedGap)
	t.Logf("lost %v of %d lines, longest gap of samples %s", lost, len(written), c.longestGap(t, cluster, began))
	for _, o := range outages() {
		require.LessOrEqualf(t, lost[o.name], o.mayLose*markerTasks, "lines lost by the outage of %s", o.name)
	}
	writeOutages(t, lost, len(written), c.longestGap(t, cluster, began))

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

// duringMarkers starts the markers job, does something once its first line was
// written, and has it end.
func (c *cloud) duringMarkers(t *testing.T, run string, do func(), conf ...string) submit.Result {
	t.Helper()
	args := []string{"submit", "--wait", "--json", "--name", "markers " + run}
	for _, property := range conf {
		args = append(args, "--conf", property)
	}
	cmd := c.command(t, append(args, "cmd/observatory/testdata/markers.py", run, strconv.Itoa(markerTasks))...)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool { return c.lastMarker(t, run) > 0 }, 2*time.Minute, time.Second, "the job's first line")
	do()
	primary := 0
	for pid, program := range c.processes(t) {
		if strings.Contains(program, "SparkSubmit") && strings.Contains(program, run) {
			primary = pid
		}
	}
	require.NotZero(t, primary, "the job's driver")
	require.NoError(t, os.WriteFile(fmt.Sprintf("/proc/%d/root/tmp/markers-%s", primary, run), nil, 0o644)) //nolint:gosec // the driver's account is another
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
	for pid, program := range c.processes(t) {
		if strings.HasPrefix(program, o.program+" ") && o.program != "" || o.program == "" && strings.Contains(program, "versitygw --port") {
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
	signal := syscall.SIGKILL
	if o.resumes {
		signal = syscall.SIGCONT
	}
	for _, pid := range pids {
		require.NoError(t, syscall.Kill(pid, signal))
	}
}

var marker = regexp.MustCompile(`marker run=(\w+) task=(\d+) n=(\d+);`)

// linesIn adds the lines of a run that a text holds.
func linesIn(text, run string, found map[line]bool) {
	for _, m := range marker.FindAllStringSubmatch(text, -1) {
		task, _ := strconv.Atoi(m[2])
		n, _ := strconv.Atoi(m[3])
		if m[1] == run {
			found[line{task, n}] = true
		}
	}
}

// markers are the different lines of a run that VictoriaLogs has; none while
// it does not answer.
func (c *cloud) markers(t *testing.T, run string) map[line]bool {
	t.Helper()
	rows, _ := c.tryLogs(t, fmt.Sprintf(`"marker run=%s" | fields _msg`, run), 100_000)
	found := map[line]bool{}
	for _, row := range rows {
		linesIn(row["_msg"], run, found)
	}
	return found
}

// lastMarker is the highest number of a line that VictoriaLogs has, or -1.
func (c *cloud) lastMarker(t *testing.T, run string) int {
	t.Helper()
	last := -1
	for l := range c.markers(t, run) {
		last = max(last, l.n)
	}
	return last
}

// written are the lines that the nodes themselves have: the executors' stderr,
// as EMR put it into S3.
func (c *cloud) written(t *testing.T, run string, r submit.Result) []line {
	t.Helper()
	bucket := c.outputs(t).DataBucket
	require.Len(t, r.ApplicationIDs, 1)
	found := map[line]bool{}
	for _, key := range c.keys(t, bucket, string(platform.PrefixEMRLogs)+r.Cluster+"/containers/"+r.ApplicationIDs[0]+"/") {
		if filepath.Base(key) != "stderr.gz" {
			continue
		}
		object, err := c.objects(t).GetObject(t.Context(), &s3.GetObjectInput{Bucket: &bucket, Key: &key})
		require.NoError(t, err)
		unzipped, err := gzip.NewReader(object.Body)
		require.NoError(t, err)
		var text bytes.Buffer
		_, err = text.ReadFrom(unzipped)
		require.NoError(t, err)
		linesIn(text.String(), run, found)
	}
	lines := make([]line, 0, len(found))
	for l := range found {
		lines = append(lines, l)
	}
	return lines
}

// longestGap is the longest time between two samples of a counter that every
// node's collector sends each interval, over all nodes since from.
func (c *cloud) longestGap(t *testing.T, cluster string, from time.Time) time.Duration {
	t.Helper()
	ask := url.Values{"match[]": {fmt.Sprintf(`system_cpu_time_seconds_total{%s=%q,state="user",cpu="cpu0"}`, platform.Cluster.Metric(), cluster)}, "start": {from.Format(time.RFC3339)}}
	var answer []byte
	if err := c.tryGet(t, string(platform.WorkloadVictoriaMetrics), "/api/v1/export?"+ask.Encode(), &answer); err != nil {
		return time.Hour // the outage
	}
	longest, series := time.Duration(0), 0
	lines := bufio.NewScanner(bytes.NewReader(answer))
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
		have := c.markers(t, run)
		return !slices.ContainsFunc(written, func(l line) bool { return !have[l] })
	}, time.Minute, time.Second, "the other node's lines")
	for _, n := range c.status(t).Nodes {
		if n.Host == lost {
			require.Greaterf(t, time.Since(n.LastSeen), time.Minute, "/status shows when %s was last seen", lost)
		}
	}
}
