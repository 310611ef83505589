package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

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
	row, err := r.summaryRow(ctx, c)
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

// summaryRow counts what the lake has of the cluster's applications, so that it is the
// same whichever of them this run had to read.
func (r *runner) summaryRow(ctx context.Context, c *reading) (tables.ClusterSummary, error) {
	row := c.cluster.Summary
	row.TotalApplications = int64(len(c.cluster.Applications))
	row.ReadApplications = int64(len(c.current) + len(c.read))
	executors := (*tables.Executor)(nil).Table()
	add := func(a tables.Application, executors int64) {
		row.TotalJobs += a.NumJobs
		row.TotalStages += a.NumStages
		row.TotalTasks += a.NumTasks
		row.TotalSQL += a.NumSQLExecutions
		row.TotalExecutors += executors
	}
	for _, s := range c.read {
		add(s.Application, s.Rows[executors])
	}
	for _, a := range c.current {
		rows, err := r.lake.Rows(ctx, a.ID)
		if err != nil {
			return row, err
		}
		of := lake.Filter{
			Account: a.ID.Account, Region: a.ID.Region, ClusterID: a.ID.ClusterID,
			ApplicationID: a.ID.ApplicationID, AttemptID: &a.ID.AttemptID,
		}
		for kept, err := range lake.Read[tables.Application](ctx, r.lake, of) {
			if err != nil {
				return row, err
			}
			add(kept, rows[executors])
		}
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
