package lake_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

func writeLease(t *testing.T, dir, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "_manifest"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "_manifest/writer.json"), []byte(content), 0o600))
}

func lock(t *testing.T, dir string) (*lake.Lake, *lake.Lease, error) {
	t.Helper()
	l, err := lake.Open(t.Context(), folder(t, dir), "")
	require.NoError(t, err)
	lease, err := l.Lock(t.Context(), "second")
	return l, lease, err
}

// A second writer is refused, with the name of the first, until that one has ended, its
// lease has expired, or its process is dead.
func TestLeaseAdmitsOneWriter(t *testing.T) {
	host, err := os.Hostname()
	require.NoError(t, err)
	until := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	for name, c := range map[string]struct{ lease, refused string }{
		"another machine": {
			`{"owner":"first","host":"elsewhere","process":7,"expires":"` + until + `"}`,
			"first (process 7 on elsewhere) is writing to these tables: wait until it has ended; if it was killed, wait until " + until,
		},
		"a process of this machine": {
			`{"owner":"first","host":"` + host + `","process":1,"expires":"` + until + `"}`, "first (process 1 on " + host + ")",
		},
		"a dead process of it": {`{"owner":"first","host":"` + host + `","process":2147483647,"expires":"` + until + `"}`, ""},
		"expired":              {`{"owner":"first","host":"elsewhere","process":7,"expires":"2026-01-01T00:00:00Z"}`, ""},
		"unreadable":           {`first`, "read the lake's lease"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeLease(t, dir, c.lease)
			_, lease, err := lock(t, dir)
			if c.refused != "" {
				require.ErrorContains(t, err, c.refused)
				return
			}
			require.NoError(t, err)
			require.NoError(t, lease.Unlock(t.Context()))
			require.NoFileExists(t, filepath.Join(dir, "_manifest/writer.json"))
		})
	}
}

// deaf is a store that loses the responses of some swaps: the client repeats the request,
// and the store says that the object has changed.
type deaf struct {
	lake.Store
	lose int // responses
}

func (d *deaf) Swap(ctx context.Context, key string, old, content []byte) error {
	if err := d.Store.Swap(ctx, key, old, content); err != nil || d.lose == 0 {
		return err
	}
	d.lose--
	return lake.ErrChanged
}

// A renewal whose response is lost is still one.
func TestLeaseSurvivesLostResponses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder, err := lake.NewFolder(t.TempDir())
		require.NoError(t, err)
		defer folder.Close()
		store := &deaf{folder, 1}
		l, err := lake.Open(t.Context(), store, "")
		require.NoError(t, err)
		lease, err := l.Lock(t.Context(), "first")
		require.NoError(t, err)
		for range 3 {
			store.lose = 1
			time.Sleep(time.Minute) // of the bubble's clock
			synctest.Wait()
			require.Zero(t, store.lose)
		}
		require.NoError(t, lease.Unlock(t.Context()))
	})
}

// Nothing is written without the lease, or after another writer has taken it.
func TestCommitNeedsTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		id := tables.Attempt{Cluster: tables.Cluster{ClusterID: "j-1"}, ApplicationID: "a"}
		put := func(l *lake.Lake) error {
			b, err := l.Begin(id, start)
			require.NoError(t, err)
			// Without rows: the shared encoder must not be created in the bubble.
			_, err = b.Commit(t.Context(), true, "v1")
			return err
		}
		store, err := lake.NewFolder(dir)
		require.NoError(t, err)
		defer store.Close()
		l, err := lake.Open(t.Context(), store, "")
		require.NoError(t, err)
		require.ErrorContains(t, put(l), "not locked")
		require.Empty(t, files(t, dir))

		lease, err := l.Lock(t.Context(), "first")
		require.NoError(t, err)
		time.Sleep(time.Hour) // of the bubble's clock
		synctest.Wait()
		require.NoError(t, put(l), "renewed")
		before := files(t, dir)
		require.Len(t, before, 1)

		writeLease(t, dir, `{"owner":"other","host":"elsewhere","process":7,"expires":"2100-01-01T00:00:00Z"}`)
		time.Sleep(time.Minute)
		synctest.Wait()
		id.ApplicationID = "b"
		require.ErrorContains(t, put(l), "another process has begun to write to these tables")
		require.Equal(t, before, files(t, dir))
		require.ErrorIs(t, lease.Unlock(context.WithoutCancel(t.Context())), lake.ErrChanged)
		require.FileExists(t, filepath.Join(dir, "_manifest/writer.json"))
	})
}
