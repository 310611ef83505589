package lake_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// written returns rows as JSON; an empty list is as none.
func written[T any](t *testing.T, rows func(yield func(T, error) bool)) (all []string) {
	t.Helper()
	for row, err := range rows {
		require.NoError(t, err)
		text, err := json.Marshal(row)
		require.NoError(t, err)
		all = append(all, strings.ReplaceAll(string(text), ":[]", ":null"))
	}
	return all
}

// requireSelected requires that all columns, selected, are those of whole rows.
func requireSelected[T any, P interface {
	*T
	tables.Row
}](t *testing.T, held *lake.Held) {
	t.Helper()
	var columns []string
	for _, d := range tables.All() {
		if d.Name == tables.Table(P(nil)) {
			for _, c := range d.Columns() {
				columns = append(columns, c.Name)
			}
		}
	}
	whole := written(t, lake.ReadHeld[T, P](t.Context(), held))
	require.NotEmpty(t, whole)
	require.Equal(t, whole, written(t, lake.ReadSelected[T, P](t.Context(), held, lake.Selection{Columns: columns})))
}

// Selected columns have the values of whole rows: nulls, lists, texts that repeat, and more
// values than are read at once.
func TestSelectedColumns(t *testing.T) {
	l := realLake(t, t.TempDir())
	attempts := 0
	for held, err := range l.Attempts(t.Context()) {
		require.NoError(t, err)
		attempts++
		requireSelected[tables.Application](t, held)
		requireSelected[tables.StageRow](t, held)
		requireSelected[tables.TaskSummary](t, held)
		requireSelected[tables.Job](t, held)
		requireSelected[tables.SQL](t, held)
		requireSelected[tables.SQLNode](t, held)
		requireSelected[tables.Executor](t, held)
		requireSelected[tables.Environment](t, held)

		var want []tables.SQLNode
		for row, err := range lake.ReadHeld[tables.SQLNode](t.Context(), held) {
			require.NoError(t, err)
			if row.Metric == "number of output rows" {
				want = append(want, tables.SQLNode{Metric: row.Metric, Value: row.Value})
			}
		}
		require.NotEmpty(t, want)
		var have []tables.SQLNode
		part := lake.Selection{
			Columns: []string{"value", "metric"}, Where: "metric", Texts: map[string]bool{"number of output rows": true},
		}
		for row, err := range lake.ReadSelected[tables.SQLNode](t.Context(), held, part) {
			require.NoError(t, err)
			have = append(have, row)
		}
		require.Equal(t, want, have)
		require.Panics(t, func() {
			for _, err := range lake.ReadSelected[tables.SQLNode](t.Context(), held, lake.Selection{Columns: []string{"none"}}) {
				require.NoError(t, err)
			}
		})
	}
	require.Positive(t, attempts)
}
