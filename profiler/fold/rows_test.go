package fold_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// rows collects the rows of each table as JSON.
type rows map[tables.Name][]string

func (r rows) Put(row tables.Row) error {
	text, err := json.Marshal(row)
	if err != nil {
		return fmt.Errorf("row of %s: %w", tables.Table(row), err)
	}
	r[tables.Table(row)] = append(r[tables.Table(row)], string(text))
	return nil
}

// table returns the rows of a table.
func table[T any, P interface {
	*T
	tables.Row
}](t *testing.T, r rows) []T {
	t.Helper()
	var all []T
	for _, text := range r[tables.Table(P(nil))] {
		var row T
		require.NoError(t, json.Unmarshal([]byte(text), &row))
		all = append(all, row)
	}
	return all
}

// foldLog folds a log, including its tasks.
func foldLog(t *testing.T, folder, name string) (rows, fold.Summary) {
	t.Helper()
	log, err := eventlog.Open(os.DirFS(folder), name)
	require.NoError(t, err)
	all := rows{}
	summary, err := fold.Log(context.Background(), log, tables.Cluster{ClusterID: "j-1"}, fold.Options{Tasks: true}, all)
	require.NoError(t, err)
	for name, count := range summary.Rows {
		require.Len(t, all[name], int(count), name)
	}
	return all, summary
}

// foldLines folds a log of these lines.
func foldLines(t *testing.T, lines []string) (rows, fold.Summary) {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(path.Join(folder, "log"), []byte(joined(lines)), 0o600))
	return foldLog(t, folder, "log")
}

func joined(lines []string) string { return strings.Join(lines, "\n") + "\n" }

// missing lists the endpoints with missing rows, with how many and why.
func missing(summary fold.Summary) (all []string) {
	for _, c := range summary.Completeness {
		switch {
		case c.Missing == nil:
			all = append(all, fmt.Sprintf("%s ? %s", c.Endpoint, c.Reason))
		case *c.Missing > 0:
			all = append(all, fmt.Sprintf("%s %d %s", c.Endpoint, *c.Missing, c.Reason))
		}
	}
	slices.Sort(all)
	return all
}

// requireUnique fails if two rows have the same key.
func requireUnique(t *testing.T, d tables.Definition, rows []string) {
	t.Helper()
	keys := map[string]bool{}
	for _, text := range rows {
		row := reflect.New(d.Type)
		require.NoError(t, json.Unmarshal([]byte(text), row.Interface()))
		var key []string
		for _, column := range d.Key {
			key = append(key, fmt.Sprint(columnOf(row.Elem(), column)))
		}
		id := strings.Join(key, "/")
		require.False(t, keys[id], "%s %s twice", d.Name, id)
		keys[id] = true
	}
}

// columnOf returns the value of a column, which may be in an embedded key.
func columnOf(v reflect.Value, column string) any {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if field.Anonymous {
			if value := columnOf(v.Field(i), column); value != nil {
				return value
			}
			continue
		}
		if name, _, _ := strings.Cut(field.Tag.Get("parquet"), ","); name == column {
			if f := v.Field(i); f.Kind() == reflect.Pointer && f.IsNil() {
				return ""
			}
			return reflect.Indirect(v.Field(i)).Interface()
		}
	}
	return nil
}
