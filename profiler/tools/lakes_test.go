package tools_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/judge"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/profiler/tools"
)

// emptyLake returns a lake to put applications into.
func emptyLake(t *testing.T) *lake.Lake {
	t.Helper()
	l, err := newLake(t.Context(), filepath.Join(t.TempDir(), "lake"))
	require.NoError(t, err)
	return l
}

// app returns an application that succeeded within a minute.
func app(cluster string, n int, start time.Time) *tables.Application {
	return &tables.Application{
		Attempt: tables.Attempt{
			Cluster: tables.Cluster{ClusterID: cluster}, ApplicationID: fmt.Sprintf("application_1_%04d", n), Source: tables.SourceLogs,
		},
		ApplicationName: "etl", StartTime: start.UnixMilli(), EndTime: start.Add(time.Minute).UnixMilli(), DurationMillis: new(int64(60_000)),
		Completed: true, Outcome: new(tables.Succeeded), CoreMillis: new(int64(3_600_000)),
	}
}

// put writes an application and other rows of it, not judged.
func put(t *testing.T, l *lake.Lake, a *tables.Application, rows ...tables.Row) {
	t.Helper()
	b, err := l.Begin(a.Attempt, time.UnixMilli(a.StartTime))
	require.NoError(t, err)
	for _, row := range append(rows, a) {
		require.NoError(t, b.Put(row))
	}
	_, err = b.Commit(t.Context(), true, "")
	require.NoError(t, err)
}

func judged(t *testing.T, l *lake.Lake) {
	t.Helper()
	_, err := judge.All(t.Context(), l, nil)
	require.NoError(t, err)
}

// noon is when the applications of these tests start.
var noon = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

func stageRow(a *tables.Application, n int64, millis int64) *tables.StageRow {
	return &tables.StageRow{
		Attempt: a.Attempt, Stage: tables.Stage{StageID: n}, StageName: fmt.Sprintf("stage %d", n), Status: "COMPLETE",
		SubmissionTime: a.StartTime, DurationMillis: &millis,
	}
}

// Pages are about the applications of the first page: one that starts meanwhile is on none of them,
// also if it would be the latest one, or the latest of its name or cluster.
func TestPagesStayWithTheirApplications(t *testing.T) {
	l := emptyLake(t)
	first := app("j-1", 1, noon)
	put(t, l, first, stageRow(first, 1, 300), stageRow(first, 2, 200), stageRow(first, 3, 100))
	judged(t, l)
	s := connect(t, tools.FromLake(l))
	for i, arguments := range []map[string]any{{}, {"id": "etl"}, {"id": "j-1"}} {
		arguments["limit"] = 1
		out := rowsOf(t, s, "getsloweststages", arguments)
		ids := []any{out.Rows[0]["stage_id"]}
		next := app("j-1", 10+i, noon.Add(time.Duration(i+1)*time.Hour))
		put(t, l, next, stageRow(next, 9, 1000))
		judged(t, l)
		for out.Next != "" {
			out = rowsOf(t, s, "getsloweststages", map[string]any{"cursor": out.Next, "limit": 1, "id": "another"})
			require.Equal(t, first.ApplicationID, out.Application.ApplicationID)
			ids = append(ids, out.Rows[0]["stage_id"])
		}
		require.Equal(t, []any{1.0, 2.0, 3.0}, ids)
		require.NoError(t, remove(t, l, next))
	}
}

func remove(t *testing.T, l *lake.Lake, a *tables.Application) error {
	t.Helper()
	b, err := l.Begin(a.Attempt, time.UnixMilli(a.StartTime))
	require.NoError(t, err)
	_, err = b.Commit(t.Context(), true, "gone")
	return err
}

// A cluster that is not EMR's has an id of any form, which goes before names with the same text.
func TestAnotherClusterSelectsItsApplications(t *testing.T) {
	l := emptyLake(t)
	const cluster = "0730-123456-abc"
	for n := range 3 {
		a := app(cluster, n, noon.Add(time.Duration(n)*time.Minute))
		put(t, l, a, stageRow(a, 1, int64(n+1)))
	}
	named := app("j-1", 9, noon.Add(time.Hour))
	named.ApplicationName = "copy of " + cluster
	put(t, l, named, stageRow(named, 1, 9))
	s := connect(t, tools.FromLake(l))
	out := rowsOf(t, s, "getsloweststages", map[string]any{"id": cluster})
	require.Equal(t, 3, out.Applications)
	require.Equal(t, 4, rowsOf(t, s, "getappid", map[string]any{"id": cluster, "from": "2026-11-28", "to": "2026-11-28"}).Total)
	out = rowsOf(t, s, "getsloweststages", map[string]any{"id": "copy of"})
	require.Equal(t, named.ApplicationID, out.Application.ApplicationID)
}

// The days of a list without days are those of its first page, also after midnight.
func TestDaysStayThoseOfTheFirstPage(t *testing.T) {
	l := emptyLake(t)
	day := time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)
	for n := range 3 {
		put(t, l, app("j-1", n, day.AddDate(0, 0, -30).Add(time.Duration(n)*time.Minute)))
	}
	before := connectTo(t, tools.NewAt(tools.FromLake(l), t.Output(), day.Add(23*time.Hour)), nil)
	after := connectTo(t, tools.NewAt(tools.FromLake(l), t.Output(), day.Add(25*time.Hour)), nil)
	out := rowsOf(t, before, "getappid", map[string]any{"limit": 2})
	require.Equal(t, 3, out.Total)
	require.Equal(t, 1, rowsOf(t, after, "getappid", map[string]any{"cursor": out.Next}).Shown)
	require.Zero(t, rowsOf(t, after, "getappid", nil).Total)
}

// What an answer leaves out is said: the earlier applications of a cluster.
func TestManyApplicationsOfACluster(t *testing.T) {
	l := emptyLake(t)
	for n := range 30 {
		a := app("j-1", n, noon.Add(time.Duration(n)*time.Minute))
		put(t, l, a, stageRow(a, 1, int64(n)))
	}
	out := rowsOf(t, connect(t, tools.FromLake(l)), "getsloweststages", map[string]any{"id": "j-1"})
	require.Equal(t, 25, out.Applications)
	require.Equal(t, "5 earlier applications of j-1 are left out: name one of them, which getappid lists", out.Missing[0].Reason)
	require.Equal(t, "j-1: 25 applications: 25 succeeded. 25 of them not judged yet.", out.Verdict)
}

// A run that succeeded is no waste although one of its jobs failed; runs that have no end have no
// duration.
func TestWasteOfRuns(t *testing.T) {
	l := emptyLake(t)
	caught, lost, running := app("j-1", 1, noon), app("j-1", 2, noon.Add(time.Minute)), app("j-1", 3, noon.Add(2*time.Minute))
	caught.NumFailedJobs = 1
	lost.Outcome, lost.Completed = new(tables.Failed), false
	running.DurationMillis, running.EndTime, running.Outcome, running.CoreMillis, running.Completed = nil, 0, nil, nil, false
	for _, a := range []*tables.Application{caught, lost, running} {
		put(t, l, a)
	}
	judged(t, l)
	now := connectTo(t, tools.NewAt(tools.FromLake(l), t.Output(), noon), nil)
	row := rowsOf(t, now, "wasteful_applications", nil).Rows[0]
	for name, want := range map[string]float64{
		"runs": 3, "failed_runs": 1, "wasted_core_hours": 1, "core_hours": 2, "median_ms": 60_000,
	} {
		require.InDelta(t, want, row[name], 1e-9, name)
	}
	require.Equal(t, lost.ApplicationID, row["worst_application_id"])
}

// A comparison knows only what both runs know: unknown is neither 0 nor gone.
func TestCompareOmitsWhatIsUnknown(t *testing.T) {
	l := emptyLake(t)
	was, is := app("j-1", 1, noon), app("j-1", 2, noon.Add(time.Hour))
	is.DurationMillis, is.CoreMillis, is.EndTime, is.Completed, is.Outcome = nil, nil, 0, false, nil
	put(t, l, was, &tables.Phase{Attempt: was.Attempt, Phase: "compute", DurationMillis: 60_000, Ratio: 1})
	judged(t, l)
	put(t, l, is)
	out := rowsOf(t, connect(t, tools.FromLake(l)), "compare", map[string]any{"id": is.ApplicationID})
	require.Empty(t, out.Rows)
	require.Contains(t, fmt.Sprint(out.NotChecked), "is not judged yet")
}

// Conditions of raw rows: lists have elements, times their milliseconds, and null comes last.
func TestConditionsOfRawRows(t *testing.T) {
	l := emptyLake(t)
	a := app("j-1", 1, noon)
	long, short, running := stageRow(a, 1, 5), stageRow(a, 2, 3), stageRow(a, 3, 0)
	long.JobIDs, short.JobIDs, running.JobIDs = []int64{3}, []int64{13, 4}, []int64{3, 4}
	long.SubmissionTime = a.StartTime + 7
	running.DurationMillis = nil
	put(t, l, a, long, short, running)
	s := connect(t, tools.FromLake(l))
	ask := func(where ...string) (ids []any) {
		out := rowsOf(t, s, "listshsstagesraw", map[string]any{"where": where, "order": "duration_ms asc", "columns": []string{"stage_id"}})
		for _, row := range out.Rows {
			ids = append(ids, row["stage_id"])
		}
		return ids
	}
	require.Equal(t, []any{2.0, 1.0, 3.0}, ask())
	require.Equal(t, []any{1.0, 3.0}, ask("job_ids=3"))
	require.Equal(t, []any{2.0}, ask("job_ids!=3"))
	require.Equal(t, []any{1.0}, ask("submission_time=2026-11-28T12:00:00.007Z"))
	require.Equal(t, []any{1.0}, ask("stage_name~STAGE 1"))
	require.Empty(t, ask("stage_name=stage"))
	out := rowsOf(t, s, "listshsstagesraw", map[string]any{"where": []string{"stage_id=9"}})
	require.Contains(t, out.Verdict, "None of the 3 rows of stages fulfils the conditions.")
	for where, want := range map[string]string{
		"status==FAILED": "and a value", "duration_ms~1": "~ looks into texts only", "job_ids>3": "lists can be asked by = and != for one",
		"submission_time=noon": "must be a time such as", "status>A": "texts can be compared by",
	} {
		_, failed := call[map[string]any](t, s, "listshsstagesraw", map[string]any{"where": []string{where}})
		require.Contains(t, failed, want, where)
	}
}

// Hosts are of tasks that succeeded, failures of those that failed.
func TestTasksOfAStage(t *testing.T) {
	l := emptyLake(t)
	a := app("j-1", 1, noon)
	a.NumTasks = 4
	task := func(id int64, host, status string, millis *int64, text string) *tables.Task {
		row := &tables.Task{Attempt: a.Attempt, Stage: tables.Stage{StageID: 1}, TaskID: id, Host: host, Status: status, Duration: millis}
		if text != "" {
			row.ErrorMessage = &text
		}
		return row
	}
	put(t, l, a, stageRow(a, 1, 5), task(1, "h1", "SUCCESS", new(int64(100)), ""),
		task(2, "h2", "KILLED", new(int64(900)), "another attempt succeeded"),
		task(3, "h1", "FAILED", new(int64(900)), "ValueError: no\n\tat x"), task(4, "h1", "RUNNING", nil, ""))
	row := rowsOf(t, connect(t, tools.FromLake(l)), "getstage", map[string]any{"stage_id": 1}).Rows[0]
	require.Equal(t, []any{map[string]any{"host": "h1", "tasks": 1.0, "mean_ms": 100.0}}, row["hosts"])
	require.Equal(t, []any{map[string]any{"reason": "«ValueError: no»", "tasks": 1.0, "host": "h1"}}, row["failures"])
}

// A failure that Spark and the step's log tell in other words is one cause.
func TestFailuresOfOneCause(t *testing.T) {
	l := emptyLake(t)
	a := app("j-1", 1, noon)
	a.Outcome, a.NumFailedJobs = new(tables.Failed), 1
	text := "ValueError: no such day 2026-11-28"
	put(t, l, a, &tables.SQL{Attempt: a.Attempt, Status: "FAILED", ErrorMessage: &text})
	judged(t, l)
	out := rowsOf(t, connectTo(t, tools.NewAt(tools.FromLake(l), t.Output(), noon), nil), "failures", nil)
	require.Equal(t, 1, out.Total)
	require.Equal(t, "«ValueError: no such day #-#-#»", out.Rows[0]["cause"])
	require.Equal(t, []any{"application", "sql"}, out.Rows[0]["of"])
}

// The costs of clusters in use are listed by amount, and add up to the verdict; an application
// has its own in the list of applications.
func TestCosts(t *testing.T) {
	l := emptyLake(t)
	etl := app("j-1", 1, noon)
	put(t, l, etl)
	judged(t, l)
	cluster := func(id string, created time.Time, until time.Time, rows ...tables.ApplicationCost) {
		b, err := l.BeginCluster(tables.Cluster{ClusterID: id}, created)
		require.NoError(t, err)
		for _, row := range rows {
			row.Cluster, row.StartTime, row.EndTime = tables.Cluster{ClusterID: id}, created.UnixMilli(), until.UnixMilli()
			row.PriceDate, row.CoreHours, row.Basis = new("2026-07-20"), new(2.), tables.BasisYARN
			require.NoError(t, b.Put(&row))
		}
		_, err = b.Commit(t.Context(), true, "")
		require.NoError(t, err)
	}
	idle := func(usd float64) tables.ApplicationCost {
		return tables.ApplicationCost{Kind: tables.CostIdle, USD: &usd}
	}
	cluster("j-1", noon.AddDate(0, -6, 0), noon, idle(6), tables.ApplicationCost{
		Kind: tables.CostApplication, ApplicationID: etl.ApplicationID, ApplicationName: "etl", USD: new(3.), SpotUSD: new(1.),
	}, tables.ApplicationCost{Kind: tables.CostPrimary, USD: new(1.)})
	cluster("j-2", noon.AddDate(0, -6, 0), noon.AddDate(0, -3, 0), idle(100)) // not in use for three months
	now := connectTo(t, tools.NewAt(tools.FromLake(l), t.Output(), noon), nil)

	out := rowsOf(t, now, "costs", nil)
	require.Equal(t, "1 cluster in use from 2026-10-29 to 2026-11-28 cost about $10.00 since creation, at the list prices of 2026-07-20: "+
		"applications $3.00 (30 %), capacity that nobody used $6.00 (60 %), primary nodes $1.00 (10 %).", out.Verdict)
	require.Equal(t, []any{"idle", "application", "primary"}, []any{out.Rows[0]["kind"], out.Rows[1]["kind"], out.Rows[2]["kind"]})
	require.Equal(t, []any{3., 1., 0.3, "«etl»"}, []any{
		out.Rows[1]["usd"], out.Rows[1]["spot_usd"], out.Rows[1]["cluster_share"], out.Rows[1]["application_name"],
	})
	ofName := rowsOf(t, now, "costs", map[string]any{"id": "etl"})
	require.Equal(t, 1, ofName.Total, "of a name, its applications only")
	require.Equal(t, "1 application on 1 cluster in use from 2026-10-29 to 2026-11-28 cost about $3.00 at the list prices of 2026-07-20.",
		ofName.Verdict)
	require.Equal(t, 3, rowsOf(t, now, "costs", map[string]any{"id": "j-1"}).Total)
	require.Contains(t, rowsOf(t, now, "costs", map[string]any{"id": "j-2"}).Verdict, "There are no costs of clusters in use from 2026-10-29")
	_, failed := call[tools.Answer[tools.Cost]](t, now, "costs", map[string]any{"id": "s-1ABC"})
	require.Contains(t, failed, "costs are of applications and clusters")

	require.InDelta(t, 3, rowsOf(t, now, "getappid", nil).Rows[0]["usd"], 1e-9)
}
