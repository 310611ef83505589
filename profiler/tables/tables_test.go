package tables_test

import (
	"bytes"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Embedded keys become columns, 0 in an optional time is null, and lists stay lists.
func TestRowsSurviveParquet(t *testing.T) {
	id := tables.Attempt{Cluster: tables.Cluster{ClusterID: "j-1"}, ApplicationID: "application_1_0001", Source: tables.SourceLogs}
	rows := []tables.Job{{Attempt: id, JobID: 7, StageIDs: []int64{1, 2}, SubmissionTime: 1700000000123}}
	var file bytes.Buffer
	require.NoError(t, parquet.Write(&file, rows))
	read, err := parquet.Read[tables.Job](bytes.NewReader(file.Bytes()), int64(file.Len()))
	require.NoError(t, err)
	require.Equal(t, rows, read)

	schema := parquet.SchemaOf(rows[0])
	for path, want := range map[string]string{
		"cluster_id":      "required binary cluster_id (STRING)",
		"submission_time": "optional int64 submission_time (TIMESTAMP(isAdjustedToUTC=true,unit=MILLIS))",
	} {
		require.Contains(t, schema.String(), want, path)
	}
	require.Contains(t, schema.String(), "optional int64 completion_time")
}

// Every column is documented, and every key is a column.
func TestColumnsAreDocumented(t *testing.T) {
	for _, d := range tables.All() {
		columns := map[string]bool{}
		for _, c := range d.Columns() {
			require.NotEmptyf(t, c.Doc, "%s.%s", d.Name, c.Name)
			require.Falsef(t, columns[c.Name], "%s.%s twice", d.Name, c.Name)
			columns[c.Name] = true
		}
		for _, key := range d.Key {
			require.Truef(t, columns[key], "%s: key %s", d.Name, key)
		}
	}
}
