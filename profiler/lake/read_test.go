package lake_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// unevenStore takes a random time for each object, and fails to read one of them.
type unevenStore struct {
	lake.Store
	broken string // part of its key, "" for none
}

func (s unevenStore) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if s.broken != "" && strings.Contains(key, s.broken) {
		return nil, fmt.Errorf("read %s: %w", key, errors.ErrUnsupported)
	}
	time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond)
	return s.Store.Get(ctx, key)
}

// countingStore counts requests.
type countingStore struct {
	lake.Store
	gets, lists atomic.Int64
}

func (s *countingStore) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	s.gets.Add(1)
	return s.Store.Get(ctx, key)
}

func (s *countingStore) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	s.lists.Add(1)
	return s.Store.List(ctx, prefix)
}

func (s *countingStore) Folders(ctx context.Context, prefix string) ([]string, error) {
	s.lists.Add(1)
	return s.Store.Folders(ctx, prefix)
}

// A current attempt is read with one request for the manifest and one per table, and has
// the rows that were written.
func TestCurrentAttemptsTakeFewRequests(t *testing.T) {
	dir := t.TempDir()
	l := openLocked(t, dir)
	other := attempt
	other.ApplicationID = "application_1_0002"
	for _, id := range []tables.Attempt{attempt, other} {
		b, err := l.Begin(id, start)
		require.NoError(t, err)
		commit(t, b, true, "v1", &tables.Application{Attempt: id, NumJobs: 2}, &tables.Job{Attempt: id}, &tables.Job{Attempt: id, JobID: 1})
	}
	s := &countingStore{Store: folder(t, dir)}
	l, err := lake.Open(t.Context(), s, "history/")
	require.NoError(t, err)
	held := l.Current(attempt, "v1")
	require.NotNil(t, held)
	require.Equal(t, []int64{2, 1, 0}, []int64{held.Rows("jobs"), held.Rows("applications"), held.Rows("stages")})
	var apps []tables.Application
	for row, err := range lake.ReadHeld[tables.Application](t.Context(), held) {
		require.NoError(t, err)
		apps = append(apps, row)
	}
	require.Equal(t, []tables.Application{{Attempt: attempt, NumJobs: 2}}, apps)
	for _, err := range lake.ReadHeld[tables.StageRow](t.Context(), held) {
		require.Fail(t, "no rows expected", err)
	}
	require.Equal(t, []int64{2, 0}, []int64{s.gets.Load(), s.lists.Load()})
	require.Nil(t, l.Current(attempt, "v2"))
}

// Rows of many objects are yielded in order. The first object that cannot be read ends them
// with an error that names it, after the rows of the earlier ones.
func TestOrderOfManyObjects(t *testing.T) {
	const jobs = 40
	dir := t.TempDir()
	l := openLocked(t, dir)
	for n := range int64(jobs) {
		id := attempt
		id.ApplicationID = fmt.Sprintf("application_1_%04d", n)
		b, err := l.Begin(id, start)
		require.NoError(t, err)
		commit(t, b, true, "v1", &tables.Job{Attempt: id, JobID: 2 * n}, &tables.Job{Attempt: id, JobID: 2*n + 1})
	}
	jobsOf := func(s lake.Store) (ids []int64, failed error) {
		l, err := lake.Open(t.Context(), s, "history/")
		require.NoError(t, err)
		for row, err := range lake.Read[tables.Job](t.Context(), l, lake.Filter{}) {
			require.NoError(t, failed, "the error comes last")
			if failed = err; err == nil {
				ids = append(ids, row.JobID)
			}
		}
		return ids, failed
	}
	all, err := jobsOf(unevenStore{Store: folder(t, dir)})
	require.NoError(t, err)
	require.Len(t, all, 2*jobs)
	require.IsIncreasing(t, all)
	before, err := jobsOf(unevenStore{folder(t, dir), "application_1_0007"})
	require.ErrorIs(t, err, errors.ErrUnsupported)
	require.ErrorContains(t, err, "read table jobs: read history/jobs/dt=2026-11-25/application_1_0007.1.j-1.eu-west-1.-.parquet")
	require.Equal(t, all[:2*7], before)
}

// A cluster's rows come from a day's compacted object where it has many of the day's applications, and
// from their own objects where it has few. They are the same rows in the same order.
func TestRowsOfAClusterAmongOthers(t *testing.T) {
	const days = 3
	dir := t.TempDir()
	l := openLocked(t, dir)
	perDay := map[string]int{"j-MANY": 20, "j-SOME": 5, "j-FEW": 1, "j-REST": 54}
	for day := range days {
		for cluster, n := range perDay {
			for i := range n {
				id := attempt
				id.ClusterID, id.ApplicationID = cluster, fmt.Sprintf("application_%d_%04d", day, i)
				b, err := l.Begin(id, start.AddDate(0, 0, day))
				require.NoError(t, err)
				commit(t, b, true, "v1", &tables.Application{Attempt: id, NumJobs: int64(i)})
			}
		}
	}
	read := func(f lake.Filter, s lake.Selection) (rows []string, gets int64) {
		store := &countingStore{Store: folder(t, dir)}
		l, err := lake.Open(t.Context(), store, "history/")
		require.NoError(t, err)
		for row, err := range lake.ReadPart[tables.Application](t.Context(), l, f, s) {
			require.NoError(t, err)
			require.Equal(t, f.ClusterID, row.ClusterID)
			rows = append(rows, fmt.Sprintf("%s %d", row.ApplicationID, row.NumJobs))
		}
		return rows, store.gets.Load()
	}
	part := lake.Selection{Columns: []string{"application_id", "num_jobs"}}
	before := map[string][]string{}
	for cluster, n := range perDay {
		rows, gets := read(lake.Filter{ClusterID: cluster}, part)
		require.Len(t, rows, days*n)
		require.Equal(t, int64(days*n), gets)
		before[cluster] = rows
	}
	compact(t, l)
	for cluster := range perDay {
		rows, gets := read(lake.Filter{ClusterID: cluster}, part)
		require.Equal(t, before[cluster], rows)
		require.Equal(t, int64(days), gets, "%s: one copy a day, or one application", cluster)
		rows, _ = read(lake.Filter{ClusterID: cluster}, lake.Selection{})
		require.Equal(t, before[cluster], rows, "of all columns")
	}
	last := start.AddDate(0, 0, days-1).UTC().Format(time.DateOnly)
	rows, gets := read(lake.Filter{ClusterID: "j-MANY", From: last}, part)
	require.Equal(t, before["j-MANY"][:perDay["j-MANY"]], rows)
	require.Equal(t, int64(1), gets)
	id := attempt
	id.ClusterID, id.ApplicationID = "j-MANY", "application_0_9999"
	b, err := l.Begin(id, start)
	require.NoError(t, err)
	commit(t, b, true, "v1", &tables.Application{Attempt: id})
	rows, gets = read(lake.Filter{ClusterID: "j-MANY"}, part)
	require.Equal(t, append(slices.Clone(before["j-MANY"]), "application_0_9999 0"), rows, "a day that has changed")
	require.Equal(t, int64(days-1+perDay["j-MANY"]+1), gets)
	rows, gets = read(lake.Filter{ClusterID: "j-MANY", AttemptID: new("2")}, part)
	require.Empty(t, rows)
	require.Zero(t, gets)
}
