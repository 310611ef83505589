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

// On a full data volume nothing that was taken is lost, and what cannot be kept
// is refused, so that the nodes keep it. Once there is room all goes on.
func TestAFullDataVolumeLosesNothing(t *testing.T) {
	l := newLab(t)
	volume := t.TempDir()
	require.NoError(t, syscall.Mount("tmpfs", volume, "tmpfs", 0, "size=192m"))
	t.Cleanup(func() { _ = syscall.Unmount(volume, syscall.MNT_DETACH) })
	for _, w := range []platform.Workload{platform.WorkloadVictoriaMetrics, platform.WorkloadVictoriaLogs, platform.WorkloadCollector} {
		l.dirs[w] = filepath.Join(volume, string(w))
		require.NoError(t, os.Mkdir(l.dirs[w], 0o755))
	}
	l.startMetrics()
	logs, err := workloadconfig.VictoriaLogs(month)
	l.start(platform.WorkloadVictoriaLogs, logs, err)
	l.startCollector()
	for w, s := range l.running {
		s.ready(t, workloadconfig.ReadyURLs()[w])
	}
	var taken []string // lines
	var counted []int  // values of a counter
	sent, begun := 0, time.Now().Add(-time.Hour)
	offer := func() bool {
		sent++
		line := fmt.Sprintf("line %04d of the full volume %s", sent, strings.Repeat("x", 10_000))
		status, _ := request("POST", "http://collector:4318/v1/logs", "application/json", `{"resourceLogs":[`+
			resource(`"scopeLogs":[{"logRecords":[{"timeUnixNano":"%d","body":{"stringValue":"`+line+`"}}]}]`, time.Now().UnixNano())+`]}`)
		if status == 200 {
			taken = append(taken, line[:9])
		}
		of, _ := request("POST", "http://collector:4318/v1/metrics", "application/json", `{"resourceMetrics":[`+
			resource(fmt.Sprintf(`"scopeMetrics":[{"metrics":[{"name":"full.volume","sum":{"aggregationTemporality":2,"isMonotonic":true,"dataPoints":[{"timeUnixNano":"%%d","asInt":"%d"}]}}]}]`, sent),
				// The store keeps one sample of a series a millisecond.
				begun.Add(time.Duration(sent)*10*time.Millisecond).UnixNano())+`]}`)
		if of == 200 {
			counted = append(counted, sent)
		}
		return status == 200 && of == 200
	}
	require.True(t, offer())

	// The stores stop writing below 10 MB (-storage.minFreeDiskSpaceBytes); the
	// collector's queue takes the rest, and then refuses.
	fill(t, filepath.Join(volume, "most"), free(t, volume)-8<<20)
	readOnly := func(status int, body string) bool {
		return status == http.StatusOK && regexp.MustCompile(`(?m)^v[lm]_storage_is_read_only(\{.*\})? 1$`).MatchString(body)
	}
	eventually(t, time.Minute, "GET", "http://victoria-logs:9428/metrics", readOnly)
	eventually(t, time.Minute, "GET", "http://victoria-metrics:8428/metrics", readOnly)
	for range 20 {
		require.True(t, offer(), "there is room for the queue")
	}
	fill(t, filepath.Join(volume, "rest"), free(t, volume))
	require.True(t, waitFor(time.Minute, func() bool { return !offer() }), "a full collector refuses")
	t.Logf("%d lines of 10 kB were taken before the collector refused", len(taken))

	require.NoError(t, errors.Join(os.Remove(filepath.Join(volume, "most")), os.Remove(filepath.Join(volume, "rest"))))
	require.True(t, waitFor(time.Minute, offer), "with room it takes again")
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
