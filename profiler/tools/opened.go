package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/emr-observatory/emr-observatory/phases/redaction"
	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// opened is an application of a subject with its tables.
type opened struct {
	tables.Application

	held     *lake.Held
	findings []tables.Finding // judged ones, the most costly first
	lacks    map[string]bool  // rules that could not be judged
	id       string           // for rows; "" if the subject has one application only
	key      string           // unique among those of the subject
}

// judged reports whether the rules were applied to its rows.
func (o *opened) judged() bool { return o.held.Judged != "" }

// open reads what each answer needs of the subject's applications: their findings, and what is
// missing of them. One that cannot be read is missing, unless none is left.
func open[Row any](ctx context.Context, a answers, p *progress, s subject, out *Answer[Row]) (all []opened, err error) {
	out.Missing = append(out.Missing, s.missing...)
	next := 0
	begin := func() {
		if next < len(s.all) {
			p.begin("read " + s.all[next].ApplicationID)
			next++
		}
	}
	begin()
	for one, err := range openAhead(ctx, a, s.all, readJudged) {
		if err != nil {
			return nil, err
		}
		begin()
		if one.gap != nil {
			out.Missing = append(out.Missing, *one.gap)
			continue
		}
		for _, row := range one.read.unchecked {
			out.notCheck(row.Finding, redaction.Cut(row.NotChecked, textLimit))
		}
		out.Missing = append(out.Missing, one.read.missing...)
		if all = append(all, *one.opened); len(s.all) == 1 {
			out.Application = newApplication(&one.Application, len(one.read.missing) == 0)
		}
	}
	if len(all) == 0 {
		gap := out.Missing[len(out.Missing)-1]
		return nil, fmt.Errorf("application %s could not be read: %s", gap.ApplicationID, gap.Reason)
	}
	if len(s.all) > 1 {
		out.Applications = len(all)
	}
	out.Verdict = verdictOf(s.what, all)
	return all, nil
}

// openSelected opens the applications that a call selects.
func openSelected[Row any](ctx context.Context, a answers, p *progress, in Which, of *Page, out *Answer[Row]) ([]opened, error) {
	s, err := a.find(ctx, p, in, of)
	if err != nil {
		return nil, err
	}
	return open(ctx, a, p, s, out)
}

// tablesAtOnce is how many applications' tables all calls together read at a time: a large one takes
// tens of MiB.
const tablesAtOnce = 4

// eachOf yields, in order, what read reads of applications' tables. read is called concurrently. An error
// names the application.
func eachOf[T any](ctx context.Context, a answers, all []opened, read func(ctx context.Context, o *opened) (T, error)) iter.Seq2[T, error] {
	return lake.Ahead(ctx, len(all), tablesAtOnce, func(ctx context.Context, i int) (of T, err error) {
		select {
		case a.tables <- struct{}{}:
			defer func() { <-a.tables }()
		case <-ctx.Done():
			return of, ctx.Err()
		}
		if of, err = read(ctx, &all[i]); err != nil {
			err = fmt.Errorf("read application %s: %w", all[i].ApplicationID, err)
		}
		return of, err
	})
}

// ofEach answers with the rows that add finds in each application that a call selects. add is called
// concurrently.
func ofEach[Row any](
	ctx context.Context, a answers, p *progress, in Which, of *Page, what string,
	add func(ctx context.Context, o *opened, rows *page[Row]) error,
) (Answer[Row], error) {
	var out Answer[Row]
	all, err := openSelected(ctx, a, p, in, of, &out)
	if err != nil {
		return out, err
	}
	p.begin("read the " + what + " of " + nameOrCount(all))
	rows := newPage[Row](of)
	for found, err := range eachOf(ctx, a, all, func(ctx context.Context, o *opened) (*page[Row], error) {
		found := newPage[Row](of)
		return found, add(ctx, o, found)
	}) {
		if err != nil {
			return out, err
		}
		rows.merge(found)
	}
	return out, fill(&out, rows)
}

// openedAhead is an application with what was read of it, or why it could not be.
type openedAhead[T any] struct {
	*opened

	read T
	gap  *Missing
}

// openAhead opens applications, several at a time, and yields them in order with what read has read
// of each. An error names the application.
func openAhead[T any](
	ctx context.Context, a answers, all []tables.Application, read func(ctx context.Context, o *opened) (T, error),
) iter.Seq2[openedAhead[T], error] {
	return lake.Ahead(ctx, len(all), a.rows.AtOnce(), func(ctx context.Context, i int) (one openedAhead[T], err error) {
		if one.opened, one.gap, err = a.open(ctx, all[i], len(all) > 1); err == nil && one.gap == nil {
			one.read, err = read(ctx, one.opened)
		}
		if err != nil {
			err = fmt.Errorf("read application %s: %w", all[i].ApplicationID, err)
		}
		return one, err
	})
}

// open opens an application. gap says why it cannot be read.
func (a answers) open(ctx context.Context, row tables.Application, several bool) (o *opened, gap *Missing, err error) {
	held, err := a.rows.Held(ctx, row.Attempt)
	if unread, is := errors.AsType[*Unread](err); is {
		return nil, new(missed(unread)), nil
	}
	if err != nil {
		return nil, nil, err
	}
	if held == nil {
		return nil, &Missing{ClusterID: row.ClusterID, ApplicationID: row.ApplicationID, Reason: "it is being written, or has been removed"}, nil
	}
	o = &opened{Application: row, held: held, lacks: map[string]bool{}}
	o.key = row.ClusterID + "/" + row.ApplicationID + "/" + row.AttemptID + "/"
	if several {
		o.id = row.ApplicationID
	}
	if isCounted(&row) {
		return o, nil, nil
	}
	for full, err := range lake.ReadHeld[tables.Application](ctx, held) { // a list has less than the tables
		if err != nil {
			return nil, nil, err // names the table
		}
		o.Application = full
	}
	return o, nil, nil
}

// isCounted reports whether the counts of a row are known: a history server's list has none.
func isCounted(row *tables.Application) bool { return row.Source != "" }

// notJudged is the rule of an application to which no rule was applied.
const notJudged = "all"

// gaps are what is not known of an application.
type gaps struct {
	unchecked []tables.Finding // rules that could not be judged
	missing   []Missing        // rows
}

// readJudged reads an application's findings, and what is missing of it.
func readJudged(ctx context.Context, o *opened) (of gaps, err error) {
	if !o.judged() {
		of.unchecked = append(of.unchecked, tables.Finding{
			Finding: notJudged, NotChecked: o.ApplicationID + " is not judged yet: a run has just written it, or was interrupted",
		})
	}
	for row, err := range lake.ReadHeld[tables.Finding](ctx, o.held) {
		switch {
		case err != nil:
			return of, err // names the table
		case row.NotChecked == "":
			o.findings = append(o.findings, row)
		default:
			of.unchecked = append(of.unchecked, row)
		}
	}
	for _, row := range of.unchecked {
		o.lacks[row.Finding] = true
	}
	slices.SortStableFunc(o.findings, func(a, b tables.Finding) int {
		return cmp.Or(cmp.Compare(known(b.Impact), known(a.Impact)), cmp.Compare(known(b.CoreHours), known(a.CoreHours)))
	})
	for row, err := range lake.ReadHeld[tables.Completeness](ctx, o.held) {
		if err != nil {
			return of, err // names the table
		}
		if row.Reason != "" {
			of.missing = append(of.missing, Missing{
				ClusterID: o.ClusterID, ApplicationID: o.id, Part: row.Endpoint, Rows: row.Missing,
				Reason: redaction.Cut(row.Reason+": "+row.Detail, textLimit),
			})
		}
	}
	return of, nil
}

// driver reports whether an executor is the driver, which runs no tasks.
func driver(id string) bool { return id == fold.DriverExecutor }

// nameOrCount names the only application, or counts several.
func nameOrCount(all []opened) string {
	if len(all) == 1 {
		return all[0].ApplicationID
	}
	return counted(len(all), "application")
}
