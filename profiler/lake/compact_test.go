package lake_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

func compact(t *testing.T, l *lake.Lake) lake.Compaction {
	t.Helper()
	done, err := l.Compact(t.Context(), nil)
	require.NoError(t, err)
	return done
}

// bothViews are DuckDB's statements for views of all tables twice: of the objects of a lake, with names that begin with
// raw_, and of the compacted objects.
func bothViews(t *testing.T, l *lake.Lake, dir string) []string {
	t.Helper()
	at := filepath.Join(dir, "history")
	statements, err := l.Views(t.Context(), at, false)
	require.NoError(t, err)
	for _, d := range tables.All() {
		statements = append(statements, fmt.Sprintf("ALTER VIEW %s RENAME TO raw_%s", d.Name, d.Name))
	}
	compacted, err := l.Views(t.Context(), at, true)
	require.NoError(t, err)
	return append(statements, compacted...)
}

// requireCompacted compares each table's rows with those of its compacted objects.
func requireCompacted(t *testing.T, l *lake.Lake, dir string) (rows int64) {
	t.Helper()
	var asked []string
	for _, d := range tables.All() {
		columns := "*"
		if d.Name == "jobs" { // a list that olderFile lacks: added columns are nullable, and lists are not
			columns = "* REPLACE (coalesce(stage_ids, []) AS stage_ids)"
		}
		asked = append(asked, fmt.Sprintf("SELECT (SELECT count(*) FROM raw_%[1]s),"+
			" (SELECT count(*) FROM (SELECT %[2]s FROM raw_%[1]s EXCEPT ALL SELECT * FROM %[1]s)),"+
			" (SELECT count(*) FROM (SELECT * FROM %[1]s EXCEPT ALL SELECT %[2]s FROM raw_%[1]s))", d.Name, columns))
	}
	for i, answer := range askDuck(t, bothViews(t, l, dir), asked) {
		require.Equal(t, []any{0.0, 0.0}, answer[0][1:], tables.All()[i].Name)
		rows += int64(answer[0][0].(float64))
	}
	return rows
}

func compactedFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	return files(t, filepath.Join(dir, "history", tables.Compacted))
}

// DuckDB finds the same rows in the compacted objects, of which there is one for each table and day. Columns that older
// files lack are null.
func TestCompactedRowsAreThoseOfTheLake(t *testing.T) {
	r := seeded(t)
	dir := t.TempDir()
	l := openLocked(t, dir)
	olderJobs(t, l, dir)
	for i := range 6 {
		id := attempt
		id.ApplicationID, id.ClusterID = fmt.Sprintf("application_1_%04d", i), fmt.Sprintf("j-%d", i)
		at := start.AddDate(0, 0, i%2)
		b, err := l.Begin(id, at)
		require.NoError(t, err)
		commit(t, b, true, "v1", rows(r, tables.OfAttempt, 100)...)
		b, err = l.BeginCluster(id.Cluster, at)
		require.NoError(t, err)
		commit(t, b, true, "v1", rows(r, tables.OfCluster, 10)...)
	}
	before := files(t, dir)
	done := compact(t, l)
	require.Equal(t, []int{2, 0, 2 * len(tables.All()), 0}, []int{done.Compacted, done.Days - done.Compacted, done.Objects, done.Removed})
	require.Equal(t, requireCompacted(t, l, dir), done.Rows)
	require.FileExists(t, filepath.Join(dir, "history/compacted/jobs/dt=2026-11-25/rows.parquet"))
	require.Len(t, compactedFiles(t, dir), done.Objects)
	after := files(t, dir)
	for name, sum := range before {
		require.Equal(t, sum, after[name], name)
	}
}

// What changes a day has it compacted again, and no other day.
func TestOnlyChangedDaysAreCompacted(t *testing.T) {
	dir := t.TempDir()
	l := openLocked(t, dir)
	ids := []tables.Attempt{}
	for day := range 3 {
		ids = append(ids, add(t, l, fmt.Sprintf("application_1_000%d", day), day))
	}
	require.Equal(t, 3, compact(t, l).Compacted)
	before := files(t, dir)
	done := compact(t, l)
	require.Equal(t, lake.Compaction{Days: 3}, done)
	require.Equal(t, before, files(t, dir), "a second compaction writes nothing")

	changes := []struct {
		what    string
		day     string
		change  func()
		objects int
		removed int
	}{
		{"late rows", "2026-11-26", func() { add(t, l, "application_1_0009", 1) }, 3, 0},
		{"findings", "2026-11-27", func() {
			_, err := l.SetFindings(t.Context(), ids[2], []tables.Finding{{Attempt: ids[2], Finding: "skew"}}, "rules 1")
			require.NoError(t, err)
		}, 1, 0},
		{"no findings", "2026-11-27", func() {
			_, err := l.SetFindings(t.Context(), ids[2], nil, "rules 2")
			require.NoError(t, err)
		}, 0, 1},
		{"one application less", "2026-11-26", func() { remove(t, l, lake.Filter{ApplicationID: "application_1_0009"}) }, 3, 0},
		{"a day less", "2026-11-27", func() { remove(t, l, lake.Filter{From: "2026-11-27"}) }, 0, 3},
	}
	for _, c := range changes {
		before := compactedFiles(t, dir)
		c.change()
		done := compact(t, l)
		require.Equal(t, []int{1, c.objects, c.removed}, []int{done.Compacted, done.Objects, done.Removed}, c.what)
		requireCompacted(t, l, dir)
		after := compactedFiles(t, dir)
		for _, files := range []map[string]string{before, after} {
			for name := range files {
				if !strings.Contains(name, c.day) {
					require.Equal(t, before[name], after[name], c.what)
				}
			}
		}
	}
	require.Equal(t, lake.Compaction{Days: 2}, compact(t, l))
}

func remove(t *testing.T, l *lake.Lake, f lake.Filter) {
	t.Helper()
	removed, err := l.Delete(t.Context(), f, false)
	require.NoError(t, err)
	require.NotEmpty(t, removed)
}

// Copies that somebody removed are made again, and so are those of rows that somebody removed.
func TestObjectsRemovedByHand(t *testing.T) {
	dir := t.TempDir()
	l := openLocked(t, dir)
	add(t, l, "application_1_0001", 0)
	add(t, l, "application_1_0002", 1)
	require.Equal(t, 6, compact(t, l).Objects)
	want := compactedFiles(t, dir)
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "history/compacted/jobs")))
	require.Equal(t, 2, compact(t, l).Objects)
	require.Equal(t, want, compactedFiles(t, dir))
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "history/stages/dt=2026-11-26")))
	require.Equal(t, 1, compact(t, l).Removed)
	require.Equal(t, lake.Compaction{Days: 2}, compact(t, l))
}

// add commits an application with a job and a stage.
func add(t *testing.T, l *lake.Lake, name string, day int) tables.Attempt {
	t.Helper()
	id := attempt
	id.ApplicationID = name
	b, err := l.Begin(id, start.AddDate(0, 0, day))
	require.NoError(t, err)
	commit(t, b, true, "v1", &tables.Application{Attempt: id}, &tables.Job{Attempt: id, JobID: 1}, &tables.StageRow{Attempt: id})
	return id
}

// A day with a damaged object stays as it was, all tables of it, and is named. The others are compacted.
func TestDamagedObjectKeepsItsDay(t *testing.T) {
	dir := t.TempDir()
	l := openLocked(t, dir)
	add(t, l, "application_1_0001", 0)
	compact(t, l)
	before := compactedFiles(t, dir)

	damaged := jobsFile(t, dir, add(t, l, "application_1_0002", 0))
	content := read(t, damaged)
	for _, damage := range []string{"not Parquet", content[:200] + strings.Repeat("x", 500) + content[700:]} {
		write(t, damaged, []byte(damage))
		add(t, l, "application_1_0003", 1)
		done := compact(t, l)
		require.Len(t, done.Failed, 1)
		require.Equal(t, "2026-11-25", done.Failed[0].Day)
		require.Contains(t, done.Failed[0].Reason, "copy table jobs: history/jobs/dt=2026-11-25/application_1_0002.")
		after := compactedFiles(t, dir)
		for name, sum := range before {
			require.Equal(t, sum, after[name], name)
		}
		require.Len(t, after, 2*len(before), "the other day is compacted")
	}

	write(t, damaged, []byte(content))
	done := compact(t, l)
	require.Empty(t, done.Failed)
	require.Equal(t, 1, done.Compacted)
	requireCompacted(t, l, dir)
}

// unreadable is a store that refuses to open objects of a table.
type unreadable struct {
	lake.Store

	refused bool
}

func (s *unreadable) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if s.refused && strings.Contains(key, "/jobs/") {
		return nil, errors.New("read " + key + ": slow down")
	}
	return s.Store.Get(ctx, key)
}

// A store that does not answer ends the compaction, and is not taken for damaged rows.
func TestStoreFailsDuringCompaction(t *testing.T) {
	dir := t.TempDir()
	store := &unreadable{Store: folder(t, dir)}
	l, err := lake.Open(t.Context(), store, "history/")
	require.NoError(t, err)
	lease, err := l.Lock(t.Context(), "test")
	require.NoError(t, err)
	defer func() { require.NoError(t, lease.Unlock(context.WithoutCancel(t.Context()))) }()
	add(t, l, "application_1_0001", 0)
	store.refused = true
	done, err := l.Compact(t.Context(), nil)
	require.ErrorContains(t, err, "compact the tables of 2026-11-25: ")
	require.ErrorContains(t, err, "slow down")
	require.Empty(t, done.Failed)
	require.NoDirExists(t, filepath.Join(dir, "history/compacted"))
	store.refused = false
	require.Equal(t, 1, compact(t, l).Compacted)
}
