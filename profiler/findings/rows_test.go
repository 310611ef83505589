package findings_test

import (
	"iter"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/findings"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/rules"
)

const (
	minute = 60_000 // milliseconds
	mib    = 1 << 20
	gib    = 1 << 30
)

// world is an application by its rows. A healthy one has a stage of a minute with 100 equal
// tasks on 10 cores, in an application of 100 minutes.
type world struct {
	application tables.Application
	settings    map[string]string
	phases      []tables.Phase
	executors   []tables.Executor
	stages      []tables.StageRow
	summaries   []tables.TaskSummary
	jobs        []tables.Job
	sql         []tables.SQL
	nodes       []tables.SQLNode
	earlier     []findings.Run
	cold        bool // the first stage is the executors' first
}

// first is a stage before all others: the executors ran their first tasks in it.
var first = tables.StageRow{Stage: tables.Stage{StageID: -1}, Status: "COMPLETE", SubmissionTime: 1, CompletionTime: 2}

func equal(value float64) []float64 { return []float64{value, value, value, value, value} }

// healthy returns an application that no rule finds anything in.
func healthy() *world {
	w := &world{settings: map[string]string{}}
	w.application = tables.Application{
		Attempt:        tables.Attempt{Cluster: tables.Cluster{ClusterID: "j-1"}, ApplicationID: "application_1_0001"},
		DurationMillis: new(int64(100 * minute)), Outcome: new("succeeded"), Completed: true,
		ExecutorMemory: new(int64(4 * gib)), MaxTotalCores: new(int64(10)),
	}
	for _, phase := range []string{"submit", "resource_wait", "compute", "io_write", "driver", "idle"} {
		w.phases = append(w.phases, tables.Phase{Phase: phase, DurationMillis: 10 * 1000, Ratio: 0.01})
	}
	for _, id := range []string{"driver", "1", "2", "3", "4", "5"} {
		w.executors = append(w.executors, tables.Executor{
			ExecutorID: id, HostPort: "h" + id + ":1", TotalCores: 2, AddTime: 1, PeakJVMHeap: new(int64(3 * gib)),
		})
	}
	w.executors[0].TotalCores = 0
	w.stages = []tables.StageRow{{
		Stage: tables.Stage{StageID: 7}, StageName: "collect at job.py:3", Status: "COMPLETE", NumTasks: 100, NumCompleteTasks: 100,
		SubmissionTime: 10 * minute, CompletionTime: 11 * minute, DurationMillis: new(int64(minute)), ExecutorRunTime: 10 * minute,
		InputBytes: 10 * gib, NumResubmittedTasks: new(int64),
	}}
	s := tables.TaskSummary{Stage: w.stages[0].Stage, DurationP95: new(6000.0)}
	s.HostSpread = tables.HostSpread{
		Hosts: new(int64(3)), HostsMean: new(6000.0), WorstHost: new("h2"), WorstHostTasks: new(int64(15)), WorstHostMean: new(6100.0),
	}
	for _, list := range s.Lists() {
		*list = equal(0)
	}
	s.Duration, s.InputBytes = equal(6000), equal(100*mib)
	w.summaries = []tables.TaskSummary{s}
	w.jobs = []tables.Job{{JobID: 4, StageIDs: []int64{6, 7}}}
	w.sql = []tables.SQL{{SQLID: 2}, {SQLID: 3, Description: "insert into t", DurationMillis: new(int64(2 * minute)), JobIDs: []int64{4}}}
	w.nodes = []tables.SQLNode{{SQLID: 1, NodeID: 0, NodeName: "Project"}}
	w.operator(0, "Scan parquet t", "number of output rows", 1000)
	return w
}

// operator adds a metric to an operator of the world's SQL execution.
func (w *world) operator(id int64, name, metric string, value float64) {
	w.nodes = append(w.nodes, tables.SQLNode{SQLID: 3, NodeID: id, NodeName: name, Metric: metric, Value: new(int64(value))})
}

// stage returns the world's first stage and its summary.
func (w *world) stage() (*tables.StageRow, *tables.TaskSummary) { return &w.stages[0], &w.summaries[0] }

func (w *world) phase(name string, seconds int64, ratio float64) {
	i := slices.IndexFunc(w.phases, func(p tables.Phase) bool { return p.Phase == name })
	w.phases[i].DurationMillis, w.phases[i].Ratio = seconds*1000, ratio
}

func (w *world) remove(executor int, class, reason string) {
	x := &w.executors[executor]
	x.RemoveTime, x.RemoveReason = 50*minute, &reason
	if class != "" {
		x.RemoveClass = &class
	}
}

func sequence[T any](rows []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

func (w *world) rows() findings.Rows {
	var environment []tables.Environment
	for name, value := range w.settings {
		environment = append(environment, tables.Environment{Section: "spark", Name: name, Value: value})
	}
	stages := w.stages
	if !w.cold {
		stages = slices.Concat([]tables.StageRow{first}, stages)
	}
	return findings.Rows{
		Application: w.application, Earlier: w.earlier, Environment: sequence(environment), Phases: sequence(w.phases),
		Executors: sequence(w.executors),
		Stages:    sequence(stages), Summaries: sequence(w.summaries),
		Jobs: sequence(w.jobs), SQL: sequence(w.sql), Nodes: sequence(w.nodes),
	}
}

// judge returns what is found, and what was not checked.
func (w *world) judge(t *testing.T) (found map[rules.ID][]tables.Finding, unchecked map[rules.ID]string) {
	t.Helper()
	all, err := findings.Judge(w.rows())
	require.NoError(t, err)
	found, unchecked = map[rules.ID][]tables.Finding{}, map[rules.ID]string{}
	for _, f := range all {
		require.Equal(t, w.application.Attempt, f.Attempt)
		require.Equal(t, findings.Version(), f.Rules)
		id := rules.ID(f.Finding)
		if f.NotChecked != "" {
			require.Equal(t, string(rules.Info), f.Severity)
			if unchecked[id] = f.NotChecked; f.NotChecked == rules.Get(id).NotInTables {
				delete(unchecked, id) // of every application
			}
			continue
		}
		require.NotEmpty(t, f.Summary)
		require.NotEmpty(t, f.Advice)
		require.NotEmpty(t, f.Evidence)
		require.Len(t, f.Settings, len(f.Changes))
		found[id] = append(found[id], f)
	}
	return found, unchecked
}

func TestAHealthyApplicationHasNoFindings(t *testing.T) {
	found, unchecked := healthy().judge(t)
	require.Empty(t, found)
	require.Empty(t, unchecked)
	all, err := findings.Judge(healthy().rows())
	require.NoError(t, err)
	var live []string
	for _, f := range all {
		live = append(live, f.Finding)
	}
	require.Equal(t, []string{string(rules.RenameCommit), string(rules.S3Throttled)}, live, "tables cannot show them")
}
