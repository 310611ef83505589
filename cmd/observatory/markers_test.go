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
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/submit"
)

// markerTasks is how many tasks of the markers job write a line each second.
const markerTasks = 4

// line is one line of the markers job.
type line struct{ task, n int }

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
