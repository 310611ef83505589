package fold_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// op is an operator without metrics.
func op(name string, inputs ...object) object { return plan(name, name, nil, inputs...) }

// shapes returns the shapes of plans, and of the application that ran them.
func shapes(t *testing.T, plans ...object) (of []string, all *string) {
	t.Helper()
	var events []string
	for i, p := range plans {
		at := int64(1000 + i)
		events = append(events, sqlStart(int64(i), at, p), sqlEnd(int64(i), at, ""))
	}
	rows, _ := foldLines(t, application(events))
	for _, row := range table[tables.SQL](t, rows) {
		if row.PlanShape != nil {
			of = append(of, *row.PlanShape)
		}
	}
	return of, table[tables.Application](t, rows)[0].PlanShape
}

// What adaptive execution decides by the data does not change a plan's shape.
func TestShapeIsThatOfTheProgram(t *testing.T) {
	scan := func(day string) object { return op("Scan parquet sales.orders_" + day) }
	other := op("Scan parquet sales.customers")
	of, _ := shapes(t,
		op("Project", op("SortMergeJoin", op("Sort", op("Exchange", scan("20260101"))), op("Sort", op("Exchange", other)))),
		op("AdaptiveSparkPlan", op("WholeStageCodegen (2)", op("Project", op("BroadcastHashJoin",
			op("InputAdapter", op("AQEShuffleRead", op("ShuffleQueryStage", op("Exchange", op("WholeStageCodegen (1)", scan("20260102")))))),
			op("InputAdapter", op("BroadcastQueryStage", op("BroadcastExchange", other))))))),
		op("Project", op("SortMergeJoin", other, scan("1"))),
		op("Filter", op("SortMergeJoin", scan("1"), other)),
		op("Project", op("SortMergeJoin", scan("1"), op("Filter", other))),
	)
	require.Equal(t, of[0], of[1])
	for i := range of[2:] {
		require.NotContains(t, of[:i+2], of[i+2], "plan %d", i+2)
	}
}

// How often a program runs a query does not count.
func TestShapeOfAnApplication(t *testing.T) {
	one, other := op("Project", op("Scan csv ")), op("Filter", op("Scan csv "))
	_, both := shapes(t, one, other)
	_, more := shapes(t, other, one, one)
	_, less := shapes(t, one)
	require.Equal(t, *both, *more)
	require.NotEqual(t, *both, *less)
	_, none := shapes(t)
	require.Nil(t, none)
	of, unknown := shapes(t, one, op(""))
	require.Len(t, of, 1)
	require.Nil(t, unknown)
}
