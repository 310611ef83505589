package tools

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/phases/redaction"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Forms of ids. A trace's is that of the W3C's trace context.
var (
	clusterForm = regexp.MustCompile(`^j-[A-Z0-9]{1,20}$`)
	stepForm    = regexp.MustCompile(`^s-[A-Z0-9]{1,30}$`)
	traceForm   = regexp.MustCompile(`^[0-9a-f]{32}$`)
)

// isID reports whether a text is an id, which nobody chose, and no name.
func isID(text string) bool {
	return clusterForm.MatchString(text) || stepForm.MatchString(text) || traceForm.MatchString(text) || platform.IsYARNApplicationID(text)
}

// selection is what an id selects.
type selection struct {
	id      string
	several bool // all applications of an EMR cluster or a step, and not the latest only
	matches func(row tables.Application) bool
}

// selects returns what an id selects: an application, a cluster, a step or a trace by its id, or
// applications by a part of their names. It narrows the filter if it can. "" selects all.
func selects(id string, f *lake.Filter) selection {
	s := selection{id: unmark(id)}
	switch id := s.id; {
	case clusterForm.MatchString(id):
		f.ClusterID, s.several = id, true
		s.matches = func(tables.Application) bool { return true }
	case stepForm.MatchString(id):
		s.several = true
		s.matches = func(row tables.Application) bool { return known(row.StepID) == id }
	case traceForm.MatchString(id):
		s.matches = func(row tables.Application) bool { return known(row.TraceID) == id }
	default:
		named := named(id)
		s.matches = func(row tables.Application) bool { return row.ApplicationID == id || row.ClusterID == id || named(row) }
	}
	return s
}

// named matches a part of the names of applications.
func named(text string) func(row tables.Application) bool {
	text = strings.ToLower(text)
	return func(row tables.Application) bool {
		name := strings.ToLower(row.ApplicationName)
		return strings.Contains(name, text) || strings.Contains(unmark(mark(name)), text) // as an answer showed it
	}
}

// list passes on the attempts of applications that a filter selects and the page may have. It
// returns how many there are, and what could not be read.
func (a answers) list(ctx context.Context, p *progress, f lake.Filter, page *Page, take func(row tables.Application)) (
	period, []Missing, error,
) {
	var seen period
	var missing []Missing
	for row, err := range a.rows.Applications(ctx, f) {
		gap, unread := errors.AsType[*Unread](err)
		switch {
		case unread:
			missing = append(missing, missed(gap))
		case err != nil:
			return seen, missing, fmt.Errorf("find applications: %w", err)
		case page.includes(row.StartTime):
			p.row()
			seen.add(row.StartTime)
			take(row)
		}
	}
	return seen, missing, ctx.Err()
}

func missed(gap *Unread) Missing {
	return Missing{
		ClusterID: gap.ClusterID, ApplicationID: gap.ApplicationID, Reason: redaction.New(nil).Text(gap.Err.Error(), textLimit),
	}
}

// period is when applications started.
type period struct {
	n           int
	first, last tables.Millis
}

func (p *period) add(start tables.Millis) {
	if p.n++; start == 0 {
		return
	}
	if p.first == 0 || start < p.first {
		p.first = start
	}
	p.last = max(p.last, start)
}

// String says how many there are, and from when to when.
func (p period) String() string {
	text := "there are " + counted(p.n, "application")
	if p.n == 1 {
		text = "there is 1 application"
	}
	if p.first == 0 {
		return text
	}
	day := func(at tables.Millis) string { return time.UnixMilli(at).UTC().Format(time.DateOnly) }
	if day(p.first) == day(p.last) {
		return text + " of " + day(p.first)
	}
	return text + " from " + day(p.first) + " to " + day(p.last)
}

func counted(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// Period is the time in which applications started.
type Period struct {
	From string `json:"from,omitempty" jsonschema:"first UTC day on which an application started, such as 2026-01-31; by default 30 days before to"`
	To   string `json:"to,omitempty" jsonschema:"last UTC day on which an application started; by default today"`
}

// searchDays is how many days back applications are searched by default.
const searchDays = 30

// filter returns a filter by the days to search. Days that were not given become the present
// default, which later pages keep.
func (p *Period) filter(now time.Time) (lake.Filter, error) {
	last, faults := now.UTC(), []error(nil)
	day := func(name, text string) time.Time {
		at, err := time.Parse(time.DateOnly, text)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s %q: must be a day such as 2026-01-31", name, text))
		}
		return at
	}
	if p.To != "" {
		last = day("to", p.To)
	}
	first := last.AddDate(0, 0, -searchDays)
	if p.From != "" {
		first = day("from", p.From)
	}
	if len(faults) == 0 && first.After(last) {
		faults = append(faults, fmt.Errorf("from %s is after to %s: swap them", first.Format(time.DateOnly), last.Format(time.DateOnly)))
	}
	p.From, p.To = first.Format(time.DateOnly), last.Format(time.DateOnly)
	return lake.Filter{From: p.From, To: p.To}, errors.Join(faults...)
}

// ofDays says what a list of applications is of. An empty one says what there is besides.
func (a answers) ofDays(ctx context.Context, f lake.Filter, found int, seen period) (string, error) {
	within := " started from " + f.From + " to " + f.To
	if found > 0 {
		return counted(found, "application") + within + ".", nil
	}
	text := "None" + within
	if seen.n > 0 {
		return text + " matches; in these days " + seen.String() + ".", nil
	}
	f.From, f.To = "", ""
	for row, err := range a.rows.Applications(ctx, f) {
		if err == nil {
			seen.add(row.StartTime)
		}
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if seen.n == 0 {
		return "There are no applications.", nil
	}
	return text + "; " + seen.String() + ": give from and to.", nil
}
