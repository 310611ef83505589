package workloadconfig_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/platform"
)

// flood is what a test sends to the collector, and what of it was taken.
type flood struct {
	sent         int
	begun        time.Time
	lines, spans []string
	samples      []int // values of a counter
	padding      int   // bytes of a line
}

func takes(signal, resource string) bool {
	status, _ := offer(signal, resource)
	return status == http.StatusOK
}

func (f *flood) line() bool {
	f.sent++
	text := fmt.Sprintf("line %04d of the flood %s", f.sent, strings.Repeat("x", f.padding))
	ok := takes("logs", resource(`"scopeLogs":[{"logRecords":[{"timeUnixNano":"%d","body":{"stringValue":"`+text+`"}}]}]`, time.Now().UnixNano()))
	if ok {
		f.lines = append(f.lines, text[:9])
	}
	return ok
}

func (f *flood) sample() bool {
	f.sent++
	ok := takes("metrics", resource(
		fmt.Sprintf(`"scopeMetrics":[{"metrics":[{"name":"flood","sum":{"aggregationTemporality":2,"isMonotonic":true,"dataPoints":[{"timeUnixNano":"%%d","asInt":"%d"}]}}]}]`, f.sent),
		// The store keeps one sample of a series a millisecond.
		f.begun.Add(time.Duration(f.sent)*10*time.Millisecond).UnixNano()))
	if ok {
		f.samples = append(f.samples, f.sent)
	}
	return ok
}

func (f *flood) span() bool {
	f.sent++
	name, now := fmt.Sprintf("span %04d", f.sent), time.Now().UnixNano()
	ok := takes("traces", resource(fmt.Sprintf(`"scopeSpans":[{"spans":[{"traceId":"%s","spanId":"%016x","name":"%s","kind":1,"startTimeUnixNano":"%d","endTimeUnixNano":"%%d"}]}]`,
		traceID, f.sent, name, now-1000), now))
	if ok {
		f.spans = append(f.spans, name)
	}
	return ok
}

func (f *flood) all() bool { return f.line() && f.sample() && f.span() }

// spansStored says whether Tempo has each span that was taken.
func (f *flood) spansStored() bool {
	_, body := request("GET", "http://tempo:3200/api/traces/"+traceID, "", "")
	return !slices.ContainsFunc(f.spans, func(name string) bool { return !strings.Contains(body, name) })
}

func (f *flood) linesStored() bool {
	body := storedLines()
	return !slices.ContainsFunc(f.lines, func(line string) bool { return !strings.Contains(body, line+" ") })
}

func storedLines() string {
	_, body := request("GET", "http://victoria-logs:9428/select/logsql/query?limit=100000&query="+url.QueryEscape(`"the flood" | fields _msg`), "", "")
	return body
}

func (f *flood) samplesStored() bool {
	_, body := request("GET", "http://victoria-metrics:8428/api/v1/export?match[]=flood_total", "", "")
	var series struct{ Values []int }
	return json.Unmarshal([]byte(body), &series) == nil &&
		!slices.ContainsFunc(f.samples, func(n int) bool { return !slices.Contains(series.Values, n) })
}

// labOnVolume runs the stores and the collector with their folders on a volume
// of 224 MiB. Again starts those that have ended, as the kubelet does.
func labOnVolume(t *testing.T) (l *lab, volume string, again func()) {
	t.Helper()
	starts := map[platform.Workload]func(){}
	l, volume = newLab(t), t.TempDir()
	require.NoError(t, syscall.Mount("tmpfs", volume, "tmpfs", 0, "size=224m"))
	t.Cleanup(func() { _ = syscall.Unmount(volume, syscall.MNT_DETACH) })
	bounded := func(w platform.Workload, c workloadconfig.Config, err error) {
		l.dirs[w] = filepath.Join(volume, string(w))
		require.NoError(t, os.Mkdir(l.dirs[w], 0o755))
		c = small(c)
		starts[w] = func() { l.start(w, c, err) }
		starts[w]()
	}
	c, err := workloadconfig.VictoriaMetrics(month)
	bounded(platform.WorkloadVictoriaMetrics, c, err)
	c, err = workloadconfig.VictoriaLogs(month, 100)
	bounded(platform.WorkloadVictoriaLogs, c, err)
	c, err = workloadconfig.Tempo(month)
	bounded(platform.WorkloadTempo, c, err)
	bounded(platform.WorkloadRedelivery, workloadconfig.Redelivery(), nil)
	c, err = workloadconfig.Collector()
	bounded(platform.WorkloadCollector, c, err)
	for w, s := range l.running {
		s.ready(t, workloadconfig.ReadyURLs()[w])
	}
	return l, volume, func() {
		for w, s := range l.running {
			if s.ended() {
				starts[w]()
			}
		}
	}
}

// small makes 16 MiB of each GiB of a volume's bounds: it is full in seconds.
func small(c workloadconfig.Config) workloadconfig.Config {
	bounds := strings.NewReplacer(
		fmt.Sprintf("=%dGiB", platform.StoreReserveGiB), fmt.Sprintf("=%dMiB", 16*platform.StoreReserveGiB),
		fmt.Sprintf("queue_size: %d\n", platform.QueueGiB<<30), fmt.Sprintf("queue_size: %d\n", platform.QueueGiB<<24))
	for i, arg := range c.Args {
		c.Args[i] = bounds.Replace(arg)
	}
	for name, body := range c.Files {
		c.Files[name] = bounds.Replace(body)
	}
	return c
}

// A data volume that fills loses nothing that was taken, and what cannot be kept
// is refused, so that the nodes keep it. The metric and log stores stop while
// there is room for what cannot refuse. Once there is room all goes on.
func TestAFullDataVolumeLosesNothing(t *testing.T) {
	l, volume, again := labOnVolume(t)
	f := &flood{begun: time.Now().Add(-time.Hour), padding: 10_000}
	require.True(t, f.all())

	most := filepath.Join(volume, "most")
	fillToReserve(t, most)
	room := free(t, volume)
	for range 2 << 20 / 1000 { // of a queue of 16 MiB
		if !f.line() {
			break
		}
	}
	require.False(t, f.line(), "a full queue refuses")
	require.Greater(t, len(f.lines), 1000, "and no queue before it is full")
	for range 20 {
		require.True(t, f.sample() && f.span(), "the other queues have room")
	}
	require.True(t, waitFor(time.Minute, f.spansStored), "spans reach the store that cannot refuse")
	require.Less(t, room-free(t, volume), int64(32<<20), "what a queue of 16 MiB takes of the volume")
	t.Logf("%d lines of 10 kB were taken, and %d MiB of the volume", len(f.lines), (room-free(t, volume))>>20)

	require.NoError(t, os.Remove(most))
	require.True(t, waitFor(time.Minute, f.all), "with room they take again")
	require.True(t, waitFor(2*time.Minute, f.linesStored), "lines taken and not stored")
	require.True(t, waitFor(time.Minute, f.samplesStored), "samples taken and not stored")
	require.True(t, waitFor(time.Minute, f.spansStored), "spans taken and not stored")

	for w, s := range l.running {
		require.Falsef(t, s.ended(), "%s ended", w)
	}

	// Something else takes even the reserve. What is in the queue then is not
	// safe: the collector drops what it cannot note as taken out (exporterhelper's
	// persistent_queue.go, getNextItem). A store that has something to write ends.
	// Of Tempo nothing is asked: the writer of its write-ahead log may stay broken
	// after a write that failed, and no block is cut that cannot be flushed
	// (vparquet4's walBlock.Flush, the ingester's CutBlockIfReady).
	fill(t, most, free(t, volume))
	require.True(t, waitFor(time.Minute, func() bool { return !f.sample() }), "the collector refuses")
	require.NoError(t, os.Remove(most))
	require.True(t, waitFor(2*time.Minute, func() bool {
		again()
		next := &flood{sent: f.sent, begun: f.begun, padding: f.padding}
		stored := next.line() && next.sample() && waitFor(10*time.Second, func() bool { return next.linesStored() && next.samplesStored() })
		f.sent = next.sent
		return stored
	}), "all goes on")
}

// fillToReserve leaves a file's volume less than what the stores leave free, and
// waits until they stop.
func fillToReserve(t *testing.T, path string) {
	t.Helper()
	fill(t, path, free(t, filepath.Dir(path))-(16*platform.StoreReserveGiB-8)<<20)
	readOnly := func(status int, body string) bool {
		return status == http.StatusOK && regexp.MustCompile(`(?m)^v[lm]_storage_is_read_only(\{.*\})? 1$`).MatchString(body)
	}
	eventually(t, time.Minute, "GET", "http://victoria-logs:9428/metrics", readOnly)
	eventually(t, time.Minute, "GET", "http://victoria-metrics:8428/metrics", readOnly)
}

// fill writes a file until it has size bytes or there is no room.
func fill(t *testing.T, path string, size int64) {
	t.Helper()
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	chunk := make([]byte, 1<<16)
	for written := int64(0); written < size; written += int64(len(chunk)) {
		if _, err := f.Write(chunk); errors.Is(err, syscall.ENOSPC) {
			return
		} else {
			require.NoError(t, err)
		}
	}
}

// free is the room that a file system has left, in bytes.
func free(t *testing.T, path string) int64 {
	t.Helper()
	var s syscall.Statfs_t
	require.NoError(t, syscall.Statfs(path, &s))
	return int64(s.Bavail) * s.Bsize
}
