package run

import (
	"context"

	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/source"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// lost returns the applications of steps that neither the source nor the lake has. It adds an
// outcome that names one, unless another says why applications are unknown.
func (r *runner) lost(ctx context.Context, c *reading) (lost []source.StepApplication) {
	for _, a := range c.cluster.Lost {
		kept, err := r.inLake(ctx, a.ID)
		switch {
		case err != nil:
			c.cluster.Outcomes = append(c.cluster.Outcomes, source.Outcome{Endpoint: endpointEarlier, Err: err})
			return nil
		case !kept && !r.expired(a.Start):
			lost = append(lost, a)
		}
	}
	if len(lost) > 0 && c.cluster.Unlisted() == nil {
		c.cluster.Outcomes = append(c.cluster.Outcomes, source.Outcome{Endpoint: source.EndpointApplications, Err: c.cluster.LostError(lost)})
	}
	return lost
}

// inLake reports whether the lake has rows of an application, whatever its attempt.
func (r *runner) inLake(ctx context.Context, id tables.Attempt) (bool, error) {
	f := lake.Filter{Account: id.Account, Region: id.Region, ClusterID: id.ClusterID, ApplicationID: id.ApplicationID}
	for _, err := range lake.Read[tables.Application](ctx, r.lake, f) {
		return err == nil, err // the error names the table
	}
	return false, nil
}

// missing writes a row of table completeness for an application that was not read, unless
// the lake has rows of an earlier run.
func (r *runner) missing(ctx context.Context, a source.Application, reason fold.Reason, detail string) {
	if err := r.writeMissing(ctx, a, reason, detail); err != nil && ctx.Err() == nil {
		r.failLake(err)
	}
}

func (r *runner) writeMissing(ctx context.Context, a source.Application, reason fold.Reason, detail string) error {
	kept, err := r.lake.HasRows(ctx, a.ID)
	if err != nil || kept {
		return err // the error names the manifest
	}
	batch, err := r.lake.Begin(a.ID, a.Start)
	if err != nil {
		return err
	}
	defer batch.Discard()
	row := fold.NotRead(a.ID, reason, detail)
	if err := batch.Put(&row); err != nil {
		return err
	}
	batch.Describe("", true)
	written, err := batch.Commit(ctx, false, "")
	if err != nil {
		return err
	}
	r.record(func(s *Summary) { s.recordWrite(written) })
	return nil
}
