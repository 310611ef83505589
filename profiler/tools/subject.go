package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/emr-observatory/emr-observatory/phases/redaction"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Which selects applications.
type Which struct {
	ID string `json:"id,omitempty" jsonschema:"id of an application, a cluster, an EMR step (s-…) or a trace, or the name of an application or a part of it; by default the latest application. A cluster or step selects its latest 25 applications, everything else the latest run"`

	ClusterID string  `json:"cluster_id,omitempty" jsonschema:"cluster, needed only if several have the application id"`
	AttemptID *string `json:"attempt_id,omitempty" jsonschema:"attempt; by default the latest"`
}

// MostApplications is how many applications an answer is about, the latest ones.
const MostApplications = 25

// subject is what a call is about: the latest attempts of applications, the latest one first.
type subject struct {
	what    string // as the caller named it
	all     []tables.Application
	missing []Missing
}

// find returns the applications that an id selects.
func (a answers) find(ctx context.Context, p *progress, in Which, page *Page) (subject, error) {
	f := lake.Filter{ClusterID: in.ClusterID, AttemptID: in.AttemptID}
	chosen := selects(in.ID, &f)
	s := subject{what: cmp.Or(chosen.id, "the latest application")}
	p.begin("find " + s.what)
	if id := chosen.id; id != "" && (platform.IsYARNApplicationID(id) || !isID(id)) {
		found, err := a.byApplicationID(ctx, p, &s, f, id, page)
		if found || err != nil {
			return s, err
		}
		if platform.IsYARNApplicationID(id) {
			return s, s.unknown(period{})
		}
		s.missing = nil // they are looked at again
	}
	seen, missing, err := a.list(ctx, p, f, page, func(row tables.Application) {
		if chosen.matches(row) {
			s.all = append(s.all, row)
		}
	})
	s.missing = missing
	if err != nil {
		return s, fmt.Errorf("find %s: %w", s.what, err)
	}
	if len(s.all) == 0 {
		return s, s.unknown(seen)
	}
	// Databricks' clusters and named sources have ids that may be names as well.
	if of := ofCluster(s.all, chosen.id); len(of) > 0 {
		s.all, chosen.several = of, true
	}
	if chosen.several {
		s.latest(MostApplications)
	} else {
		s.all = latestOf(s.all)[:1]
	}
	return s, nil
}

func ofCluster(all []tables.Application, id string) (of []tables.Application) {
	for _, row := range all {
		if row.ClusterID == id {
			of = append(of, row)
		}
	}
	return of
}

// byApplicationID looks an application up, without a list of all.
func (a answers) byApplicationID(ctx context.Context, p *progress, s *subject, f lake.Filter, id string, page *Page) (
	found bool, err error,
) {
	f.ApplicationID = id
	_, s.missing, err = a.list(ctx, p, f, page, func(row tables.Application) { s.all = append(s.all, row) })
	if err != nil {
		return false, fmt.Errorf("find application %s: %w", id, err)
	}
	for _, row := range s.all {
		if first := s.all[0]; row.ClusterID != first.ClusterID {
			return false, fmt.Errorf("application %s exists on clusters %s and %s: give cluster_id", id, first.ClusterID, row.ClusterID)
		}
	}
	if s.all = latestOf(s.all); len(s.all) > 0 {
		s.all, s.missing = s.all[:1], nil
	}
	return len(s.all) > 0, nil
}

// latest keeps the latest applications, and says how many are left out.
func (s *subject) latest(most int) {
	s.all = latestOf(s.all)
	if left := len(s.all) - most; left > 0 {
		s.missing = append(s.missing, Missing{
			Reason: fmt.Sprintf("%s of %s are left out: name one of them, which getappid lists", counted(left, "earlier application"), s.what),
		})
		s.all = s.all[:most]
	}
}

// latestOf returns the latest attempt of each application, the latest application first.
func latestOf(all []tables.Application) []tables.Application {
	sortLatest(all)
	seen := map[[2]string]bool{}
	return slices.DeleteFunc(all, func(row tables.Application) bool {
		key := [2]string{row.ClusterID, row.ApplicationID}
		again := seen[key]
		seen[key] = true
		return again
	})
}

func sortLatest(all []tables.Application) {
	slices.SortStableFunc(all, func(a, b tables.Application) int {
		return cmp.Or(cmp.Compare(b.StartTime, a.StartTime), cmp.Compare(b.ApplicationID, a.ApplicationID), cmp.Compare(b.AttemptID, a.AttemptID))
	})
}

// unknown is the error of an id that selects nothing: it says what there is.
func (s *subject) unknown(seen period) error {
	for _, m := range s.missing {
		if m.ApplicationID == s.what {
			return fmt.Errorf("application %s could not be read: %s", s.what, m.Reason)
		}
	}
	text := fmt.Sprintf("%s is not known", s.what)
	if seen.n > 0 {
		text += ": " + seen.String()
	}
	if n := len(s.missing); n > 0 {
		text += fmt.Sprintf("; %s could not be read, any of which it may be, such as %s: %s", counted(n, "log, cluster or application"),
			s.missing[0].ClusterID, s.missing[0].Reason)
	}
	return errors.New(text + "; getappid lists the known ones")
}

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
	for _, row := range s.all {
		p.begin("read " + row.ApplicationID)
		o, gap, err := a.open(ctx, row, len(s.all) > 1)
		if err != nil {
			return nil, fmt.Errorf("read application %s: %w", row.ApplicationID, err)
		}
		if gap != nil {
			out.Missing = append(out.Missing, *gap)
			continue
		}
		before := len(out.Missing)
		if err := readJudged(ctx, o, out); err != nil {
			return nil, fmt.Errorf("read application %s: %w", row.ApplicationID, err)
		}
		if all = append(all, *o); len(s.all) == 1 {
			out.Application = newApplication(&o.Application, len(out.Missing) == before)
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

// ofEach answers with the rows that add finds in each application that a call selects.
func ofEach[Row any](
	ctx context.Context, a answers, p *progress, in Which, of *Page, what string, add func(o *opened, rows *page[Row]) error,
) (Answer[Row], error) {
	var out Answer[Row]
	all, err := openSelected(ctx, a, p, in, of, &out)
	if err != nil {
		return out, err
	}
	rows := newPage[Row](of)
	for i := range all {
		p.begin("read the " + what + " of " + all[i].ApplicationID)
		if err := add(&all[i], rows); err != nil {
			return out, err
		}
	}
	return out, fill(&out, rows)
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

// readJudged reads an application's findings, and what is missing of it.
func readJudged[Row any](ctx context.Context, o *opened, out *Answer[Row]) error {
	if !o.judged() {
		o.lacks[notJudged] = true
		out.notCheck(notJudged, o.ApplicationID+" is not judged yet: a run has just written it, or was interrupted")
	}
	for row, err := range lake.ReadHeld[tables.Finding](ctx, o.held) {
		switch {
		case err != nil:
			return err // names the table
		case row.NotChecked == "":
			o.findings = append(o.findings, row)
		default:
			o.lacks[row.Finding] = true
			out.notCheck(row.Finding, redaction.Cut(row.NotChecked, textLimit))
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
