package lake_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Whatever ids an application chooses, its rows stay inside the lake, separate from those of
// others, and visible to Spark and DuckDB.
func TestHostileIDs(t *testing.T) {
	ids := []string{
		"../../../etc/passwd", "..", ".", "/", "_SUCCESS", ".hidden", "a/b", "a%2fb", "a~2fb", "a.b", "a b", "a\nb", "a\x00b", "{a,b}*?[c]",
		"s3://bucket/key", "dt=2020-01-01", "-", "é", "\xff", strings.Repeat("x", 500), strings.Repeat("x", 501), strings.Repeat("/", 500),
		strings.Repeat("x", 44), strings.Repeat("x", 45), "~", "~~", "A", "a",
	}
	dir := filepath.Join(t.TempDir(), "lake")
	l := openLocked(t, dir)
	for _, hostile := range ids {
		cluster := tables.Cluster{ClusterID: hostile, Region: hostile, Account: hostile}
		id := tables.Attempt{Cluster: cluster, ApplicationID: hostile, AttemptID: hostile}
		b, err := l.Begin(id, start)
		require.NoError(t, err)
		commit(t, b, true, "v1", &tables.Application{Attempt: id})
	}
	outside, err := filepath.Glob(filepath.Join(dir, "..", "*"))
	require.NoError(t, err)
	require.Equal(t, []string{dir}, outside)
	found := 0
	for name := range files(t, dir) {
		if !strings.HasSuffix(name, ".parquet") {
			continue
		}
		found++
		require.Regexp(t, `^history/applications/dt=2026-11-25/[a-zA-Z0-9~-][a-zA-Z0-9_~-]*(\.[a-zA-Z0-9_~-]+){4}\.parquet$`, name)
		require.LessOrEqual(t, len(filepath.Base(name)), 255)
	}
	require.Equal(t, len(ids), found)
	for _, hostile := range ids {
		var got []string
		f := lake.Filter{ApplicationID: hostile, AttemptID: &hostile, ClusterID: hostile, Region: hostile, Account: hostile}
		for row, err := range lake.Read[tables.Application](t.Context(), l, f) {
			require.NoError(t, err)
			got = append(got, row.ApplicationID)
		}
		require.Equal(t, []string{hostile}, got)
	}
	_, err = l.Begin(tables.Attempt{Cluster: tables.Cluster{ClusterID: "j-1"}}, start)
	require.ErrorContains(t, err, "needs the ids of both")
}
