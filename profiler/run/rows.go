package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/source"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Values of tables.ClusterSummary.AnalysisStatus.
const (
	analysisComplete   = "COMPLETE"
	analysisIncomplete = "INCOMPLETE"
	analysisFailed     = "FAILED"
)

// writeCluster writes the rows about the cluster itself.
func (r *runner) writeCluster(ctx context.Context, c *reading) error {
	spent := r.spent(ctx, c)
	row, err := c.summaryRow()
	if err != nil {
		return err
	}
	batch, err := r.lake.BeginCluster(c.listed.ID, c.listed.Created)
	if err != nil {
		return err
	}
	defer batch.Discard()
	rows := []tables.Row{&row}
	for i := range c.cluster.Steps {
		rows = append(rows, &c.cluster.Steps[i])
	}
	for _, row := range append(rows, spent...) {
		if err := batch.Put(row); err != nil {
			return err
		}
	}
	written, err := batch.Commit(ctx, c.final(), clusterFingerprint(c.listed, r.o.IncludeTasks))
	if err != nil {
		return err
	}
	r.record(func(s *Summary) { s.recordWrite(written) })
	return nil
}

// final reports whether the cluster need not be opened again.
func (c *reading) final() bool {
	if !c.listed.Settled || c.cluster.Listing || c.waiting+c.failed+c.cut > 0 {
		return false
	}
	for _, outcome := range c.cluster.Outcomes {
		var obstacle *source.Obstacle
		permanent := errors.As(outcome.Err, &obstacle) && !obstacle.Passing
		if outcome.Err != nil && !permanent {
			return false
		}
	}
	return true
}

// counts is what an application contributes to its cluster's summary.
type counts struct{ jobs, stages, tasks, sql, executors int64 }

var executors = tables.Table((*tables.Executor)(nil))

func countsOf(a *tables.Application, executors int64) counts {
	return counts{a.NumJobs, a.NumStages, a.NumTasks, a.NumSQLExecutions, executors}
}

// ofLog returns the counts of an application of which the lake has what its log says, else nil.
func (r *runner) ofLog(ctx context.Context, id tables.Attempt) (*counts, error) {
	held, err := r.lake.Earlier(ctx, id)
	if err != nil || held == nil || held.Source != tables.SourceLogs || held.Unread {
		return nil, err // names the manifest
	}
	return countsIn(ctx, held)
}

// current returns the counts of an application that need not be read again, else nil.
func (r *runner) current(ctx context.Context, id tables.Attempt, fingerprints []string) (*counts, error) {
	held := r.lake.Current(id, fingerprints...)
	if held == nil {
		return nil, nil // documented
	}
	return countsIn(ctx, held)
}

// countsIn returns the counts of an application in the lake, nil if it was never read.
func countsIn(ctx context.Context, held *lake.Held) (of *counts, err error) {
	if !held.IsRead() {
		return nil, nil // documented
	}
	for row, err := range lake.ReadHeld[tables.Application](ctx, held) {
		if err != nil {
			return nil, fmt.Errorf("%w; %s", err, damagedRemedy) // names the object
		}
		counts := countsOf(&row, held.Rows(executors))
		of = &counts
	}
	if of == nil {
		err = fmt.Errorf("table %s has no row of it, although its manifest says so; %s", tables.Table((*tables.Application)(nil)), damagedRemedy)
	}
	return of, err
}

// damagedRemedy is for rows that are complete according to the lake, but unreadable.
const damagedRemedy = `if the next run says so too, remove the rows of the application or the cluster with "delete": ` +
	`the run after it writes them again`

// summaryRow totals the cluster's applications in the lake, whether this run or an
// earlier one read them.
func (c *reading) summaryRow() (tables.ClusterSummary, error) {
	row := c.cluster.Summary
	all := slices.Concat(c.current, c.unlisted, c.kept)
	for i := range c.read {
		all = append(all, countsOf(&c.read[i].Application, c.read[i].Rows[executors]))
	}
	row.TotalApplications, row.ReadApplications = c.total(), int64(len(all))
	for _, of := range all {
		row.TotalJobs += of.jobs
		row.TotalStages += of.stages
		row.TotalTasks += of.tasks
		row.TotalSQL += of.sql
		row.TotalExecutors += of.executors
	}
	details, status := c.details()
	if status == analysisFailed && row.TotalApplications > 0 {
		status = analysisIncomplete // of an earlier run, there are rows
	}
	row.AnalysisStatus = status
	text, err := json.Marshal(details)
	if err != nil {
		return row, fmt.Errorf("encode the outcomes of cluster %s: %w", c.listed.ID.ClusterID, err)
	}
	row.StatusDetails = string(text)
	return row, nil
}

// total returns how many applications are known. A log that cannot be attributed to any may
// be of an unlisted one.
func (c *reading) total() int64 {
	identified := len(c.unlisted)
	for _, a := range c.cluster.Applications {
		if a.Err == nil {
			identified++
		}
	}
	return int64(max(identified, len(c.cluster.Applications)))
}

// endpoints are those of table completeness.
var endpoints = []string{
	fold.Applications, fold.Jobs, fold.Stages, fold.Tasks, fold.TaskSummaries, fold.Executors, fold.SQLExecutions, fold.SQLNodes,
	fold.Environments,
}

// details are the outcomes by endpoint. Applications that were already complete count as
// read successfully.
func (c *reading) details() (map[string]string, string) {
	details, status, all := map[string]string{}, analysisComplete, len(c.cluster.Applications)
	for _, outcome := range c.cluster.Outcomes {
		details[outcome.Endpoint] = "OK"
		if outcome.Err != nil {
			details[outcome.Endpoint] = fmt.Sprintf("FAILED(%v)", outcome.Err)
			status = analysisIncomplete
		}
	}
	if status == analysisIncomplete && all == 0 {
		status = analysisFailed
	}
	if all == 0 {
		return details, status
	}
	failures := map[string]int{}
	for _, s := range c.read {
		for _, row := range s.Completeness {
			if fold.Unread(row) {
				failures[row.Endpoint]++
			}
		}
	}
	for _, endpoint := range endpoints {
		n := failures[endpoint] + c.failed
		switch {
		case n > 0:
			details[endpoint] = fmt.Sprintf("FAILED(%d of %d applications)", n, all)
			status = analysisIncomplete
		case c.cut > 0:
			details[endpoint] = fmt.Sprintf("SKIPPED(%d of %d applications: max_applications)", c.cut, all)
			status = analysisIncomplete
		case c.old > 0:
			details[endpoint] = fmt.Sprintf("SKIPPED(%d of %d applications: retention_days)", c.old, all)
		case details[endpoint] == "":
			details[endpoint] = "OK"
		}
	}
	return details, status
}
