package tables_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
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

var update = flag.Bool("update", false, "write the columns of a new schema version, or add optional ones to it")

// columnsOf returns the columns of a table with their types, as SQL reads them.
func columnsOf(d tables.Definition) map[string]string {
	columns := map[string]string{}
	for _, c := range d.Columns() {
		columns[c.Name] = c.Type
		if c.Nullable {
			columns[c.Name] += " nullable"
		}
	}
	return columns
}

// Within a schema version, columns are only added, and new ones are optional: files of the
// version are read together.
func TestColumnsOfTheVersion(t *testing.T) {
	path := fmt.Sprintf("testdata/columns-%d.json", tables.SchemaVersion)
	golden := map[string]map[string]string{}
	if content, err := os.ReadFile(path); !*update || err == nil {
		require.NoErrorf(t, err, "go test ./profiler/tables -update")
		require.NoError(t, json.Unmarshal(content, &golden))
	}
	have := map[string]map[string]string{}
	for _, d := range tables.All() {
		have[string(d.Name)] = columnsOf(d)
	}
	for table, columns := range golden {
		for column, kind := range columns {
			require.Equal(t, kind, have[table][column], "%s.%s: raise tables.SchemaVersion to rename, remove or retype a column", table, column)
		}
		for column, kind := range have[table] {
			if columns[column] == "" {
				require.True(t, *update, "%s.%s is new: go test ./profiler/tables -update", table, column)
				require.Contains(t, kind, " nullable", "%s.%s: older files lack it", table, column)
			}
		}
	}
	if *update {
		content, err := json.MarshalIndent(have, "", "  ")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, append(content, '\n'), 0o644))
	}
}
