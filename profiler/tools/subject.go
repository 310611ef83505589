package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/phases/redaction"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Which selects applications.
type Which struct {
	ID string `json:"id,omitempty" jsonschema:"id of an application, an EMR cluster (j-…), an EMR step (s-…) or a trace, or the name of an application or a part of it; by default the latest application. A cluster or step selects all its applications, everything else the latest run"`

	ClusterID string  `json:"cluster_id,omitempty" jsonschema:"cluster, needed only if several have the application id"`
	AttemptID *string `json:"attempt_id,omitempty" jsonschema:"attempt; by default the latest"`
}

// mostApplications is how many applications an answer is about, the latest ones.
const mostApplications = 25

// subject is what a call is about: the latest attempts of applications, the latest one first.
type subject struct {
	what    string // as the caller named it
	several bool   // it may have several applications
	all     []tables.Application
	missing []Missing
}

// Patterns of ids. A trace's is that of the W3C's trace context.
var (
	clusterForm = regexp.MustCompile(`^j-[A-Z0-9]+$`)
	stepForm    = regexp.MustCompile(`^s-[A-Z0-9]+$`)
	traceForm   = regexp.MustCompile(`^[0-9a-f]{32}$`)
)

// find returns the applications that an id selects.
func (a answers) find(ctx context.Context, p *progress, in Which) (subject, error) {
	id := unsaid(in.ID)
	s := subject{what: cmp.Or(id, "the latest application")}
	f := lake.Filter{ClusterID: in.ClusterID, AttemptID: in.AttemptID}
	p.begin("find " + s.what)
	var matches func(row tables.Application) bool
	switch {
	case id == "":
		matches = func(tables.Application) bool { return true }
	case clusterForm.MatchString(id):
		f.ClusterID, s.several = id, true
		matches = func(tables.Application) bool { return true }
	case stepForm.MatchString(id):
		s.several = true
		matches = func(row tables.Application) bool { return known(row.StepID) == id }
	case traceForm.MatchString(id):
		matches = func(row tables.Application) bool { return known(row.TraceID) == id }
	default:
		found, err := a.byApplicationID(ctx, p, &s, f, id)
		if found || err != nil || platform.IsYARNApplicationID(id) && err == nil {
			return s, cmp.Or(err, s.none(period{}, found))
		}
		matches, s.missing = named(id), nil // they are looked at again
	}
	return s, a.scan(ctx, p, &s, f, matches)
}

// named matches names of applications: those that are the text, or have it within.
func named(text string) func(row tables.Application) bool {
	text = strings.ToLower(text)
	return func(row tables.Application) bool {
		name := strings.ToLower(row.ApplicationName)
		return strings.Contains(name, text) || strings.Contains(unsaid(said(name)), text) // as an answer showed it
	}
}

// byApplicationID looks an application up, without a list of all.
func (a answers) byApplicationID(ctx context.Context, p *progress, s *subject, f lake.Filter, id string) (found bool, err error) {
	f.ApplicationID = id
	for row, err := range a.rows.Applications(ctx, f) {
		if err != nil {
			if !s.miss(err) {
				return false, fmt.Errorf("find application %s: %w", id, err)
			}
			continue
		}
		p.row()
		if len(s.all) > 0 && s.all[0].Cluster != row.Cluster {
			return false, fmt.Errorf("application %s exists on clusters %s and %s: give cluster_id", id, s.all[0].ClusterID, row.ClusterID)
		}
		s.all = append(s.all, row)
	}
	s.latest(1)
	return len(s.all) > 0, nil
}

// scan selects applications from all of them.
func (a answers) scan(ctx context.Context, p *progress, s *subject, f lake.Filter, matches func(row tables.Application) bool) error {
	var seen period
	for row, err := range a.rows.Applications(ctx, f) {
		if err != nil {
			if !s.miss(err) {
				return fmt.Errorf("find %s: %w", s.what, err)
			}
			continue
		}
		p.row()
		seen.add(row.StartTime)
		if matches(row) {
			if s.all = append(s.all, row); len(s.all) > 4*mostApplications {
				s.latest(2 * mostApplications) // attempts of one application are among them
			}
		}
	}
	if s.several {
		s.latest(mostApplications)
	} else {
		s.latest(1)
	}
	return s.none(seen, len(s.all) > 0)
}

// latest keeps the latest attempts of the latest applications.
func (s *subject) latest(most int) {
	sortLatest(s.all)
	seen := map[[2]string]bool{}
	s.all = slices.DeleteFunc(s.all, func(row tables.Application) bool {
		key := [2]string{row.ClusterID, row.ApplicationID}
		again := seen[key]
		seen[key] = true
		return again
	})
	s.all = s.all[:min(most, len(s.all))]
}

func sortLatest(all []tables.Application) {
	slices.SortStableFunc(all, func(a, b tables.Application) int {
		return cmp.Or(cmp.Compare(b.StartTime, a.StartTime), cmp.Compare(b.ApplicationID, a.ApplicationID), cmp.Compare(b.AttemptID, a.AttemptID))
	})
}

// none is the error of an id that selects nothing: it says what there is.
func (s *subject) none(seen period, found bool) error {
	if found {
		return nil
	}
	text := fmt.Sprintf("%s is not known", s.what)
	for _, m := range s.missing {
		if m.ApplicationID == s.what {
			return fmt.Errorf("application %s could not be read: %s", s.what, m.Reason)
		}
	}
	if seen.n > 0 {
		text += ": " + seen.String()
	}
	if len(s.missing) > 0 {
		text += fmt.Sprintf("; %d clusters, logs or applications that may be it could not be read, such as %s", len(s.missing),
			strings.TrimSpace(s.missing[0].ClusterID+": "+s.missing[0].Reason))
	}
	return errors.New(text + "; getappid lists the known ones")
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
	return text + " from " + day(p.first) + " to " + day(p.last)
}

func counted(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// miss records what could not be read. It returns false if err is of something else.
func (s *subject) miss(err error) bool {
	var gap *Unread
	if !errors.As(err, &gap) {
		return false
	}
	s.missing = append(s.missing, Missing{
		ClusterID: gap.ClusterID, ApplicationID: gap.ApplicationID, Reason: redaction.New(nil).Text(gap.Err.Error(), textLimit),
	})
	return true
}

// opened is an application of a subject with its tables.
type opened struct {
	tables.Application

	held     *lake.Held
	findings []tables.Finding // judged ones, the most costly first
	id       string           // for rows; "" if the subject has one application only
	key      string           // unique among those of the subject
}

// open reads what each answer needs of the subject's applications: their findings, and what is
// missing of them.
func open[Row any](ctx context.Context, a answers, p *progress, s subject, out *Answer[Row]) (all []opened, err error) {
	out.Missing = append(out.Missing, s.missing...)
	for _, row := range s.all {
		p.begin("read " + row.ApplicationID)
		held, err := a.rows.Held(ctx, row.Attempt)
		if err != nil {
			return nil, fmt.Errorf("read application %s: %w", row.ApplicationID, err)
		}
		if held == nil {
			return nil, fmt.Errorf("application %s has been removed since: getappid lists the known ones", row.ApplicationID)
		}
		o := opened{Application: row, held: held, key: row.ClusterID + "/" + row.ApplicationID + "/" + row.AttemptID + "/"}
		if len(s.all) > 1 {
			o.id = row.ApplicationID
		}
		if !isCounted(&row) { // a list has less than the tables
			if err := o.reread(ctx); err != nil {
				return nil, err
			}
		}
		if err := readJudged(ctx, &o, out); err != nil {
			return nil, fmt.Errorf("read application %s: %w", row.ApplicationID, err)
		}
		all = append(all, o)
	}
	if len(all) == 1 {
		out.Application = newApplication(&all[0].Application, len(out.Missing) == 0)
	} else {
		out.Applications = len(all)
	}
	out.Verdict = verdictOf(s.what, all)
	return all, nil
}

// reread takes the application's row from its tables.
func (o *opened) reread(ctx context.Context) error {
	for row, err := range lake.ReadHeld[tables.Application](ctx, o.held) {
		if err != nil {
			return err // names the table
		}
		o.Application = row
	}
	return nil
}

// isCounted reports whether the counts of a row are known: a history server's list has none.
func isCounted(row *tables.Application) bool { return row.Source != "" }

// readJudged reads an application's findings, and what is missing of it.
func readJudged[Row any](ctx context.Context, o *opened, out *Answer[Row]) error {
	if o.held.Judged == "" {
		out.NotChecked = append(out.NotChecked, NotChecked{"all", o.ApplicationID + " is not judged yet: a run has just written it, or was interrupted"})
	}
	for row, err := range lake.ReadHeld[tables.Finding](ctx, o.held) {
		switch {
		case err != nil:
			return err // names the table
		case row.NotChecked == "":
			o.findings = append(o.findings, row)
		case !slices.ContainsFunc(out.NotChecked, func(n NotChecked) bool { return n.Rule == row.Finding }):
			out.NotChecked = append(out.NotChecked, NotChecked{Rule: row.Finding, Why: redaction.Cut(row.NotChecked, textLimit)})
		}
	}
	slices.SortStableFunc(o.findings, func(a, b tables.Finding) int {
		return cmp.Or(cmp.Compare(known(b.Impact), known(a.Impact)), cmp.Compare(known(b.CoreHours), known(a.CoreHours)))
	})
	for row, err := range lake.ReadHeld[tables.Completeness](ctx, o.held) {
		if err != nil {
			return err // names the table
		}
		if row.Reason != "" {
			out.Missing = append(out.Missing, Missing{
				ClusterID: o.ClusterID, ApplicationID: o.id, Part: row.Endpoint, Rows: row.Missing,
				Reason: redaction.Cut(row.Reason+": "+row.Detail, textLimit),
			})
		}
	}
	return nil
}

// driver reports whether an executor is the driver, which runs no tasks.
func driver(id string) bool { return id == fold.DriverExecutor }
