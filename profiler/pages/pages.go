// Package pages makes the page of an application (package report) from the tables.
//
// It judges nothing: what was found is in the table findings.
package pages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/report"
	"github.com/emr-observatory/emr-observatory/rules"
)

// How much the lists of a page have. Pages of more are neither read nor quick to draw.
const (
	mostJobs       = 30
	mostOperations = 40
	mostStages     = 40
	mostExecutors  = 60
	mostRuns       = 20
	mostNamed      = 10 // applications that an error names

	runsWithin  = 30 * 24 * time.Hour // before the application's start
	runsTimeout = 5 * time.Second     // large tables have very many applications
	labelLimit  = 80                  // letters
)

// ErrUnknown is the error of an application that the tables do not have, or not yet with its
// findings: a run writes the rows of all its applications before it judges them.
var ErrUnknown = errors.New("is not in the tables")

// Of returns the page of an application, of its latest attempt. Without an id the lake must have
// one application only.
func Of(ctx context.Context, l *lake.Lake, id string) (report.Application, error) {
	row, err := find(ctx, l, id)
	if err != nil {
		return report.Application{}, err
	}
	held, err := l.Earlier(ctx, row.Attempt)
	if err != nil {
		return report.Application{}, fmt.Errorf("make the page of application %s: %w", row.ApplicationID, err)
	}
	if held == nil || held.Judged == "" {
		return report.Application{}, fmt.Errorf("application %q: %w with findings; `judge` judges what an interrupted run left",
			row.ApplicationID, ErrUnknown)
	}
	b := builder{lake: l, row: row, page: report.Application{
		ID: row.ApplicationID, Attempt: row.AttemptID, Name: label(row.ApplicationName), Cluster: row.ClusterID, User: row.SparkUser,
		Spark: row.SparkVersion, Started: at(row.StartTime), Ended: at(row.EndTime), MaxCores: known(row.MaxTotalCores),
		Wall: milliseconds(known(row.DurationMillis)), Step: text(row.StepID), Queue: text(row.Queue), TraceID: text(row.TraceID),
		Airflow:   report.NewAirflowTask(text(row.AirflowDAG), text(row.AirflowTask), text(row.AirflowRun), known(row.AirflowTry)),
		CoreHours: float64(known(row.CoreMillis)) / time.Hour.Seconds() / 1e3,
	}}
	b.page.Outcome, b.page.Failed = Outcome(row)
	for _, add := range []func(context.Context) error{
		b.phases, b.findings, b.jobs, b.sessions, b.stages, b.executors, b.completeness, b.spent, b.runs,
	} {
		if err := add(ctx); err != nil {
			return report.Application{}, fmt.Errorf("make the page of application %s: %w", row.ApplicationID, err)
		}
	}
	return b.page, nil
}

// find returns the row of the latest attempt of an application.
func find(ctx context.Context, l *lake.Lake, id string) (tables.Application, error) {
	var rows []tables.Application
	for row, err := range lake.Read[tables.Application](ctx, l, lake.Filter{ApplicationID: id}) {
		if err != nil {
			return tables.Application{}, err // names the table
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b tables.Application) int {
		return cmp.Or(cmp.Compare(b.StartTime, a.StartTime), cmp.Compare(b.AttemptID, a.AttemptID))
	})
	var ids []string
	for _, row := range rows {
		if !slices.Contains(ids, row.ApplicationID) {
			ids = append(ids, row.ApplicationID)
		}
	}
	switch {
	case len(ids) == 0 && id != "":
		return tables.Application{}, fmt.Errorf("application %q: %w; `run` reads the history into them", id, ErrUnknown)
	case len(ids) == 0:
		return tables.Application{}, fmt.Errorf("an application: %w; `run` reads the history into them", ErrUnknown)
	case len(ids) > 1:
		return tables.Application{}, fmt.Errorf("the tables have %d applications: name one, such as %s", len(ids),
			strings.Join(ids[:min(len(ids), mostNamed)], ", "))
	}
	return rows[0], nil
}

// builder fills a page from the tables.
type builder struct {
	lake *lake.Lake
	row  tables.Application
	page report.Application
}

// filter selects the rows of the attempt.
func (b *builder) filter() lake.Filter {
	return lake.Filter{
		Account: b.row.Account, Region: b.row.Region, ClusterID: b.row.ClusterID, ApplicationID: b.row.ApplicationID,
		AttemptID: &b.row.AttemptID,
	}
}

// each reads the rows of a table about the attempt.
func each[T any, P interface {
	*T
	tables.Row
}](ctx context.Context, b *builder, take func(T)) error {
	for row, err := range lake.Read[T, P](ctx, b.lake, b.filter()) {
		if err != nil {
			return err // names the table
		}
		take(row)
	}
	return nil
}

func (b *builder) phases(ctx context.Context) error {
	return each(ctx, b, func(row tables.Phase) {
		b.page.Approximate = b.page.Approximate || row.Approximate
		if row.DurationMillis > 0 {
			b.page.Phases = append(b.page.Phases, report.PhaseOf(row.Phase, milliseconds(row.DurationMillis), row.Ratio))
		}
	})
}

func (b *builder) findings(ctx context.Context) error {
	seen := map[rules.ID]bool{}
	err := each(ctx, b, func(row tables.Finding) {
		rule, known := rules.Find(rules.ID(row.Finding))
		if !known {
			return // of a newer version
		}
		seen[rule.ID] = true
		if row.NotChecked != "" {
			b.page.NotChecked = append(b.page.NotChecked, report.NotChecked{Title: rule.Title, Why: row.NotChecked})
			return
		}
		b.page.Findings = append(b.page.Findings, finding(rule, row))
		if rule.ID == rules.JobFailure {
			b.page.Cause, b.page.Failed = cmp.Or(text(b.row.FailureCause), row.Summary), true
		}
	})
	for _, rule := range rules.All() {
		if len(rule.Columns) > 0 && !seen[rule.ID] {
			b.page.Clean = append(b.page.Clean, rule.Title)
		}
	}
	slices.SortStableFunc(b.page.Findings, func(a, c report.Finding) int { return cmp.Compare(impact(c), impact(a)) })
	return err
}

// impact orders findings; those without a time come last.
func impact(f report.Finding) time.Duration {
	if f.Impact == nil {
		return -1
	}
	return *f.Impact
}

func finding(rule rules.Rule, row tables.Finding) report.Finding {
	f := report.Finding{
		Rule: rule.ID, Title: rule.Title, Severity: rules.Severity(row.Severity), Summary: row.Summary, Advice: row.Advice,
		Evidence: row.Evidence, Recipe: rule.Recipe,
	}
	if row.Impact != nil {
		f.Impact = new(milliseconds(*row.Impact))
	}
	if row.ImpactRate != nil {
		f.Share = *row.ImpactRate
	}
	for _, c := range row.Cures() {
		f.Settings = append(f.Settings, report.Setting{Property: c.Property, Value: c.Value, Now: c.Now})
	}
	return f
}

func (b *builder) completeness(ctx context.Context) error {
	return each(ctx, b, func(row tables.Completeness) {
		if row.Reason != "" {
			b.page.Missing = append(b.page.Missing, label(row.Endpoint+": "+cmp.Or(row.Detail, row.Reason)))
		}
	})
}

// runs adds the latest runs of the same name. Numbers in names do not count.
func (b *builder) runs(ctx context.Context) error {
	f := lake.Filter{Account: b.row.Account, Region: b.row.Region}
	if b.row.StartTime > 0 {
		f.From = at(b.row.StartTime).Add(-runsWithin).Format(time.DateOnly)
	}
	name := fold.WithoutDigits(b.row.ApplicationName)
	bounded, cancel := context.WithTimeout(ctx, runsTimeout)
	defer cancel()
	var rows []tables.Application
	for row, err := range lake.Read[tables.Application](bounded, b.lake, f) {
		if bounded.Err() != nil && ctx.Err() == nil {
			b.page.Missing = append(b.page.Missing, fmt.Sprintf("earlier runs: not all were read within %s", runsTimeout))
			break
		}
		if err != nil {
			return err // names the table
		}
		if fold.WithoutDigits(row.ApplicationName) == name && row.StartTime <= b.row.StartTime {
			rows = append(rows, row)
		}
	}
	slices.SortStableFunc(rows, func(x, y tables.Application) int { return cmp.Compare(x.StartTime, y.StartTime) })
	for _, row := range rows[max(0, len(rows)-mostRuns):] {
		words, failed := Outcome(row)
		b.page.Runs = append(b.page.Runs, report.Run{
			ID: row.ApplicationID, Started: at(row.StartTime), Wall: milliseconds(known(row.DurationMillis)), Outcome: words, Failed: failed,
			This: row.Attempt == b.row.Attempt,
		})
	}
	return nil
}

// Outcome says in words how an application ended.
func Outcome(row tables.Application) (words string, failed bool) {
	switch {
	case row.Outcome != nil:
		words = strings.ToUpper((*row.Outcome)[:1]) + (*row.Outcome)[1:]
		return words, *row.Outcome != tables.Succeeded
	case row.Completed:
		return "Ended", false
	}
	return "Not ended, or its driver was killed", false
}

func at(millis tables.Millis) time.Time {
	if millis == 0 {
		return time.Time{}
	}
	return time.UnixMilli(millis).UTC()
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

func known[T any](value *T) (v T) {
	if value != nil {
		v = *value
	}
	return v
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// label cuts a text to what fits beside a bar or into a cell. It leaves out control characters.
func label(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	letters := []rune(s)
	if len(letters) > labelLimit {
		return string(letters[:labelLimit-1]) + "…"
	}
	return s
}
