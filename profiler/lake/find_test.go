package lake

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// distant is a store whose requests take as long as S3's, each page of a listing too.
type distant struct{ Store }

const (
	roundTrip = 30 * time.Millisecond
	pageKeys  = 1000
)

func (s distant) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	time.Sleep(roundTrip)
	return s.Store.Get(ctx, key)
}

func (s distant) Folders(ctx context.Context, prefix string) ([]string, error) {
	time.Sleep(roundTrip)
	return s.Store.Folders(ctx, prefix)
}

func (s distant) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		time.Sleep(roundTrip)
		n := 0
		for key, err := range s.Store.List(ctx, prefix) {
			if n++; n%pageKeys == 0 {
				time.Sleep(roundTrip)
			}
			if !yield(key, err) {
				return
			}
		}
	}
}

// Who lists the applications of a lake with a thousand waits less than a second for S3 once it is compacted, also if
// today's day is not; and finds the same rows in the same order as without.
func TestThousandApplicationsAreListedInASecond(t *testing.T) {
	const days, perDay = 40, 25
	dir := t.TempDir()
	store, err := NewFolder(dir)
	require.NoError(t, err)
	defer store.Close()
	l, err := Open(t.Context(), store, "")
	require.NoError(t, err)
	lease, err := l.Lock(t.Context(), "test")
	require.NoError(t, err)
	put := func(day, n int) {
		id := tables.Attempt{Cluster: tables.Cluster{ClusterID: "j-1"}, ApplicationID: fmt.Sprintf("application_%d_%04d", day, n)}
		b, err := l.Begin(id, time.Date(2026, 1, 1+day, 0, 0, 0, 0, time.UTC))
		require.NoError(t, err)
		require.NoError(t, b.Put(&tables.Application{Attempt: id, NumJobs: int64(n)}))
		require.NoError(t, b.Put(&tables.Completeness{Attempt: id, Endpoint: "applications", Seen: 1}))
		_, err = b.Commit(t.Context(), true, "v1")
		require.NoError(t, err)
	}
	for n := range perDay {
		put(0, n)
	}
	for _, table := range []string{"applications", "completeness"} { // links are quicker than commits
		first := filepath.Join(dir, table, "dt=2026-01-01")
		for day := 1; day < days; day++ {
			other := filepath.Join(dir, table, "dt="+time.Date(2026, 1, 1+day, 0, 0, 0, 0, time.UTC).Format(time.DateOnly))
			require.NoError(t, os.Mkdir(other, 0o755))
			entries, err := os.ReadDir(first)
			require.NoError(t, err)
			for _, entry := range entries {
				require.NoError(t, os.Link(filepath.Join(first, entry.Name()), filepath.Join(other, entry.Name())))
			}
		}
	}
	before, waited := listed(t, store)
	t.Logf("%d applications after %s, not compacted", len(before), waited)
	require.Len(t, before, days*perDay)
	require.Greater(t, waited, 5*time.Second, "an object for each application")
	_, err = l.Compact(t.Context(), nil)
	require.NoError(t, err)
	after, waited := listed(t, store)
	t.Logf("%d applications after %s", len(after), waited)
	require.Equal(t, before, after)
	require.Less(t, waited, time.Second)

	put(days-1, perDay)
	require.NoError(t, lease.Unlock(t.Context()))
	after, waited = listed(t, store)
	require.Len(t, after, days*perDay+1)
	require.Equal(t, before[perDay:], after[perDay+1:])
	require.Less(t, waited, time.Second)
}

// listed returns all applications, and how long requests for them to a store as distant as S3 take. Nothing is missing.
func listed(t *testing.T, store Store) (all []tables.Application, waited time.Duration) {
	t.Helper()
	l, err := Open(t.Context(), store, "")
	require.NoError(t, err)
	for row, err := range Read[tables.Application](t.Context(), l, Filter{}) {
		require.NoError(t, err)
		all = append(all, row)
	}
	synctest.Test(t, func(t *testing.T) { // where only requests take time; zstd's decoders do not run here
		began := time.Now()
		far, err := Open(t.Context(), distant{store}, "")
		require.NoError(t, err)
		applications := far.findRows(t.Context(), tables.Table((*tables.Application)(nil)), Filter{}, false)
		for _, err := range fetchAhead(t.Context(), far.store, applications) {
			require.NoError(t, err)
		}
		for row, err := range Missing(t.Context(), far, Filter{}) {
			require.NoError(t, err)
			require.Empty(t, row)
		}
		waited = time.Since(began)
	})
	return all, waited
}
