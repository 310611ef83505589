package findings

import (
	"iter"

	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/rules"
)

// Rows are the rows of one attempt of an application, each table in the order of its key.
type Rows struct {
	// Release is the cluster's EMR release, such as emr-7.10.0; empty if it is unknown.
	Release     string
	Application tables.Application
	Earlier     []Run // see Compared
	Environment iter.Seq2[tables.Environment, error]
	Phases      iter.Seq2[tables.Phase, error]
	Executors   iter.Seq2[tables.Executor, error]
	Stages      iter.Seq2[tables.StageRow, error]
	Summaries   iter.Seq2[tables.TaskSummary, error]
	Jobs        iter.Seq2[tables.Job, error]
	SQL         iter.Seq2[tables.SQL, error]
	Nodes       iter.Seq2[tables.SQLNode, error]
}

// Judge returns the findings of an attempt, the most costly first, and then a row for each
// rule that its rows do not suffice for. Memory grows with the number of executors; of a stage
// it holds when it ran.
func Judge(rows Rows) ([]tables.Finding, error) {
	a, err := newApplication(rows)
	if err != nil {
		return nil, err
	}
	if err := a.stages(rows); err != nil {
		return nil, err
	}
	if err := a.queries(rows); err != nil {
		return nil, err
	}
	if err := slower(a, rows.Earlier); err != nil {
		return nil, err
	}
	for _, judge := range []func(*application){
		jobFailure, lowParallelism, stageRetries, resourceWait, slowWrite, driverBound, idleCores, memoryIdle, memoryOverheadLow, executorsLost,
		executorMemory, executorChurn,
	} {
		judge(a)
	}
	all := append(a.found.kept(), a.notChecked()...)
	for i := range all {
		all[i].Attempt, all[i].Rules = rows.Application.Attempt, Version()
		all[i].Recipe = rules.Get(rules.ID(all[i].Finding)).Recipe.Path()
	}
	return all, nil
}

// ofStages judge one attempt of a stage. The summary is nil if Spark has none.
func ofStages() map[rules.ID]func(*application, *stage) *tables.Finding {
	return map[rules.ID]func(*application, *stage) *tables.Finding{
		rules.Skew: skew, rules.Spill: spill, rules.GC: collection, rules.FetchWait: fetchWait, rules.SmallBlocks: smallBlocks,
		rules.LargeShuffleReads: largeShuffleReads, rules.LargePartition: largePartition, rules.TinyTasks: tinyTasks,
		rules.FailedTasks: failedTasks, rules.ResultLarge: largeResult,
		rules.SlowHost: slowHost, rules.Speculation: speculation,
	}
}

// stage is an attempt of a stage that ran.
type stage struct {
	*tables.StageRow
	summary *tables.TaskSummary // nil if Spark has none
	warming bool                // executors ran their first tasks in it
}

// stages judges the stages, and adds them up.
func (a *application) stages(rows Rows) error {
	next, stop := iter.Pull2(rows.Summaries)
	defer stop()
	summary, err, more := next()
	judges := ofStages()
	for row, failed := range rows.Stages {
		if failed != nil {
			return failed // names the table
		}
		for more && err == nil && before(summary.Stage, row.Stage) {
			summary, err, more = next()
		}
		if err != nil {
			return err // names the table
		}
		s := &stage{StageRow: &row}
		if more && summary.Stage == row.Stage {
			s.summary = &summary
		}
		if !fold.Ran(row.Status) {
			continue
		}
		s.warming = a.warms(s)
		a.sum(s)
		a.noteParallelism(s)
		for _, judge := range judges {
			a.found.add(judge(a, s))
		}
	}
	return nil
}

// before reports whether a stage's key is less than another.
func before(a, b tables.Stage) bool {
	return a.StageID < b.StageID || a.StageID == b.StageID && a.StageAttemptID < b.StageAttemptID
}
