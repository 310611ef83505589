package history_test

import (
	"fmt"
	"maps"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/history"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

var cluster = tables.Cluster{Account: "123456789012", Region: "us-east-1", ClusterID: "j-1", ClusterName: "history"}

// serverTimeout is how long servers may take on a machine that has other work.
const serverTimeout = testenv.Start

// quick are options with which repetitions take little time.
func quick() history.Options {
	return history.Options{Pause: 10 * time.Millisecond, Timeout: serverTimeout.Scaled(), ColdTimeout: serverTimeout.Scaled()}
}

// attempt is an attempt of an application that the server has.
type attempt struct {
	app history.Application
	of  history.Attempt
}

func (a attempt) id() string { return a.app.ID + "/" + a.of.ID }

// listed returns the attempts that the server has, once they are as many as wanted.
func listed(t *testing.T, client *history.Client, wanted int) (all []attempt) {
	t.Helper()
	testenv.Eventually(t, func() bool {
		all = nil
		apps, err := client.Applications(t.Context())
		require.NoError(t, err)
		for _, app := range apps {
			for _, of := range app.Attempts {
				all = append(all, attempt{app, of})
			}
		}
		return len(all) >= wanted
	}, serverTimeout, 200*time.Millisecond)
	return all
}

// fromLogs folds every log of a folder, by attempt.
func fromLogs(t *testing.T, folder string) map[string]*sink {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	all := map[string]*sink{}
	for _, entry := range entries {
		log, err := eventlog.Open(os.DirFS(folder), entry.Name())
		require.NoError(t, err)
		rows := newSink()
		summary, err := fold.Log(t.Context(), log, cluster, fold.Options{Tasks: true}, rows)
		require.NoError(t, err, log.Name)
		require.Empty(t, rows.twice, log.Name)
		rows.compacted = log.Compacted
		all[summary.Application.ApplicationID+"/"+summary.Application.AttemptID] = rows
	}
	return all
}

// fromREST folds an attempt that the server has.
func fromREST(t *testing.T, client *history.Client, a attempt) (*sink, fold.Summary) {
	t.Helper()
	rows := newSink()
	summary, err := fold.REST(t.Context(), client, a.app, a.of, cluster, fold.Options{Tasks: true}, rows)
	require.NoError(t, err)
	require.Empty(t, rows.twice)
	return rows, summary
}

func TestEventLogAndRESTRowsAgree(t *testing.T) {
	s, err := theServer()
	require.NoError(t, err)
	logs := fromLogs(t, s.events)
	client, err := history.Open(s.url, quick())
	require.NoError(t, err)
	unused, rows, cells := map[string]bool{}, 0, 0
	for _, d := range documented() {
		unused[d.reason] = d.only != running && givenLogs == ""
	}
	attempts := listed(t, client, len(logs))
	require.Len(t, attempts, len(logs))
	for _, a := range attempts {
		api, summary := fromREST(t, client, a)
		require.Equal(t, a.of.Completed, summary.Final)
		log := logs[a.id()]
		require.NotNil(t, log, a.id())
		for _, d := range compare(log.rows, api.rows) {
			reason, err := explained(d, a.app.Name)
			if err != nil {
				t.Errorf("%s (%s): %v: %v", a.app.Name, a.id(), d, err)
			}
			delete(unused, reason)
		}
		for _, table := range api.rows {
			rows += len(table)
			for _, row := range table {
				cells += len(row)
				require.NotContains(t, fmt.Sprint(row), canary)
			}
		}
		if !log.compacted {
			requireComplete(t, a, summary)
		}
	}
	maps.DeleteFunc(unused, func(_ string, shows bool) bool { return !shows })
	require.Empty(t, unused, "no application shows these differences: remove them from the list")
	t.Logf("%d applications' attempts, %d rows, %d cells", len(attempts), rows, cells)
}

// requireComplete fails if anything is said to be missing of a complete application, or
// nothing of one that may go on.
func requireComplete(t *testing.T, a attempt, summary fold.Summary) {
	t.Helper()
	for _, c := range summary.Completeness {
		said := fmt.Sprintf("%s (%s): %+v", a.app.Name, a.id(), c)
		if !a.of.Completed {
			require.Equal(t, string(fold.InProgress), c.Reason, said)
			require.Nil(t, c.Expected, said)
			require.False(t, c.Final, said)
			continue
		}
		require.Empty(t, c.Reason, said)
		require.NotNil(t, c.Missing, said)
		require.Zero(t, *c.Missing, said)
		require.True(t, c.Final, said)
	}
}

// What a server with low limits has dropped is counted, and its logs show that the count
// is right.
func TestWhatTheServerDropped(t *testing.T) {
	r, err := theRun()
	require.NoError(t, err)
	logs := fromLogs(t, r.events)
	s, err := r.serve(r.events, "spark.ui.retainedJobs=20", "spark.ui.retainedStages=30",
		"spark.ui.retainedTasks=100", "spark.sql.ui.retainedExecutions=10")
	require.NoError(t, err)
	client, err := history.Open(s.url, quick())
	require.NoError(t, err)
	for _, a := range listed(t, client, len(logs)) {
		if a.app.Name != "history many" {
			continue
		}
		rows, summary := fromREST(t, client, a)
		all := logs[a.id()].counts
		dropped := map[string]int64{}
		for _, c := range summary.Completeness {
			table := tables.Name(c.Endpoint)
			require.EqualValues(t, rows.counts[table], c.Seen, c.Endpoint)
			if c.Missing == nil {
				require.Contains(t, []string{fold.TaskSummaries, fold.SQLNodes}, c.Endpoint, "%+v", c)
				require.Equal(t, string(fold.Retention), c.Reason)
				continue
			}
			require.EqualValues(t, all[table]-rows.counts[table], *c.Missing, "%+v", c)
			if *c.Missing > 0 {
				require.Equal(t, string(fold.Retention), c.Reason, "%+v", c)
				dropped[c.Endpoint] = *c.Missing
			}
		}
		require.Len(t, dropped, 4, "jobs, stages, tasks and sql: %v", dropped)
		// Of the stage whose tasks were dropped in part no quantiles are told.
		for key, row := range rows.rows["task_summaries"] {
			require.Equal(t, logs[a.id()].rows["task_summaries"][key]["raw_json"], row["raw_json"])
		}
		t.Logf("dropped, and counted: %v", dropped)
	}
}
