package tools

import (
	"context"
	"slices"
	"time"

	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Phase is a part of an application's wall clock.
type Phase struct {
	ApplicationID  string   `json:"application_id,omitempty" jsonschema:"absent if all rows are of one application"`
	Phase          string   `json:"phase" jsonschema:"resource_wait, compute, io_write, driver, submit or idle; they add up to the duration"`
	DurationMillis int64    `json:"duration_ms"`
	Ratio          *float64 `json:"ratio,omitempty" jsonschema:"share of the duration, 0 to 1"`
	Approximate    bool     `json:"approximate" jsonschema:"events are missing"`
	UsualMillis    *int64   `json:"usual_ms,omitempty" jsonschema:"median over earlier runs of the same name that succeeded; absent without any"`
	UsualRuns      int      `json:"usual_runs,omitempty" jsonschema:"how many runs that is of"`
}

func (a answers) phases(ctx context.Context, p *progress, in *SubjectIn) (Answer[Phase], error) {
	return ofEach(ctx, a, p, in.Which, &in.Page, "phases", func(ctx context.Context, o *opened, rows *page[Phase]) error {
		return a.addPhases(ctx, p, o, rows)
	})
}

// addPhases adds the phases of an application, with what is usual if it is the only one.
func (a answers) addPhases(ctx context.Context, p *progress, o *opened, rows *page[Phase]) error {
	all, err := read[tables.Phase](ctx, o.held, "phase", "duration_ms", "ratio", "approximate")
	if err != nil {
		return err
	}
	var usual map[string][]float64
	if o.id == "" {
		if usual, err = a.usualPhases(ctx, p, o.Application); err != nil {
			return err
		}
	}
	for _, row := range all {
		phase := Phase{
			ApplicationID: o.id, Phase: row.Phase, DurationMillis: measured(row.DurationMillis), Ratio: new(significant(row.Ratio)),
			Approximate: row.Approximate, UsualRuns: len(usual[row.Phase]),
		}
		if phase.UsualRuns > 0 {
			phase.UsualMillis = new(measured(median(usual[row.Phase])))
		}
		rows.add(phase, float64(row.DurationMillis), o.key+row.Phase)
	}
	return nil
}

// usualRuns is how many earlier runs make what is usual, and usualDays how long before a run they
// are.
const (
	usualRuns = 10
	usualDays = 30
)

// earlierRuns returns the latest runs of an application's name before it that succeeded. Numbers
// in names do not count.
func (a answers) earlierRuns(ctx context.Context, p *progress, of tables.Application) (runs []tables.Application, err error) {
	name := fold.WithoutDigits(of.ApplicationName)
	p.begin("find earlier runs")
	f := lake.Filter{Account: of.Account, Region: of.Region}
	if of.StartTime > 0 {
		at := time.UnixMilli(of.StartTime).UTC()
		f.From, f.To = at.AddDate(0, 0, -usualDays).Format(time.DateOnly), at.Format(time.DateOnly)
	}
	for row, err := range a.rows.Applications(ctx, f) {
		if err != nil {
			continue // nobody knows whether it is one of them
		}
		p.row()
		if row.StartTime < of.StartTime && row.Completed && !failed(&row) &&
			fold.WithoutDigits(row.ApplicationName) == name {
			runs = append(runs, row)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	sortLatest(runs)
	return runs[:min(usualRuns, len(runs))], nil
}

// usualPhases returns the lengths of the phases of earlier runs, in milliseconds.
func (a answers) usualPhases(ctx context.Context, p *progress, of tables.Application) (map[string][]float64, error) {
	runs, err := a.earlierRuns(ctx, p, of)
	if err != nil {
		return nil, err
	}
	lengths := map[string][]float64{}
	for _, run := range runs {
		held, err := a.rows.Held(ctx, run.Attempt)
		if err != nil || held == nil {
			continue // a run that is gone is not usual
		}
		rows, err := read[tables.Phase](ctx, held, "phase", "duration_ms")
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			lengths[row.Phase] = append(lengths[row.Phase], float64(row.DurationMillis))
		}
	}
	return lengths, nil
}

// median returns the median of values, the upper one of two; 0 if there are none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(values))[len(values)/2]
}
