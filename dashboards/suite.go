// Package dashboards is the suite of Grafana dashboards that the platform
// installs, rendered to JSON. Its packages: panel is the house style, contract
// the table of what may be queried, check runs every query against the stores.
//
// It does not talk to Grafana; the grafana component puts the suite there.
package dashboards

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/emr-observatory/emr-observatory/dashboards/overview"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
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

// boards is the suite before rendering, in the order of the reference page.
func boards() []panel.Board { return []panel.Board{overview.Board()} }

// slug is a name that may stand in a URL and in a Pulumi resource name
// (RFC 1123 label).
var slug = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// Suite renders every dashboard. It reports all faults of all of them.
func Suite() ([]Dashboard, error) {
	var (
		suite  []Dashboard
		faults []error
		seen   = map[string]bool{}
	)
	for _, board := range boards() {
		body, err := board.Render()
		faults = append(faults, err)
		if !slug.MatchString(board.UID) {
			faults = append(faults, fmt.Errorf("dashboard %q: the uid is no RFC 1123 label: use a-z, 0-9 and -", board.UID))
		}
		if seen[board.UID] {
			faults = append(faults, fmt.Errorf("dashboard %q: the uid is used twice", board.UID))
		}
		seen[board.UID] = true
		suite = append(suite, Dashboard{Slug: board.UID, UID: board.UID, Title: board.Title, Folder: Folder, JSON: body})
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return suite, nil
}

// Reference renders docs/reference/dashboards.md: every panel with what it
// shows, what bad looks like and what to do next.
func Reference() []byte {
	var b strings.Builder
	b.WriteString("# Dashboards\n\nGenerated from `dashboards`; a test fails when this page and the dashboards differ.\n")
	for _, board := range boards() {
		fmt.Fprintf(&b, "\n## %s\n\nUid `%s`, folder %s. %s\n", board.Title, board.UID, Folder, board.Description)
		for _, row := range board.Rows {
			fmt.Fprintf(&b, "\n### %s\n\n| panel | unit | shows | bad | next |\n|---|---|---|---|---|\n", row.Title)
			for _, p := range row.Panels {
				spec := p.Spec()
				shows := spec.Description.Shows
				if fault := spec.Description.EmptyWhenHealthy; fault != "" {
					shows += " Empty when all is well; filled by " + fault
				}
				fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", spec.Title, spec.Unit, shows, spec.Description.Bad, spec.Description.Next)
			}
		}
	}
	return []byte(b.String())
}
