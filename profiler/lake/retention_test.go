package lake_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// manyLake returns a lake with applications on two clusters: on j-1 one a day for three
// days, on j-2 one on the third day. Both clusters were created on the first day.
func manyLake(t *testing.T, dir string) *lake.Lake {
	t.Helper()
	l := openLocked(t, dir)
	for _, a := range []struct {
		cluster, application string
		day                  int
	}{{"j-1", "application_1_0001", 1}, {"j-1", "application_1_0002", 2}, {"j-1", "application_1_0003", 3}, {"j-2", "application_1_0001", 3}} {
		id := tables.Attempt{Cluster: tables.Cluster{ClusterID: a.cluster}, ApplicationID: a.application}
		b, err := l.Begin(id, time.Date(2026, 1, a.day, 0, 0, 0, 0, time.UTC))
		require.NoError(t, err)
		commit(t, b, true, "v1", &tables.Application{Attempt: id}, &tables.Job{Attempt: id}, &tables.Job{Attempt: id, JobID: 1})
	}
	for _, id := range []tables.Cluster{{ClusterID: "j-1"}, {ClusterID: "j-2"}} {
		b, err := l.BeginCluster(id, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
		require.NoError(t, err)
		commit(t, b, true, "v1", &tables.ClusterSummary{Cluster: id})
	}
	return l
}

func names(removed []lake.Removed) (all []string) {
	for _, r := range removed {
		all = append(all, r.ClusterID+"/"+r.ApplicationID)
	}
	return all
}

func found(t *testing.T, l *lake.Lake, f lake.Filter) (all []string) {
	t.Helper()
	for row, err := range lake.Read[tables.Application](t.Context(), l, f) {
		require.NoError(t, err)
		all = append(all, row.ClusterID+"/"+row.ApplicationID)
	}
	return all
}

func TestFilterSelects(t *testing.T) {
	l := manyLake(t, t.TempDir())
	none, other := "", "1"
	for name, c := range map[string]struct {
		filter lake.Filter
		want   []string
	}{
		"all, the latest day first": {lake.Filter{}, []string{
			"j-2/application_1_0001", "j-1/application_1_0003", "j-1/application_1_0002", "j-1/application_1_0001",
		}},
		"cluster":             {lake.Filter{ClusterID: "j-2"}, []string{"j-2/application_1_0001"}},
		"days":                {lake.Filter{From: "2026-01-02", To: "2026-01-02"}, []string{"j-1/application_1_0002"}},
		"application":         {lake.Filter{ApplicationID: "application_1_0001"}, []string{"j-1/application_1_0001", "j-2/application_1_0001"}},
		"application and day": {lake.Filter{ApplicationID: "application_1_0001", From: "2026-01-02"}, []string{"j-2/application_1_0001"}},
		"beginning of an id":  {lake.Filter{ApplicationID: "application_1_000"}, nil},
		"no attempt":          {lake.Filter{ApplicationID: "application_1_0003", AttemptID: &none}, []string{"j-1/application_1_0003"}},
		"another attempt":     {lake.Filter{ApplicationID: "application_1_0003", AttemptID: &other}, nil},
		"region":              {lake.Filter{Region: "eu-west-1"}, nil},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, found(t, l, c.filter)) })
	}
}

// Applications that started before a day are removed, and clusters with the last of theirs.
func TestExpire(t *testing.T) {
	dir := t.TempDir()
	l := manyLake(t, dir)
	before := files(t, dir)
	third := time.Date(2026, 1, 3, 5, 0, 0, 0, time.UTC)
	planned, err := l.Expire(t.Context(), third, true)
	require.NoError(t, err)
	require.Equal(t, before, files(t, dir))
	removed, err := l.Expire(t.Context(), third, false)
	require.NoError(t, err)
	require.Equal(t, planned, removed)
	require.Equal(t, []string{"j-1/application_1_0001", "j-1/application_1_0002"}, names(removed))
	require.Equal(t, []int64{2, 3}, []int64{int64(removed[0].Objects), removed[0].Rows})
	require.Equal(t, []string{"j-2/application_1_0001", "j-1/application_1_0003"}, found(t, l, lake.Filter{}))

	removed, err = l.Expire(t.Context(), third.AddDate(0, 0, 1), false)
	require.NoError(t, err)
	require.Equal(t, []string{"j-2/application_1_0001", "j-1/application_1_0003", "j-1/", "j-2/"}, names(removed))
	require.Empty(t, files(t, dir))
}

func TestDelete(t *testing.T) {
	dir := t.TempDir()
	l := manyLake(t, dir)
	_, err := l.Delete(t.Context(), lake.Filter{}, false)
	require.ErrorContains(t, err, "selects everything")
	removed, err := l.Delete(t.Context(), lake.Filter{ClusterID: "j-1", ApplicationID: "application_1_0001"}, false)
	require.NoError(t, err)
	require.Equal(t, []string{"j-1/application_1_0001"}, names(removed))
	removed, err = l.Delete(t.Context(), lake.Filter{ClusterID: "j-1"}, false)
	require.NoError(t, err)
	require.Equal(t, []string{"j-1/application_1_0002", "j-1/application_1_0003", "j-1/"}, names(removed))
	require.Equal(t, []string{"j-2/application_1_0001"}, found(t, l, lake.Filter{}))
	removed, err = l.Delete(t.Context(), lake.Filter{ClusterID: "j-1"}, false)
	require.NoError(t, err)
	require.Empty(t, removed)
}
