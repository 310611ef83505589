package cloud_test

import (
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"encoding/json"
	"fmt"
	"maps"
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

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/submit"
)

// markerTasks is how many tasks of the markers job send a marker each second.
const markerTasks = 4

// marker is a number that a task of the markers job sends as a span and as a sample
// of a counter, and then writes as a line.
type marker struct{ task, n int }

// signals lists the three forms of a marker.
func signals() []string { return []string{"lines", "spans", "samples"} }

// duringMarkers starts the markers job, calls do once the job's first line has
// arrived, and then lets the job end.
func (c *cloud) duringMarkers(t *testing.T, run string, do func(), conf ...string) submit.Result {
	t.Helper()
	args := []string{"submit", "--wait", "--json", "--cluster", "main", "--name", "markers " + run}
	for _, property := range conf {
		args = append(args, "--conf", property)
	}
	cmd := c.command(t, append(args, "tests/cloud/testdata/markers.py", run, strconv.Itoa(markerTasks),
		fmt.Sprintf("http://127.0.0.1:%d", platform.OTLPHTTP))...)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	testenv.Eventually(t, func() bool { return c.lastMarker(t, run) > 0 }, testenv.Job, time.Second, "the job's first line")
	do()
	c.endJob(t, run)
	var r submit.Result
	require.NoError(t, json.NewDecoder(out).Decode(&r))
	require.NoError(t, cmd.Wait())
	require.EqualValues(t, "COMPLETED", r.State)
	return r
}

// endJob lets a job end that runs until its driver sees a file. run is among its arguments.
func (c *cloud) endJob(t *testing.T, run string) {
	t.Helper()
	primary := 0
	testenv.Eventually(t, func() bool {
		for pid, program := range c.processes(t) {
			if strings.Contains(program, "SparkSubmit") && strings.Contains(program, run) {
				primary = pid
			}
		}
		return primary != 0
	}, testenv.Arrival, time.Second, "the job's driver")
	require.NoError(t, os.WriteFile(fmt.Sprintf("/proc/%d/root/tmp/end-%s", primary, run), nil, 0o644))
}

var markerText = regexp.MustCompile(`marker run=(\w+) task=(\d+) n=(\d+);`)

// countMarkers adds the markers of a run in a text to found.
func countMarkers(text, run string, found map[marker]int) {
	for _, m := range markerText.FindAllStringSubmatch(text, -1) {
		task, _ := strconv.Atoi(m[2])
		n, _ := strconv.Atoi(m[3])
		if m[1] == run {
			found[marker{task, n}]++
		}
	}
}

// storedMarkers counts the markers of a run in the store of a signal. The result is
// empty while the store does not answer.
func (c *cloud) storedMarkers(t *testing.T, signal, run string) map[marker]int {
	t.Helper()
	found := map[marker]int{}
	switch signal {
	case "lines":
		rows, _ := c.tryLogs(t, fmt.Sprintf(`"marker run=%s" | fields _msg`, run), 100_000)
		for _, row := range rows {
			countMarkers(row["_msg"], run, found)
		}
	case "spans":
		var trace []byte
		if c.tryGet(t, string(platform.WorkloadTempo), fmt.Sprintf("/api/traces/%x", md5.Sum([]byte(run))), &trace) == nil {
			countMarkers(string(trace), run, found)
		}
	case "samples":
		for _, s := range c.export(t, fmt.Sprintf(`markers_total{run=%q}`, run), time.Now().Add(-time.Hour)) {
			task, err := strconv.Atoi(s.Metric["task"])
			require.NoError(t, err)
			for _, n := range s.Values {
				found[marker{task, int(n)}]++
			}
		}
	}
	return found
}

// lastMarker returns the highest number among the lines in VictoriaLogs, or -1.
func (c *cloud) lastMarker(t *testing.T, run string) int {
	t.Helper()
	last := -1
	for m := range c.storedMarkers(t, "lines", run) {
		last = max(last, m.n)
	}
	return last
}

// writtenMarkers returns the markers in the executors' stderr, which EMR uploaded to S3.
func (c *cloud) writtenMarkers(t *testing.T, run string, r submit.Result) []marker {
	t.Helper()
	bucket := c.outputs(t).DataBucket
	require.Len(t, r.ApplicationIDs, 1)
	found := map[marker]int{}
	for _, key := range c.keys(t, bucket, string(platform.ClusterLogs("main"))+r.Cluster+"/containers/"+r.ApplicationIDs[0]+"/") {
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
		countMarkers(text.String(), run, found)
	}
	return slices.Collect(maps.Keys(found))
}

// exportedSeries is a series of VictoriaMetrics with all of its samples.
type exportedSeries struct {
	Metric     map[string]string
	Values     []float64
	Timestamps []int64 // ms
}

// export returns the series of a selector, or none while VictoriaMetrics does not
// answer.
func (c *cloud) export(t *testing.T, selector string, from time.Time) (series []exportedSeries) {
	t.Helper()
	var answer []byte
	query := url.Values{"match[]": {selector}, "start": {from.Format(time.RFC3339)}}
	if err := c.tryGet(t, string(platform.WorkloadVictoriaMetrics), "/api/v1/export?"+query.Encode(), &answer); err != nil {
		return nil
	}
	for lines := json.NewDecoder(bytes.NewReader(answer)); lines.More(); {
		var s exportedSeries
		require.NoError(t, lines.Decode(&s))
		series = append(series, s)
	}
	return series
}

// longestGap returns the longest time between two samples of a counter that every
// node's collector sends each interval, over all nodes since from.
func (c *cloud) longestGap(t *testing.T, cluster string, from time.Time) time.Duration {
	t.Helper()
	counter := fmt.Sprintf(`system_cpu_time_seconds_total{%s=%q,state="user",cpu="cpu0"}`, platform.Cluster.Metric(), cluster)
	series := c.export(t, counter, from)
	if len(series) < 3 { // one of each node
		return time.Hour
	}
	longest := time.Duration(0)
	for _, s := range series {
		slices.Sort(s.Timestamps)
		for i := 1; i < len(s.Timestamps); i++ {
			longest = max(longest, time.Duration(s.Timestamps[i]-s.Timestamps[i-1])*time.Millisecond)
		}
	}
	return longest
}
