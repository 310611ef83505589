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
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
)

// flood sends data to the collector and records what it accepted.
type flood struct {
	sent         int
	begun        time.Time
	lines, spans []string
	samples      []int // values of a counter
	padding      int   // bytes of a line
}

// accepts reports whether the collector accepts data.
func accepts(signal, resource string) bool {
	status, _ := offer(signal, resource)
	return status == http.StatusOK
}

func (f *flood) sendLine() bool {
	f.sent++
	text := fmt.Sprintf("line %04d of the flood %s", f.sent, strings.Repeat("x", f.padding))
	ok := accepts("logs", resource(`"scopeLogs":[{"logRecords":[{"timeUnixNano":"%d","body":{"stringValue":"`+text+`"}}]}]`,
		time.Now().UnixNano()))
	if ok {
		f.lines = append(f.lines, text[:9])
	}
	return ok
}

func (f *flood) sendSample() bool {
	f.sent++
	ok := accepts("metrics", resource(
		fmt.Sprintf(`"scopeMetrics":[{"metrics":[{"name":"flood","sum":{"aggregationTemporality":2,"isMonotonic":true,`+
			`"dataPoints":[{"timeUnixNano":"%%d","asInt":"%d"}]}}]}]`, f.sent),
		// The store keeps one sample of a series a millisecond.
		f.begun.Add(time.Duration(f.sent)*10*time.Millisecond).UnixNano()))
	if ok {
		f.samples = append(f.samples, f.sent)
	}
	return ok
}

func (f *flood) sendSpan() bool {
	f.sent++
	name, now := fmt.Sprintf("span %04d", f.sent), time.Now().UnixNano()
	ok := accepts("traces", resource(fmt.Sprintf(`"scopeSpans":[{"spans":[{"traceId":"%s","spanId":"%016x","name":"%s","kind":1,`+
		`"startTimeUnixNano":"%d","endTimeUnixNano":"%%d"}]}]`,
		traceID, f.sent, name, now-1000), now))
	if ok {
		f.spans = append(f.spans, name)
	}
	return ok
}

func (f *flood) sendAll() bool { return f.sendLine() && f.sendSample() && f.sendSpan() }

// spansStored reports whether Tempo has each accepted span.
func (f *flood) spansStored() bool { return len(f.missingSpans()) == 0 }

// missingSpans returns the accepted spans that Tempo lacks.
func (f *flood) missingSpans() []string {
	_, body := request("GET", "http://tempo:3200/api/traces/"+traceID, "", "")
	return slices.DeleteFunc(slices.Clone(f.spans), func(name string) bool { return strings.Contains(body, name) })
}

func (f *flood) linesStored() bool {
	body := storedLines()
	return !slices.ContainsFunc(f.lines, func(line string) bool { return !strings.Contains(body, line+" ") })
}

// storedLines returns all lines of the flood in VictoriaLogs.
func storedLines() string {
	query := url.QueryEscape(`"the flood" | fields _msg`)
	_, body := request("GET", "http://victoria-logs:9428/select/logsql/query?limit=100000&query="+query, "", "")
	return body
}

func (f *flood) samplesStored() bool {
	_, body := request("GET", "http://victoria-metrics:8428/api/v1/export?match[]=flood_total", "", "")
	var series struct{ Values []int }
	return json.Unmarshal([]byte(body), &series) == nil &&
		!slices.ContainsFunc(f.samples, func(n int) bool { return !slices.Contains(series.Values, n) })
}

// labOnVolume runs the stores and the collector with their folders on a volume of
// 224 MiB. restartExited restarts those that have exited, as the kubelet does.
func labOnVolume(t *testing.T) (l *lab, volume string, restartExited func()) {
	t.Helper()
	starts := map[platform.Workload]func(){}
	l, volume = newLab(t), t.TempDir()
	require.NoError(t, syscall.Mount("tmpfs", volume, "tmpfs", 0, "size=224m"))
	t.Cleanup(func() { _ = syscall.Unmount(volume, syscall.MNT_DETACH) })
	for _, w := range []platform.Workload{
		platform.WorkloadVictoriaMetrics, platform.WorkloadVictoriaLogs, platform.WorkloadTempo,
		platform.WorkloadRedelivery, platform.WorkloadCollector,
	} {
		l.dirs[w] = filepath.Join(volume, string(w))
		require.NoError(t, os.Mkdir(l.dirs[w], 0o755))
		starts[w] = func() { l.startWith(w, shrinkBounds(config(t, w))) }
		starts[w]()
	}
	for w, s := range l.running {
		s.ready(t, workloadRecord(t, w).ReadyURL())
	}
	return l, volume, func() {
		for w, s := range l.running {
			if s.exited() {
				starts[w]()
			}
		}
	}
}

// shrinkBounds scales a volume's bounds from GiB to 16 MiB, which fill in seconds.
func shrinkBounds(c workloadconfig.Config) workloadconfig.Config {
	bounds := strings.NewReplacer(
		fmt.Sprintf("=%dGiB", platform.StoreReserveGiB()), fmt.Sprintf("=%dMiB", 16*platform.StoreReserveGiB()),
		fmt.Sprintf("queue_size: %d\n", 1<<30), fmt.Sprintf("queue_size: %d\n", 1<<24))
	for i, arg := range c.Args {
		c.Args[i] = bounds.Replace(arg)
	}
	for name, body := range c.Files {
		c.Files[name] = bounds.Replace(body)
	}
	return c
}

// A full data volume loses nothing that was accepted, and the rest is refused, so
// that the nodes keep it. The metric and log stores refuse while there is room for
// the stores without backpressure. Once there is space, everything continues.
func TestFullDataVolumeLosesNothing(t *testing.T) {
	l, volume, restartExited := labOnVolume(t)
	f := &flood{begun: time.Now().Add(-time.Hour), padding: 10_000}
	require.True(t, f.sendAll())

	filler := filepath.Join(volume, "filler")
	fillToReserve(t, filler)
	before := free(t, volume)
	for range 2 << 20 / 1000 { // of a queue of 16 MiB
		if !f.sendLine() {
			break
		}
	}
	require.False(t, f.sendLine(), "a full queue refuses")
	require.Greater(t, len(f.lines), 1000, "a queue refuses only when it is full")
	for range 20 {
		require.True(t, f.sendSample() && f.sendSpan(), "the other queues have room")
	}
	require.True(t, waitFor(testenv.Arrival, f.spansStored), "spans reach the store that cannot refuse")
	require.Less(t, before-free(t, volume), int64(32<<20), "what a queue of 16 MiB takes of the volume")
	t.Logf("%d lines of 10 kB were accepted; they use %d MiB of the volume", len(f.lines), (before-free(t, volume))>>20)

	require.NoError(t, os.Remove(filler))
	require.True(t, waitFor(testenv.Arrival, f.sendAll), "everything is accepted again")
	require.True(t, waitFor(testenv.Arrival, f.linesStored), "accepted lines are missing")
	require.True(t, waitFor(testenv.Arrival, f.samplesStored), "accepted samples are missing")
	require.True(t, waitFor(testenv.Arrival, f.spansStored), "accepted spans are missing")

	for w, s := range l.running {
		require.Falsef(t, s.exited(), "%s ended", w)
	}

	// Something else uses up even the reserve. Then data in the queue may be lost:
	// the collector drops an item if it cannot record its removal (exporterhelper's
	// persistent_queue.go, getNextItem). A store that has to write exits. The test
	// expects nothing of Tempo: the writer of its write-ahead log may stay broken
	// after a failed write, and a block that cannot be flushed is never cut
	// (vparquet4's walBlock.Flush, the ingester's CutBlockIfReady).
	fill(t, filler, free(t, volume))
	require.True(t, waitFor(testenv.Arrival, func() bool { return !f.sendSample() }), "the collector refuses")
	require.NoError(t, os.Remove(filler))
	require.True(t, waitFor(testenv.Arrival, func() bool {
		restartExited()
		next := &flood{sent: f.sent, begun: f.begun, padding: f.padding}
		stored := next.sendLine() && next.sendSample() &&
			waitFor(testenv.Answer, func() bool { return next.linesStored() && next.samplesStored() })
		f.sent = next.sent
		return stored
	}), "the stores work again")
}

// fillToReserve leaves less space on a file's volume than the stores' reserve, and
// waits until they refuse data.
func fillToReserve(t *testing.T, path string) {
	t.Helper()
	fill(t, path, free(t, filepath.Dir(path))-int64(16*platform.StoreReserveGiB()-8)<<20)
	readOnly := func(status int, body string) bool {
		return status == http.StatusOK && regexp.MustCompile(`(?m)^v[lm]_storage_is_read_only(\{.*\})? 1$`).MatchString(body)
	}
	eventually(t, testenv.Arrival, "GET", "http://victoria-logs:9428/metrics", readOnly)
	eventually(t, testenv.Arrival, "GET", "http://victoria-metrics:8428/metrics", readOnly)
}

// fill writes a file until it has size bytes or there is no room.
func fill(t *testing.T, path string, size int64) {
	t.Helper()
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	chunk := make([]byte, 1<<16)
	for written := int64(0); written < size; written += int64(len(chunk)) {
		_, err := f.Write(chunk)
		if errors.Is(err, syscall.ENOSPC) {
			return
		}
		require.NoError(t, err)
	}
}

// free returns the free space of a file system in bytes.
func free(t *testing.T, path string) int64 {
	t.Helper()
	var s syscall.Statfs_t
	require.NoError(t, syscall.Statfs(path, &s))
	return int64(s.Bavail) * s.Bsize
}
