package lake_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// A table too large to be sorted in memory is read back in order, and has the same bytes
// whatever the order of arrival.
func TestLargeTables(t *testing.T) {
	r := seeded(t)
	const executions = 300
	ids := r.Perm(executions)
	var sums []string
	for range 2 {
		dir := t.TempDir()
		l := openLocked(t, dir)
		b, err := l.Begin(attempt, start)
		require.NoError(t, err)
		for _, id := range ids {
			require.NoError(t, b.Put(largeSQL(int64(id))))
		}
		written := commit(t, b, true, "v1")
		t.Logf("%d executions of 100 kB: %d bytes in the lake", executions, written.Bytes)
		next := int64(0)
		for row, err := range lake.Read[tables.SQL](t.Context(), l, lake.Filter{}) {
			require.NoError(t, err)
			require.Equal(t, next, row.SQLID)
			require.Equal(t, largeSQL(next).RawJSON, row.RawJSON)
			next++
		}
		require.EqualValues(t, executions, next)
		require.Len(t, rowGroups(t, dir, "sql"), 1)
		sums = append(sums, files(t, dir)["history/sql/dt=2026-11-25/application_1_0001.1.j-1.eu-west-1.-.parquet"])
		r.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	}
	require.NotEmpty(t, sums[0])
	require.Equal(t, sums[0], sums[1])
}

// Several runs of many small rows are merged: each is there once, with its own values, and
// the bytes do not depend on the order of arrival.
func TestManySmallRows(t *testing.T) {
	r := seeded(t)
	const rows = 40_000
	text := func(id int64) string { return fmt.Sprint(id, strings.Repeat("x", int(id*31%400))) }
	ids := r.Perm(rows)
	var sums []string
	for range 2 {
		dir := t.TempDir()
		l := openLocked(t, dir)
		b, err := l.Begin(attempt, start)
		require.NoError(t, err)
		for _, i := range ids {
			id := int64(i)
			require.NoError(t, b.Put(&tables.SQLNode{Attempt: attempt, SQLID: id / 10, NodeID: id % 10, NodeName: text(id), Value: &id}))
		}
		commit(t, b, true, "v1")
		next := int64(0)
		for row, err := range lake.Read[tables.SQLNode](t.Context(), l, lake.Filter{}) {
			require.NoError(t, err)
			require.Equal(t, []any{next / 10, next % 10, text(next), next}, []any{row.SQLID, row.NodeID, row.NodeName, *row.Value})
			next++
		}
		require.EqualValues(t, rows, next)
		sums = append(sums, files(t, dir)["history/sql_nodes/dt=2026-11-25/application_1_0001.1.j-1.eu-west-1.-.parquet"])
		r.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	}
	require.NotEmpty(t, sums[0])
	require.Equal(t, sums[0], sums[1])
}

// largeSQL returns an execution with a plan of 100 kB.
func largeSQL(id int64) *tables.SQL {
	r := rand.New(rand.NewPCG(uint64(id), 0))
	var plan strings.Builder
	for plan.Len() < 100_000 {
		fmt.Fprintf(&plan, `{"nodeId":%d,"nodeName":"Exchange %x"},`, r.IntN(1000), r.Int64())
	}
	return &tables.SQL{Attempt: attempt, SQLID: id, RawJSON: plan.String(), JobIDs: []int64{id}}
}

// Tasks keep the order of arrival, and are written as they arrive, in several row groups
// and in bounded memory.
func TestManyTasks(t *testing.T) {
	dir := t.TempDir()
	l := openLocked(t, dir)
	b, err := l.Begin(attempt, start)
	require.NoError(t, err)
	const tasks = 250_000
	// Incompressible values, so that few tasks fill a row group.
	value := func(task, metric int64) int64 { return int64(uint64(task*31+metric+1) * 0x9E3779B97F4A7C15 >> 1) }
	task := tables.Task{Attempt: attempt} // reused: a sink keeps no row
	metrics := reflect.ValueOf(&task.TaskMetrics).Elem()
	for m := range metrics.NumField() - 1 {
		metrics.Field(m).Set(reflect.New(metrics.Field(m).Type().Elem()))
	}
	var peak uint64
	for i := range int64(tasks) {
		task.TaskID, task.Host = tasks-i, "ip-10-0-0-1"
		for m := range metrics.NumField() - 1 {
			metrics.Field(m).Elem().SetInt(value(i, int64(m)))
		}
		require.NoError(t, b.Put(&task))
		if i%25_000 == 0 {
			peak = max(peak, heap())
		}
	}
	written := commit(t, b, true, "v1")
	t.Logf("%d tasks: %d bytes in the lake, live heap at most %d MiB", tasks, written.Bytes, peak>>20)
	require.Less(t, peak, uint64(128<<20))
	require.Len(t, rowGroups(t, dir, "tasks"), 2)
	next := int64(0)
	for row, err := range lake.Read[tables.Task](t.Context(), l, lake.Filter{}) {
		require.NoError(t, err)
		require.Equal(t, tasks-next, row.TaskID)
		require.Equal(t, value(next, 0), *row.DeserializeTime)
		require.Nil(t, row.ShuffleWriteRecords)
		next++
	}
	require.EqualValues(t, tasks, next)
}

// A day with several large tables is compacted within the memory of the control node's profiler.
func TestLargeDayIsCompactedInBoundedMemory(t *testing.T) {
	dir := t.TempDir()
	l, err := lake.Open(t.Context(), folder(t, dir), "history/")
	require.NoError(t, err)
	lease, err := l.Lock(t.Context(), "test")
	require.NoError(t, err)
	for n := range 3 {
		id := attempt
		id.ApplicationID = fmt.Sprint("application_1_", n)
		b, err := l.Begin(id, start)
		require.NoError(t, err)
		for i := range int64(100_000) {
			require.NoError(t, b.Put(manyMetrics(id, i)))
		}
		for i := range int64(200) {
			require.NoError(t, b.Put(largeSQL(i)))
		}
		commit(t, b, true, "v1", &tables.Application{Attempt: id})
	}
	require.NoError(t, lease.Unlock(t.Context()))
	record, err := platform.Workloads().Get(platform.WorkloadProfiler)
	require.NoError(t, err)
	compactor := startCompactor(t, dir, fmt.Sprintf("GOMEMLIMIT=%dMiB", record.MemoryMiB*7/10)) // assets/workloads
	require.NoError(t, compactor.Wait())
	peak := compactor.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10
	t.Logf("peak of the compacting process: %d MiB", peak)
	require.Less(t, peak, int64(record.MemoryMiB))
	require.Len(t, rowGroups(t, dir, tables.Compacted+"/tasks"), 2)
}

// manyMetrics returns a task whose metrics cannot be compressed.
func manyMetrics(id tables.Attempt, n int64) *tables.Task {
	task := &tables.Task{Attempt: id, TaskID: n}
	metrics := reflect.ValueOf(&task.TaskMetrics).Elem()
	for m := range metrics.NumField() - 1 {
		value := int64(uint64(n*31+int64(m)+1) * 0x9E3779B97F4A7C15 >> 1)
		metrics.Field(m).Set(reflect.ValueOf(&value))
	}
	return task
}

// heap returns the bytes of live objects.
func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

func rowGroups(t *testing.T, dir, table string) []parquet.RowGroup {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "history", table, "dt=*", "*.parquet"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	content, err := os.ReadFile(found[0])
	require.NoError(t, err)
	file, err := parquet.OpenFile(bytes.NewReader(content), int64(len(content)))
	require.NoError(t, err)
	return file.RowGroups()
}
