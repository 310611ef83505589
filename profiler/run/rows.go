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
	for i := range c.cluster.Costs {
		rows = append(rows, &c.cluster.Costs[i])
	}
	for _, row := range rows {
		if err := batch.Put(row); err != nil {
			return err
		}
	}
	written, err := batch.Commit(ctx, c.final(), r.clusterFingerprint(c.listed))
	if err != nil {
		return err
	}
	r.record(func(s *Summary) { s.wrote(written) })
	return nil
}

// final reports whether the cluster need not be opened again.
func (c *reading) final() bool {
	if !c.listed.Settled || c.waiting+c.failed+c.cut > 0 {
		return false
	}
	for _, outcome := range c.cluster.Outcomes {
		var obstacle *source.Obstacle
		lasting := errors.As(outcome.Err, &obstacle) && !obstacle.Passing
		if outcome.Err != nil && !lasting {
			return false
		}
	}
	return true
}

// counts is what the summary of a cluster says of an application.
type counts struct{ jobs, stages, tasks, sql, executors int64 }

var executors = (*tables.Executor)(nil).Table()

func countsOf(a *tables.Application, executors int64) counts {
	return counts{a.NumJobs, a.NumStages, a.NumTasks, a.NumSQLExecutions, executors}
}

// current returns the counts of an application that need not be read again, else nil.
func (r *runner) current(ctx context.Context, id tables.Attempt, fingerprint string) (*counts, error) {
	held, is := r.lake.Current(id, fingerprint)
	if !is {
		return nil, nil // documented
	}
	var of counts
	for row, err := range lake.ReadHeld[tables.Application](ctx, held) {
		if err != nil {
			return &of, err // names the object
		}
		of = countsOf(&row, held.Rows(executors))
	}
	return &of, nil
}

// summaryRow counts what the lake has of the cluster's applications, so that it is the
// same whichever of them this run had to read.
func (c *reading) summaryRow() (tables.ClusterSummary, error) {
	row := c.cluster.Summary
	row.TotalApplications = int64(len(c.cluster.Applications))
	row.ReadApplications = int64(len(c.current) + len(c.read))
	if c.unknown != nil {
		return row, c.unknown
	}
	all := slices.Clone(c.current)
	for i := range c.read {
		all = append(all, countsOf(&c.read[i].Application, c.read[i].Rows[executors]))
	}
	for _, of := range all {
		row.TotalJobs += of.jobs
		row.TotalStages += of.stages
		row.TotalTasks += of.tasks
		row.TotalSQL += of.sql
		row.TotalExecutors += of.executors
	}
	details, status := c.details()
	row.AnalysisStatus = status
	text, err := json.Marshal(details)
	if err != nil {
		return row, fmt.Errorf("write the outcomes of cluster %s: %w", c.listed.ID.ClusterID, err)
	}
	row.StatusDetails = string(text)
	return row, nil
}

// endpoints are those of table completeness.
var endpoints = []string{
	fold.Applications, fold.Jobs, fold.Stages, fold.Tasks, fold.TaskSummaries, fold.Executors, fold.SQLExecutions, fold.SQLNodes,
	fold.Environments,
}

// details are the outcomes by endpoint. What is complete from before was read well.
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
			if unread(row) {
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
		case details[endpoint] == "":
			details[endpoint] = "OK"
		}
	}
	return details, status
}
