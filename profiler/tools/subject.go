package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/emr-observatory/emr-observatory/platform"
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
