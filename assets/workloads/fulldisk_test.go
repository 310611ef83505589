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

// small makes 16 MiB of each GiB of a volume's bounds: it is full in seconds.
func small(t *testing.T, c workloadconfig.Config, err error) (workloadconfig.Config, error) {
	t.Helper()
	bounds := strings.NewReplacer(
		fmt.Sprintf("=%dGiB", platform.StoreReserveGiB), fmt.Sprintf("=%dMiB", 16*platform.StoreReserveGiB),
		fmt.Sprintf("queue_size: %d\n", platform.QueueGiB<<30), fmt.Sprintf("queue_size: %d\n", platform.QueueGiB<<24))
	was := fmt.Sprint(c)
	for i, arg := range c.Args {
		c.Args[i] = bounds.Replace(arg)
	}
	for name, body := range c.Files {
		c.Files[name] = bounds.Replace(body)
	}
	require.NotEqual(t, was, fmt.Sprint(c), "bounds that are not there")
	return c, err
}

// On a full data volume nothing that was taken is lost, and what cannot be kept
// is refused, so that the nodes keep it. The metric and log stores stop while
// there is room for what cannot refuse. Once there is room all goes on.
func TestAFullDataVolumeLosesNothing(t *testing.T) {
	l := newLab(t)
	volume := t.TempDir()
	require.NoError(t, syscall.Mount("tmpfs", volume, "tmpfs", 0, "size=192m"))
	t.Cleanup(func() { _ = syscall.Unmount(volume, syscall.MNT_DETACH) })
	for _, w := range []platform.Workload{platform.WorkloadVictoriaMetrics, platform.WorkloadVictoriaLogs, platform.WorkloadTempo, platform.WorkloadCollector} {
		l.dirs[w] = filepath.Join(volume, string(w))
		require.NoError(t, os.Mkdir(l.dirs[w], 0o755))
	}
	bounded := func(w platform.Workload, c workloadconfig.Config, err error) {
		c, err = small(t, c, err)
		l.start(w, c, err)
	}
	metrics, err := workloadconfig.VictoriaMetrics(month)
	bounded(platform.WorkloadVictoriaMetrics, metrics, err)
	logs, err := workloadconfig.VictoriaLogs(month, 100)
	bounded(platform.WorkloadVictoriaLogs, logs, err)
	tempo, err := workloadconfig.Tempo(month)
	l.start(platform.WorkloadTempo, tempo, err)
	collector, err := workloadconfig.Collector()
	bounded(platform.WorkloadCollector, collector, err)
	for w, s := range l.running {
		s.ready(t, workloadconfig.ReadyURLs()[w])
	}
	post := func(signal, body string) bool {
		status, _ := request("POST", "http://collector:4318/v1/"+signal, "application/json", body)
		return status == http.StatusOK
	}
	var taken, traced []string // lines and spans
	var counted []int          // values of a counter
	sent, begun := 0, time.Now().Add(-time.Hour)
	line := func() bool {
		sent++
		text := fmt.Sprintf("line %04d of the full volume %s", sent, strings.Repeat("x", 10_000))
		ok := post("logs", `{"resourceLogs":[`+resource(`"scopeLogs":[{"logRecords":[{"timeUnixNano":"%d","body":{"stringValue":"`+text+`"}}]}]`, time.Now().UnixNano())+`]}`)
		if ok {
			taken = append(taken, text[:9])
		}
		return ok
	}
	sample := func() bool {
		sent++
		ok := post("metrics", `{"resourceMetrics":[`+resource(
			fmt.Sprintf(`"scopeMetrics":[{"metrics":[{"name":"full.volume","sum":{"aggregationTemporality":2,"isMonotonic":true,"dataPoints":[{"timeUnixNano":"%%d","asInt":"%d"}]}}]}]`, sent),
			// The store keeps one sample of a series a millisecond.
			begun.Add(time.Duration(sent)*10*time.Millisecond).UnixNano())+`]}`)
		if ok {
			counted = append(counted, sent)
		}
		return ok
	}
	span := func() bool {
		sent++
		name, now := fmt.Sprintf("span %04d", sent), time.Now().UnixNano()
		ok := post("traces", `{"resourceSpans":[`+resource(fmt.Sprintf(`"scopeSpans":[{"spans":[{"traceId":"%s","spanId":"%016x","name":"%s","kind":1,"startTimeUnixNano":"%d","endTimeUnixNano":"%%d"}]}]`,
			traceID, sent, name, now-1000), now)+`]}`)
		if ok {
			traced = append(traced, name)
		}
		return ok
	}
	require.True(t, line() && sample() && span())

	// The stores stop at their reserve; the collector's queue takes the rest, and
	// then refuses. Traces go on all the while.
	fill(t, filepath.Join(volume, "most"), free(t, volume)-(16*platform.StoreReserveGiB-8)<<20)
	readOnly := func(status int, body string) bool {
		return status == http.StatusOK && regexp.MustCompile(`(?m)^v[lm]_storage_is_read_only(\{.*\})? 1$`).MatchString(body)
	}
	eventually(t, time.Minute, "GET", "http://victoria-logs:9428/metrics", readOnly)
	eventually(t, time.Minute, "GET", "http://victoria-metrics:8428/metrics", readOnly)
	for range 20 {
		require.True(t, line() && sample() && span(), "there is room for the queues")
	}
	for range 2 << 20 / 1000 { // of a queue of 16 MiB
		if !line() {
			break
		}
	}
	require.False(t, line(), "a full queue refuses")
	require.Greater(t, len(taken), 1000)
	require.Greater(t, free(t, volume), int64(8<<20), "the queue was full before the volume")
	for range 20 {
		require.True(t, sample() && span(), "the other queues have room")
	}
	stored := func() bool {
		_, body := request("GET", "http://tempo:3200/api/traces/"+traceID, "", "")
		return !slices.ContainsFunc(traced, func(name string) bool { return !strings.Contains(body, name) })
	}
	require.True(t, waitFor(time.Minute, stored), "spans reach a volume that others may no longer fill")

	fill(t, filepath.Join(volume, "rest"), free(t, volume))
	require.True(t, waitFor(time.Minute, func() bool { return !sample() }), "on a volume that something else filled the collector refuses")
	t.Logf("%d lines of 10 kB and %d samples were taken", len(taken), len(counted))

	require.NoError(t, errors.Join(os.Remove(filepath.Join(volume, "most")), os.Remove(filepath.Join(volume, "rest"))))
	require.True(t, waitFor(time.Minute, func() bool { return line() && sample() && span() }), "with room it takes again")
	require.True(t, waitFor(time.Minute, stored), "spans taken and not stored")
	var missing []string
	require.Truef(t, waitFor(2*time.Minute, func() bool {
		_, body := request("GET", "http://victoria-logs:9428/select/logsql/query?limit=100000&query="+url.QueryEscape(`"full volume" | fields _msg`), "", "")
		missing = missing[:0]
		for _, line := range taken {
			if !strings.Contains(body, line+" ") {
				missing = append(missing, line)
			}
		}
		return len(missing) == 0
	}), "taken and not stored: %v", missing)
	var absent []int
	require.Truef(t, waitFor(time.Minute, func() bool {
		_, body := request("GET", "http://victoria-metrics:8428/api/v1/export?match[]=full_volume_total", "", "")
		var series struct{ Values []int }
		if json.Unmarshal([]byte(body), &series) != nil {
			return false
		}
		absent = slices.DeleteFunc(slices.Clone(counted), func(n int) bool { return slices.Contains(series.Values, n) })
		return len(absent) == 0
	}), "samples taken and not stored: %v", absent)
	require.Greater(t, len(counted), 20)
	for w, s := range l.running {
		select {
		case <-s.done:
			t.Errorf("%s ended", w)
		default:
		}
	}
	// Asked within the last 30 s, Tempo 2.9 does not end by itself: it waits for a
	// queue that only its timer removes (modules/frontend/queue, stopping).
	l.running[platform.WorkloadTempo].kill()
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
