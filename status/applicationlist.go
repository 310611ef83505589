package status

import (
	"cmp"
	"context"
	_ "embed" // the template
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
)

// ApplicationItem is an application in the list.
type ApplicationItem struct {
	ApplicationPhases

	Name    string    `json:"name"`
	Cluster string    `json:"cluster"`
	Step    string    `json:"step,omitempty"` // none of a notebook, a shell or spark-submit on a node
	Started time.Time `json:"started"`
	Last    time.Time `json:"last"` // when its driver last sent something
	Running bool      `json:"running"`
}

// ApplicationList is the response of /status/applications.
type ApplicationList struct {
	Applications []ApplicationItem `json:"applications"` // those that run first, then the last that ended
	Omitted      int               `json:"omitted"`      // older ones
}

const (
	mostApplications = 50             // in the list
	listWindow       = 24 * time.Hour // of a list's applications

	// silence is how long a driver that runs may not be heard of: it sends every ten seconds.
	silence = 2 * time.Minute
)

// listApplications lists the applications whose drivers have sent metrics within a day. Three
// queries are for all of them.
func (s Source) listApplications(ctx context.Context) (ApplicationList, error) {
	list := ApplicationList{Applications: []ApplicationItem{}}
	samples, err := s.query(ctx, fmt.Sprintf("max by (%s) (tlast_over_time(%s[%s]))", platform.SparkAppID.Metric(), platform.MetricSparkWall,
		seconds(listWindow)))
	if err != nil {
		return list, fmt.Errorf("list the applications: %w", err)
	}
	at := map[string]float64{}
	var ids []string
	for _, found := range samples {
		id := found.label(platform.SparkAppID)
		if !platform.IsYARNApplicationID(id) {
			continue
		}
		if at[id], err = found.number(); err != nil {
			return list, fmt.Errorf("list the applications: %w", err)
		}
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Or(cmp.Compare(at[b], at[a]), cmp.Compare(b, a)) })
	shown := ids[:min(len(ids), mostApplications)]
	list.Omitted = len(ids) - len(shown)
	if len(shown) == 0 {
		return list, nil
	}
	if list.Applications, err = s.items(ctx, shown); err != nil {
		return list, fmt.Errorf("list the applications: %w", err)
	}
	return list, nil
}

// items reads what the list says of applications.
func (s Source) items(ctx context.Context, ids []string) ([]ApplicationItem, error) {
	samples, err := s.query(ctx, phasesQuery(ids, listWindow))
	if err != nil {
		return nil, err
	}
	readings, err := readingsOf(samples)
	if err != nil {
		return nil, err
	}
	now, items, judged := time.Now(), []ApplicationItem{}, []Step{{}}
	for _, id := range ids {
		last, _ := latest(readings, id)
		for _, of := range last.phases(id, false) {
			item := ApplicationItem{Name: cmp.Or(last.name, id), Cluster: last.cluster, Step: last.step}
			item.Started, item.Last = last.lastSeen()
			item.Running = !of.Ended && now.Sub(item.Last) < silence
			judged[0].Phases = append(judged[0].Phases, of)
			items = append(items, item)
		}
	}
	if err := s.addVerdicts(ctx, judged, listWindow); err != nil {
		return nil, err
	}
	for i, of := range judged[0].Phases {
		items[i].ApplicationPhases = of
	}
	slices.SortStableFunc(items, func(a, b ApplicationItem) int {
		switch {
		case a.Running == b.Running:
			return 0
		case a.Running:
			return -1
		}
		return 1
	})
	return items, nil
}

//go:embed applications.html
var listHTML string

// listPage is what the template of the list shows.
type listPage struct {
	ApplicationList
	page
}

// Of returns the applications that run, or the others.
func (l listPage) Of(running bool) (all []ApplicationItem) {
	for _, item := range l.Applications {
		if item.Running == running {
			all = append(all, item)
		}
	}
	return all
}

// listed are applications with what their template needs besides.
type listed struct {
	Items []ApplicationItem
	Page  page
	Path  string
}

// With prepares applications for their template.
func (l listPage) With(items []ApplicationItem) listed {
	return listed{items, l.page, ApplicationsPath}
}

// serveApplications answers with the list of applications.
func (s server) serveApplications(w http.ResponseWriter, r *http.Request) {
	list, err := s.applications(r.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	w.Header().Set("Vary", "Accept")
	if !prefersPage(r.Header) {
		writeJSON(w, http.StatusOK, list)
		return
	}
	writePage(w, listHTML, listPage{list, s.page(r, Status{Control: s.config.Control})})
}
