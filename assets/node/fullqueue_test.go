package node_test

import (
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
)

// A full queue stays within its bound and counts what it rejects. Log lines wait in
// their files, which the collector continues to read once there is room.
func TestFullQueuePausesLogReading(t *testing.T) {
	if !onMachine(t) {
		return
	}
	const (
		lines = 2000 // of 10 kB: four times the queue
		bytes = 5 << 20
	)
	var text strings.Builder
	for i := range lines {
		fmt.Fprintf(&text, "2026-11-20 10:00:00,123 INFO line %04d %s\n", i, strings.Repeat("x", 10_000))
	}
	write(t, "/var/log/hadoop-yarn/hadoop-yarn-nodemanager-x.log", text.String())
	startCollector(t, "queue_size: 1073741824", fmt.Sprintf("queue_size: %d", bytes))
	testenv.Eventually(t, func() bool { return ownMetric("otelcol_exporter_enqueue_failed_log_records") > 0 }, testenv.Start,
		200*time.Millisecond, "rejected records are counted")
	size := ownMetric("otelcol_exporter_queue_size")
	require.Positive(t, size)
	require.LessOrEqual(t, size, float64(bytes))
	require.Less(t, totalSize(t, platform.NodeQueueDir), int64(4*bytes), "the queue's files")

	s := startSink(t, fmt.Sprintf("%s:%d", controlIP, platform.OTLPGRPC))
	found := map[string]bool{}
	await(t, s, "every line", func() (bool, bool) {
		for _, row := range s.logs {
			if m := numbered.FindString(row.record.GetBody().GetStringValue()); m != "" {
				found[m] = true
			}
		}
		return true, len(found) == lines
	})
}

var numbered = regexp.MustCompile(`line \d{4} `)

// ownMetric returns the sum of one of the collector's own metrics for logs, 0 if it
// has no series.
func ownMetric(name string) float64 {
	res, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/metrics", platform.CollectorMetrics))
	if err != nil {
		return 0
	}
	defer func() { _ = res.Body.Close() }()
	page, err := io.ReadAll(res.Body)
	if err != nil {
		return 0
	}
	sum := 0.0
	for _, line := range strings.Split(string(page), "\n") {
		if !strings.HasPrefix(line, name) || strings.Contains(line, `data_type="metrics"`) || strings.Contains(line, `data_type="traces"`) {
			continue
		}
		value, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
		if err == nil {
			sum += value
		}
	}
	return sum
}

func totalSize(t *testing.T, dir string) (sum int64) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if os.IsNotExist(err) {
			return nil
		}
		if err == nil {
			sum += info.Size()
		}
		return err
	}))
	return sum
}
