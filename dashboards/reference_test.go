package dashboards

import (
	"fmt"
	"strings"

	"github.com/emr-observatory/emr-observatory/dashboards/panel"
)

// Reference renders docs/reference/dashboards.md: every panel with what it
// shows, what bad looks like and what to do next.
func Reference() []byte {
	var b strings.Builder
	b.WriteString("# Dashboards\n\nGenerated from `dashboards`; a test fails when this page and the dashboards differ. " +
		"VictoriaMetrics' own UI shows the panels that query metrics, without variables: `" + panel.PredefinedPath + "`.\n")
	for _, board := range boards() {
		fmt.Fprintf(&b, "\n## %s\n\nUid `%s`, folder %s. %s\n", board.Title, board.UID, Folder, board.Description)
		for _, row := range board.Rows {
			fmt.Fprintf(&b, "\n### %s\n\n| panel | unit | shows | bad | next |\n|---|---|---|---|---|\n", row.Title)
			for _, p := range row.Panels {
				spec := p.Spec()
				shows := spec.Shows
				if fault := spec.EmptyWhenHealthy; fault != "" {
					shows += " Empty when healthy; filled by " + fault
				}
				fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", spec.Title, spec.Unit, shows, spec.Bad, spec.Next)
			}
		}
	}
	return []byte(b.String())
}
