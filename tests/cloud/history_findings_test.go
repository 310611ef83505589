package cloud_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/rules"
)

// criticalFindings asks DuckDB for the critical findings, with the names of their applications.
const criticalFindings = `
import duckdb, json, sys
folder = sys.stdin.read()
def table(name):
    return f"read_parquet('{folder}/{name}/**/*.parquet')"
rows = duckdb.sql(f"""select application_name as name, finding as rule, summary
    from {table("findings")} join {table("applications")} using (cluster_id, application_id, attempt_id)
    where severity = 'critical' order by all""")
print(json.dumps([dict(zip(rows.columns, row)) for row in rows.fetchall()]))
`

// ill has the critical findings of the jobs that TestLife's clusters run, each with what a
// reader of the log would say.
func ill() map[string]map[rules.ID]string {
	return map[string]map[rules.ID]string{
		"orders": {
			rules.Skew:           "eight of ten orders belong to one customer",
			rules.LowParallelism: "adaptive execution leaves the join two tasks for four cores",
			rules.ResourceWait:   "the first job of a cluster, whose nodes still boot",
		},
		"history-skewed":    {rules.Skew: "97 of 100 rows have the same key"},
		"history-spilling":  {rules.Spill: "two tasks sort more than fits into their memory"},
		spark4Name:          {rules.Skew: "the first task on a new executor", rules.DriverBound: "a session that its user left idle"},
		"of Airflow":        {rules.JobFailure: "its task's first try raises an exception"},
		"history-failed":    {rules.FailedTasks: "a task fails each time", rules.JobFailure: "its step says so"},
		"history-killed":    {rules.JobFailure: "its driver is killed"},
		"history-attempts":  {rules.JobFailure: "its first attempt is killed"},
		"history-streaming": {},
		"history-compacted": {rules.DriverBound: "many jobs of milliseconds, between which the driver plans"},
		"waits":             {rules.ResourceWait: "it asks for more executors than its nodes have room for, until others are added"},
		// The jobs that are sick on purpose (examples/jobs/sick), where TestLife runs all of them.
		"cores.py": {rules.LowParallelism: "one task for two cores"},
		"faults.py": {
			rules.Skew: "85 of 100 rows have one key", rules.PythonUDF: "a Python function for each row",
			rules.SmallFilesWritten: "500 files of a few KiB", rules.SlowCommit: "which are renamed one by one", rules.SlowWrite: "the same",
		},
		"gc.py":    {rules.GC: "its tasks keep what they make", rules.SlowWrite: "tasks that collect garbage while they write"},
		"skew.py":  {rules.Skew: "nine of ten rows have one key"},
		"spill.py": {rules.Spill: "its tasks sort more than fits into their memory"},
		"write.py": {
			rules.SmallFilesWritten: "a file for each of 120 days and each task", rules.SlowCommit: "which are renamed one by one",
			rules.SlowWrite: "the same",
		},
	}
}

// criticalFindings requires that the jobs have no critical finding that a reader of their logs
// would not share. An ordinary run only prints them: on a busy machine other things are slow.
func (h history) criticalFindings(t *testing.T, folder string) {
	t.Helper()
	var found []struct{ Name, Rule, Summary string }
	out := h.cloud.python(t, criticalFindings, folder)
	require.NoError(t, json.Unmarshal([]byte(out), &found), out)
	for _, f := range found {
		t.Logf("critical: %s: %s: %s", f.Name, f.Rule, f.Summary)
		if testenv.Long() && ill()[f.Name][rules.ID(f.Rule)] == "" {
			t.Errorf("%s: %s: a reader of the log would not say so", f.Name, f.Rule)
		}
	}
}
