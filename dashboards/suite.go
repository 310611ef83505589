// Package dashboards is the suite of Grafana dashboards that the platform
// installs, rendered to JSON. Its packages: panel is the house style; scope,
// limits and links are what dashboards share; contract is the table of what may
// be queried; check runs every query against the stores.
//
// It does not talk to Grafana; the grafana component installs the suite.
package dashboards

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/emr-observatory/emr-observatory/dashboards/links"
	"github.com/emr-observatory/emr-observatory/dashboards/overview"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/dashboards/profiling"
	"github.com/emr-observatory/emr-observatory/dashboards/timeline"
	"github.com/emr-observatory/emr-observatory/platform"
)

// Dashboard is one rendered dashboard.
type Dashboard struct {
	Slug   string // name of its file and of its stack output
	UID    string // Grafana's stable identity
	Title  string
	Folder string
	JSON   []byte
}

// Folder is the Grafana folder of the suite.
const Folder = "EMR"

// boards returns the suite before rendering, in the order of the reference page. A
// further dashboard is a package beside overview and an entry here.
func boards() []panel.Board {
	return []panel.Board{overview.Board(), timeline.Board(), profiling.Board()}
}

// slug matches names that are valid in URLs and in Pulumi resource names (RFC
// 1123 labels).
var slug = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// Suite renders every dashboard. The error names all that is wrong with any.
func Suite() ([]Dashboard, error) {
	var (
		suite []Dashboard
		errs  []error
		seen  = map[string]bool{}
	)
	for _, board := range boards() {
		body, err := board.Render()
		errs = append(errs, err)
		if !slug.MatchString(board.UID) {
			errs = append(errs, fmt.Errorf("dashboard %q: the uid is not an RFC 1123 label: use a-z, 0-9 and -", board.UID))
		}
		if seen[board.UID] {
			errs = append(errs, fmt.Errorf("dashboard %q: the uid is used twice", board.UID))
		}
		seen[board.UID] = true
		suite = append(suite, Dashboard{Slug: board.UID, UID: board.UID, Title: board.Title, Folder: Folder, JSON: body})
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return suite, nil
}

// Links lead to the dashboards: in Grafana, and to those with the same title in
// VictoriaMetrics' own UI, where nothing else runs.
func Links() []links.Target {
	var out []links.Target
	for _, board := range boards() {
		link := board.Link()
		out = append(out,
			links.Target{Title: link.Title, Service: platform.WorkloadGrafana, Path: link.URL},
			links.Target{Title: link.Title, Service: platform.WorkloadVictoriaMetrics, Path: panel.PredefinedPath})
	}
	return out
}

// StepLinks lead to everything about a step of an EMR cluster, in the order in which
// one looks: see links.Step.
func StepLinks() []links.Target { return links.Step() }

// Predefined renders the panels that query metrics for VictoriaMetrics' own UI:
// one file for each dashboard, by name.
func Predefined() (map[string]string, error) {
	files, errs := map[string]string{}, []error{}
	for _, board := range boards() {
		body, err := board.Predefined()
		errs = append(errs, err)
		files[board.PredefinedFile()] = string(body)
	}
	return files, errors.Join(errs...)
}
