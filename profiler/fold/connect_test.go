package fold_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Each operation of a Spark Connect client has one row, whatever number of ends it has.
func TestOperations(t *testing.T) {
	all, _ := foldLog(t, "../../phases/testdata/logs", "connect.jsonl")
	var got []tables.Operation
	for _, row := range table[tables.Operation](t, all) {
		require.Equal(t, "application_1700000000000_0001", row.ApplicationID)
		row.Attempt = tables.Attempt{}
		got = append(got, row)
	}
	const ann, bob = "aaaaaaaa-0000-4000-8000-000000000001", "bbbbbbbb-0000-4000-8000-000000000002"
	const begin = 1700000000000
	id := func(n string) string { return "0000000" + n + "-1111-4111-8111-111111111111" }
	require.Equal(t, []tables.Operation{
		{SessionID: ann, OperationID: id("1"), User: "ann", Statement: new(`CREATE VIEW v AS SELECT "x"`), Status: fold.SQLCompleted,
			SubmissionTime: begin + 10_000, CompletionTime: begin + 14_000, DurationMillis: new(int64(4_000))},
		{SessionID: ann, OperationID: id("2"), User: "ann", Statement: new("SELECT 1"), Status: fold.SQLCompleted, JobIDs: []int64{0},
			SubmissionTime: begin + 20_000, CompletionTime: begin + 31_000, DurationMillis: new(int64(11_000))},
		{SessionID: bob, OperationID: id("3"), User: "bob_Session_x", Status: fold.SQLFailed,
			ErrorMessage: new("[TABLE_OR_VIEW_NOT_FOUND] no such table"), SubmissionTime: begin + 35_000, CompletionTime: begin + 37_000,
			DurationMillis: new(int64(2_000))},
		{SessionID: bob, OperationID: id("4"), User: "bob_Session_x", Status: fold.SQLFailed, ErrorMessage: new("canceled"), JobIDs: []int64{1},
			SubmissionTime: begin + 40_000, CompletionTime: begin + 54_000, DurationMillis: new(int64(14_000))},
		{SessionID: ann, OperationID: id("5"), User: "ann", Statement: new(`SELECT 'ü\n' OPTIONS (password *********(redacted))`),
			Status: fold.SQLFailed, ErrorMessage: new("its session was closed"), SubmissionTime: begin + 71_000, CompletionTime: begin + 75_000,
			DurationMillis: new(int64(4_000))},
	}, got)
}
