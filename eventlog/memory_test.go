package eventlog_test

import (
	"bytes"
	"io"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/phases"
)

// tasksOf streams a log of many tasks, as Spark wrote them.
func tasksOf(t testing.TB, count int) io.Reader {
	t.Helper()
	file, err := os.Open("testdata/" + rolled + "/events_1_app-20261123103508-0000.zstd")
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	decoder, err := zstd.NewReader(file)
	require.NoError(t, err)
	defer decoder.Close()
	text, err := io.ReadAll(decoder)
	require.NoError(t, err)
	var head, tasks [][]byte
	for line := range bytes.Lines(text) {
		if bytes.Contains(line[:40], []byte("SparkListenerTask")) {
			tasks = append(tasks, line)
		} else if len(tasks) == 0 {
			head = append(head, line)
		}
	}
	r, w := io.Pipe()
	go func() {
		for _, line := range head {
			_, _ = w.Write(line)
		}
		var out bytes.Buffer
		for i := range count {
			for _, kind := range []string{"Start", "End"} {
				for _, line := range tasks {
					if bytes.HasPrefix(line, []byte(`{"Event":"SparkListenerTask`+kind)) {
						id := bytes.Index(line, []byte(`"Task ID":`)) + len(`"Task ID":`)
						out.Write(line[:id])
						out.WriteString(strconv.Itoa(i))
						out.Write(line[id+bytes.IndexByte(line[id:], ','):])
						break
					}
				}
			}
			if out.Len() > 1<<20 {
				_, _ = w.Write(out.Bytes())
				out.Reset()
			}
		}
		_, _ = w.Write(out.Bytes())
		_ = w.Close()
	}()
	return r
}

func TestMemoryDoesNotGrowWithTheLog(t *testing.T) {
	retained := func(tasks int) int64 {
		engine := phases.NewEngine()
		before := heap()
		report, err := eventlog.Lines(t.Context(), tasksOf(t, tasks), "log", to(engine))
		require.NoError(t, err)
		require.Greater(t, report.Events, int64(2*tasks))
		after := heap()
		require.NotEmpty(t, engine.Result().Segments)
		return after - before
	}
	small := retained(100)
	require.Less(t, retained(20_000)-small, int64(256<<10), "bytes that 200 times as many tasks keep")
}

func to(engine *phases.Engine) func(eventlog.Event) error {
	return func(event eventlog.Event) error {
		engine.Add(event)
		return nil
	}
}

func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// cpuSeconds is the CPU time of this process: other processes do not lengthen it.
func cpuSeconds(t testing.TB) float64 {
	t.Helper()
	var usage syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

// BenchmarkTasks reads a log of 100,000 tasks, with the engine.
func BenchmarkTasks(b *testing.B) {
	const tasks = 100_000
	text, err := io.ReadAll(tasksOf(b, tasks))
	require.NoError(b, err)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	began := cpuSeconds(b)
	for b.Loop() {
		engine := phases.NewEngine()
		_, err := eventlog.Lines(b.Context(), bytes.NewReader(text), "log", to(engine))
		require.NoError(b, err)
	}
	cpu := cpuSeconds(b) - began
	b.ReportMetric(float64(2*tasks*b.N)/cpu, "events/cpu-s")
	b.ReportMetric(float64(len(text)*b.N)/1e6/cpu, "MB/cpu-s")
}
