package lake_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// olderJobs adds a file of jobs to a lake, from an older program that lacked some columns.
func olderJobs(t *testing.T, l *lake.Lake, dir string) tables.Attempt {
	t.Helper()
	id := tables.Attempt{Cluster: tables.Cluster{ClusterID: "older", ClusterName: "older"}, ApplicationID: "application_1_0009"}
	b, err := l.Begin(id, start)
	require.NoError(t, err)
	commit(t, b, true, "v1", &tables.Application{Attempt: id}, &tables.Job{Attempt: id, JobID: 5, Status: "FAILED"})
	write(t, jobsFile(t, dir, id), olderFile(t, tables.Job{Attempt: id, JobID: 5, Status: "FAILED"}, "1"))
	return id
}

func jobsFile(t *testing.T, dir string, id tables.Attempt) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "history/jobs/dt=*", id.ApplicationID+".*"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	return found[0]
}

func write(t *testing.T, name string, content []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(name, content, 0o600))
}

// olderFile returns a file of a job without the columns sql_id, stage_ids and task_success_rate.
func olderFile(t *testing.T, job tables.Job, version string) []byte {
	t.Helper()
	var fields []reflect.StructField
	var values []reflect.Value
	for _, field := range reflect.VisibleFields(reflect.TypeFor[tables.Job]()) {
		column, _, _ := strings.Cut(field.Tag.Get("parquet"), ",")
		switch {
		case field.Anonymous, column == "sql_id", column == "stage_ids", column == "task_success_rate":
			continue
		}
		values = append(values, reflect.ValueOf(job).FieldByIndex(field.Index))
		field.Index, field.Offset = nil, 0
		fields = append(fields, field)
	}
	row := reflect.New(reflect.StructOf(fields))
	for i, value := range values {
		row.Elem().Field(i).Set(value)
	}
	var file bytes.Buffer
	w := parquet.NewWriter(&file, parquet.SchemaOf(row.Interface()), parquet.KeyValueMetadata("emr-observatory.schema_version", version))
	require.NoError(t, w.Write(row.Interface()))
	require.NoError(t, w.Close())
	return file.Bytes()
}

// Columns that a file lacks read as null. A file of a newer schema version, or not of a
// lake, is an error that names it.
func TestOldAndNewFiles(t *testing.T) {
	dir := t.TempDir()
	l := openLocked(t, dir)
	b, err := l.Begin(attempt, start)
	require.NoError(t, err)
	sql, rate := int64(3), 50.0
	newer := tables.Job{Attempt: attempt, JobID: 1, SQLID: &sql, StageIDs: []int64{4}, TaskSuccessRate: &rate}
	commit(t, b, true, "v1", &newer)
	old := olderJobs(t, l, dir)
	jobs := func() (all []tables.Job, err error) {
		for row, err := range lake.Read[tables.Job](t.Context(), l, lake.Filter{}) {
			if err != nil {
				return nil, err
			}
			all = append(all, row)
		}
		return all, nil
	}
	got, err := jobs()
	require.NoError(t, err)
	require.Equal(t, normal([]tables.Job{newer, {Attempt: old, JobID: 5, Status: "FAILED"}}), normal(got))

	write(t, jobsFile(t, dir, old), olderFile(t, tables.Job{}, "2"))
	_, err = jobs()
	require.ErrorContains(t, err, "application_1_0009.-.older.-.-.parquet has schema version 2, but this program knows versions up to 1")
	write(t, jobsFile(t, dir, old), olderFile(t, tables.Job{}, ""))
	_, err = jobs()
	require.ErrorContains(t, err, "not a file of this lake")
}

// An attempt that a newer program wrote is not overwritten.
func TestNewerManifestIsKept(t *testing.T) {
	dir := t.TempDir()
	l := openLocked(t, dir)
	b, err := l.Begin(attempt, start)
	require.NoError(t, err)
	commit(t, b, true, "v1", &tables.Application{Attempt: attempt})
	manifest := filepath.Join(dir, "history/_manifest/attempts/application_1_0001.1.j-1.eu-west-1.-.json")
	text, err := os.ReadFile(manifest)
	require.NoError(t, err)
	write(t, manifest, bytes.Replace(text, []byte(`"schema_version": 1`), []byte(`"schema_version": 2`), 1))
	before := files(t, dir)
	require.False(t, isCurrent(l, attempt, "v1"))
	b, err = l.Begin(attempt, start)
	require.NoError(t, err)
	_, err = b.Commit(t.Context(), true, "v1")
	require.ErrorContains(t, err, "has schema version 2")
	require.Equal(t, before, files(t, dir))
}
