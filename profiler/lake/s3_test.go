package lake_test

import (
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/localcloud/s3"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/toolchain/servers"
)

// bucket returns a store in the local cloud's S3.
func bucket(t *testing.T) *lake.Bucket {
	t.Helper()
	binary, err := servers.Find(t.Context(), servers.VersityGW)
	require.NoError(t, err)
	log, err := os.Create(filepath.Join(t.TempDir(), "gateway.log"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = log.Close() })
	g, err := s3.Start(t.Context(), s3.Options{
		Binary: binary, Dir: t.TempDir(), Address: testenv.Address(t), Region: "us-east-1",
		AccessKey: "key", SecretKey: "secret-key", Log: log,
	})
	require.NoError(t, err)
	t.Cleanup(g.Stop)
	_, err = g.Client.CreateBucket(t.Context(), &awss3.CreateBucketInput{Bucket: aws.String("data")})
	require.NoError(t, err)
	return lake.NewBucket(aws.Config{
		Region: "us-east-1", BaseEndpoint: aws.String(g.Endpoint()),
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret-key", ""),
	}, "data")
}

func contents(t *testing.T, store lake.Store) map[string]string {
	t.Helper()
	all := map[string]string{}
	for key, err := range store.List(t.Context(), "") {
		require.NoError(t, err)
		body, err := store.Get(t.Context(), key)
		require.NoError(t, err)
		content, err := io.ReadAll(body)
		require.NoError(t, err)
		require.NoError(t, body.Close())
		all[key] = string(content)
	}
	return all
}

// A lake has the same objects in S3 as in a folder, and reading, locking and expiry work
// alike.
func TestS3AndFolderStoresBehaveAlike(t *testing.T) {
	var held []map[string]string
	for _, store := range []lake.Store{folder(t, t.TempDir()), bucket(t)} {
		l, err := lake.Open(t.Context(), store, "lake/history/")
		require.NoError(t, err)
		lease, err := l.Lock(t.Context(), "first")
		require.NoError(t, err)
		put := func(rows ...tables.Row) lake.Written {
			b, err := l.Begin(attempt, start)
			require.NoError(t, err)
			return commit(t, b, true, "v1", rows...)
		}
		app, job := &tables.Application{Attempt: attempt}, &tables.Job{Attempt: attempt, JobID: 7}
		require.Equal(t, 2, put(app, job).Objects)
		require.Zero(t, put(app, job).Objects)
		require.True(t, isCurrent(l, attempt, "v1"))
		for row, err := range lake.Read[tables.Job](t.Context(), l, lake.Filter{From: "2026-11-25"}) {
			require.NoError(t, err)
			require.EqualValues(t, 7, row.JobID)
		}
		require.Equal(t, 1, put(app).Removed)
		require.Equal(t, 1, compact(t, l).Objects)
		require.Equal(t, lake.Compaction{Days: 1}, compact(t, l))
		require.NoError(t, lease.Unlock(t.Context()))
		held = append(held, contents(t, store))

		taken := []byte(`{"owner":"other","host":"elsewhere","process":1,"expires":"2100-01-01T00:00:00Z"}`)
		require.NoError(t, store.Swap(t.Context(), "lake/history/_manifest/writer.json", nil, taken))
		require.ErrorIs(t, store.Swap(t.Context(), "lake/history/_manifest/writer.json", nil, taken), lake.ErrChanged)
		require.ErrorIs(t, store.Swap(t.Context(), "lake/history/_manifest/writer.json", []byte("other"), taken), lake.ErrChanged)
		var other *lake.HeldError
		_, err = l.Lock(t.Context(), "second")
		require.ErrorAs(t, err, &other)
		require.Equal(t, "elsewhere", other.Host)
		require.NoError(t, store.Swap(t.Context(), "lake/history/_manifest/writer.json", taken, []byte(`{}`)))
		lease, err = l.Lock(t.Context(), "second")
		require.NoError(t, err)
		removed, err := l.Expire(t.Context(), start.AddDate(0, 0, 2), false)
		require.NoError(t, err)
		require.Len(t, removed, 1)
		require.Equal(t, 1, compact(t, l).Removed)
		require.NoError(t, lease.Unlock(t.Context()))
		require.Equal(t, []string{"lake/history/_manifest/compacted.json"}, slices.Collect(maps.Keys(contents(t, store))))
		require.NoError(t, store.Delete(t.Context(), "lake/none"))
		_, err = store.Get(t.Context(), "lake/none")
		require.ErrorIs(t, err, os.ErrNotExist)
	}
	require.Len(t, held[0], 5)
	require.Equal(t, held[0], held[1])
}
