package lake_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Committing the same rows writes nothing, and changed rows only their object. A table that
// no longer has rows, or moves to another day, loses its old object.
func TestCommitWritesWhatDiffers(t *testing.T) {
	dir := t.TempDir()
	l := openLocked(t, dir)
	put := func(start time.Time, final bool, fingerprint string, rows ...tables.Row) lake.Written {
		b, err := l.Begin(attempt, start)
		require.NoError(t, err)
		return commit(t, b, final, fingerprint, rows...)
	}
	app, job := &tables.Application{Attempt: attempt}, &tables.Job{Attempt: attempt, JobID: 1}
	require.False(t, isCurrent(l, attempt, "v1"))
	require.Equal(t, 2, put(start, false, "v1", app, job).Objects)
	require.False(t, isCurrent(l, attempt, "v1"), "not final")
	require.Zero(t, put(start, true, "v1", job, app).Objects)
	require.True(t, isCurrent(l, attempt, "v1"))
	require.False(t, isCurrent(l, attempt, "v2"))
	before := files(t, dir)

	reopened, err := lake.Open(t.Context(), folder(t, dir), "history/")
	require.NoError(t, err)
	require.True(t, isCurrent(reopened, attempt, "v1"))

	written := put(start, true, "v2", &tables.Application{Attempt: attempt, Completed: true}, job)
	require.Equal(t, []int{1, 0}, []int{written.Objects, written.Removed})
	written = put(start, true, "v3", app)
	require.Equal(t, []int{1, 1}, []int{written.Objects, written.Removed})
	require.NoDirExists(t, filepath.Join(dir, "history/jobs"))
	written = put(start.AddDate(0, 0, 1), true, "v4", app, job)
	require.Equal(t, []int{2, 1}, []int{written.Objects, written.Removed})
	written = put(start, true, "v1", app, job)
	require.Equal(t, []int{2, 2}, []int{written.Objects, written.Removed})
	require.Equal(t, before, files(t, dir))
}

// An attempt to be read again is not final for a number of commits with one fingerprint.
// Those before one without Retry do not count.
func TestRetry(t *testing.T) {
	l := openLocked(t, t.TempDir())
	put := func(fingerprint string, retries int) bool {
		b, err := l.Begin(attempt, start)
		require.NoError(t, err)
		b.Retry(retries)
		written := commit(t, b, true, fingerprint, &tables.Application{Attempt: attempt})
		require.Equal(t, written.Final, isCurrent(l, attempt, fingerprint))
		return written.Final
	}
	require.False(t, put("v1", 2))
	require.False(t, put("v1", 2))
	require.True(t, put("v1", 2))
	require.True(t, put("v1", 2))
	require.False(t, put("v2", 2))
	require.True(t, put("v2", 0))
	require.False(t, put("v2", 2))
	require.False(t, put("v2", 2))
	require.True(t, put("v2", 2))
}

func folder(t *testing.T, dir string) *lake.Folder {
	t.Helper()
	store, err := lake.NewFolder(dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

func isCurrent(l *lake.Lake, id tables.Attempt, fingerprint string) bool {
	return l.Current(id, fingerprint) != nil
}
