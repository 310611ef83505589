package fold_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// measured is a sink that counts rows. It measures the heap when the whole log has been read.
type measured struct {
	rows map[tables.Name]int
	heap int64
}

func (m *measured) Put(row tables.Row) error {
	m.rows[tables.Table(row)]++
	if tables.Table(row) == tables.Table((*tables.Application)(nil)) {
		m.heap = liveHeap()
	}
	return nil
}

func liveHeap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// growth folds lines and returns by how many bytes the heap has grown after the last one.
func growth(t *testing.T, lines []string) (bytes int64, rows map[tables.Name]int) {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "log"), []byte(joined(lines)), 0o600))
	log, err := eventlog.Open(os.DirFS(folder), "log")
	require.NoError(t, err)
	sink := &measured{rows: map[tables.Name]int{}}
	before := liveHeap()
	_, err = fold.Log(t.Context(), log, tables.Cluster{}, fold.Options{}, sink)
	require.NoError(t, err)
	runtime.KeepAlive(lines)
	return sink.heap - before, sink.rows
}

// The only task of an open stage may have any index.
func TestMemoryOfHighTaskIndexes(t *testing.T) {
	lines := []string{applicationStart(0)}
	for id := range int64(1000) {
		task := try{id: id, index: 1 << 26, s: shape{id: id, tasks: 1}, executor: "1", from: 1, to: 2}
		lines = append(lines, taskEnd(task, "Success", 1))
	}
	bytes, rows := growth(t, append(lines, applicationEnd(10)))
	require.Equal(t, 1000, rows["stages"])
	require.Less(t, bytes, int64(32<<20))
}

// Executions with large plans wait for late events in smaller numbers.
func TestMemoryOfLargePlans(t *testing.T) {
	var metrics []object
	for id := range 2000 {
		metrics = append(metrics, object{"name": "number of output rows", "accumulatorId": id, "metricType": "sum"})
	}
	operators := make([]object, 20)
	for i := range operators {
		operators[i] = plan("Scan", "Scan", metrics)
	}
	executions := func(n int64) []string {
		lines := []string{applicationStart(0)}
		for id := range n {
			lines = append(lines, sqlStart(id, 1, plan("Union", "Union", nil, operators...)), sqlEnd(id, 2, ""))
		}
		return append(lines, applicationEnd(10))
	}
	few, _ := growth(t, executions(10))
	many, rows := growth(t, executions(60))
	require.Equal(t, 60, rows["sql"])
	require.Less(t, many, 2*few)
	t.Logf("heap: %d KiB, %d KiB", few>>10, many>>10)
}

// A log of executors without end takes no more memory than the profiler has, and is not read.
func TestMemoryOfManyExecutors(t *testing.T) {
	executors := func(n int) []string {
		lines := []string{applicationStart(0)}
		for id := range n {
			lines = append(lines, fmt.Sprintf(`{"Event":"SparkListenerExecutorAdded","Timestamp":1,"Executor ID":"%d","Executor Info":`+
				`{"Host":"ip-10-0-0-%d.eu-west-1.compute.internal","Total Cores":4,"Log Urls":{"stdout":"http://ip-10-0-0-%d.eu-west-1.compute.`+
				`internal:8042/node/containerlogs/container_1700000000000_0001_01_%06d/hadoop/stdout?start=-4096"}}}`,
				id, id%256, id%256, id))
		}
		return append(lines, applicationEnd(10))
	}
	bytes, rows := growth(t, executors(100_000))
	require.Equal(t, 100_000, rows["executors"])
	require.Less(t, bytes, int64(160<<20))
	t.Logf("100,000 executors take %d MiB", bytes>>20)

	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "log"), []byte(joined(executors(100_002))), 0o600))
	log, err := eventlog.Open(os.DirFS(folder), "log")
	require.NoError(t, err)
	_, err = fold.Log(t.Context(), log, tables.Cluster{}, fold.Options{}, &measured{rows: map[tables.Name]int{}})
	require.ErrorIs(t, err, fold.ErrTooMany)
}

// Few entries with long texts take as much memory as many with short ones. What has ended
// counts no more.
func TestMemoryOfLongTexts(t *testing.T) {
	long := strings.Repeat("x", 15<<10)
	executors := func(n int) []string {
		lines := []string{applicationStart(0)}
		for id := range n {
			lines = append(lines, fmt.Sprintf(`{"Event":"SparkListenerExecutorAdded","Timestamp":1,"Executor ID":"%d","Executor Info":`+
				`{"Host":"%d%s","Total Cores":4,"Log Urls":{}}}`, id, id, long))
		}
		return append(lines, applicationEnd(10))
	}
	bytes, rows := growth(t, executors(4000)) // 60 MiB
	require.Equal(t, 4000, rows["executors"])
	require.Less(t, bytes, int64(130<<20))
	jobs := []string{applicationStart(0)}
	for id := range int64(5000) {
		jobs = append(jobs, fmt.Sprintf(`{"Event":"SparkListenerJobStart","Job ID":%d,"Submission Time":1,"Stage Infos":[],"Stage IDs":[],`+
			`"Properties":{"spark.job.description":%q}}`, id, long),
			fmt.Sprintf(`{"Event":"SparkListenerJobEnd","Job ID":%d,"Completion Time":2,"Job Result":{"Result":"JobSucceeded"}}`, id))
	}
	_, rows = growth(t, append(jobs, applicationEnd(10)))
	require.Equal(t, 5000, rows["jobs"])

	folder := t.TempDir()
	for name, lines := range map[string][]string{"executors": executors(4700), "open jobs": slices.DeleteFunc(jobs, func(line string) bool {
		return strings.Contains(line, "JobEnd")
	})} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, "log"), []byte(joined(lines)), 0o600))
		log, err := eventlog.Open(os.DirFS(folder), "log")
		require.NoError(t, err)
		_, err = fold.Log(t.Context(), log, tables.Cluster{}, fold.Options{}, &measured{rows: map[tables.Name]int{}})
		require.ErrorIs(t, err, fold.ErrTooMany, name)
	}
}

// Spark writes an empty plan for a statement that it could not analyse.
func TestEmptyPlans(t *testing.T) {
	_, rows := growth(t, []string{applicationStart(0), sqlStart(0, 1, object{}), sqlEnd(0, 2, ""), applicationEnd(10)})
	require.Equal(t, 1, rows["sql"])
}
