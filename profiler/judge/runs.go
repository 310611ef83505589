package judge

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/emr-observatory/emr-observatory/profiler/findings"
	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// runs are the applications in a lake by what the names of their runs have in common.
type runs struct {
	byName map[series][]findings.Run // in the order of their starts
	place  map[tables.Attempt]run
}

// series identifies the runs of an application: those of other accounts are others.
type series struct{ account, region, name string }

// run is an attempt among the runs of its application.
type run struct {
	series series
	findings.Run
}

// runsIn reads the applications of a lake. An attempt that did not end by itself, or whose row
// cannot be read, is no run to compare others with.
func runsIn(ctx context.Context, l *lake.Lake) (*runs, error) {
	all := &runs{byName: map[series][]findings.Run{}, place: map[tables.Attempt]run{}}
	for held, err := range l.Attempts(ctx) {
		if _, damaged := errors.AsType[*lake.ManifestError](err); damaged {
			continue // judging reports it
		}
		if err != nil {
			return nil, err // names the manifest
		}
		all.add(ctx, l, held)
	}
	for _, of := range all.byName {
		slices.SortFunc(of, func(a, b findings.Run) int {
			return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.ApplicationID, b.ApplicationID), cmp.Compare(a.AttemptID, b.AttemptID))
		})
	}
	return all, ctx.Err()
}

func (r *runs) add(ctx context.Context, l *lake.Lake, held *lake.Held) {
	for a, err := range lake.ReadHeld[tables.Application](ctx, held) {
		if err != nil {
			return // judging the attempt reports it
		}
		of := series{a.Account, a.Region, fold.WithoutDigits(a.ApplicationName)}
		id := held.ID()
		this := findings.Run{
			ClusterID: a.ClusterID, ApplicationID: a.ApplicationID, AttemptID: a.AttemptID, Start: a.StartTime, PlanShape: a.PlanShape,
			Phases: func() (map[string]int64, error) { return phasesOf(ctx, l, id) },
		}
		r.place[id] = run{of, this}
		if a.Completed && a.DurationMillis != nil && (a.Outcome == nil || *a.Outcome == tables.Succeeded) {
			this.DurationMillis = *a.DurationMillis
			r.byName[of] = append(r.byName[of], this)
		}
	}
}

// of returns the runs with which an attempt is compared.
func (r *runs) of(id tables.Attempt) []findings.Run {
	this, known := r.place[id]
	if !known {
		return nil
	}
	return findings.Compared(r.byName[this.series], this.Run)
}

// digest identifies what an attempt is compared with; "" for nothing.
func digest(earlier []findings.Run) string {
	if len(earlier) == 0 {
		return ""
	}
	sum := sha256.New()
	for _, r := range earlier {
		fmt.Fprintln(sum, r.ClusterID, r.ApplicationID, r.AttemptID, r.DurationMillis)
	}
	return "-" + hex.EncodeToString(sum.Sum(nil)[:4])
}

// phasesOf reads the phases of an attempt, in milliseconds.
func phasesOf(ctx context.Context, l *lake.Lake, id tables.Attempt) (map[string]int64, error) {
	phases := map[string]int64{}
	f := lake.Filter{
		Account: id.Account, Region: id.Region, ClusterID: id.ClusterID, ApplicationID: id.ApplicationID, AttemptID: &id.AttemptID,
	}
	for row, err := range lake.Read[tables.Phase](ctx, l, f) {
		if err != nil {
			return nil, err // names the table
		}
		phases[row.Phase] = row.DurationMillis
	}
	return phases, nil
}
