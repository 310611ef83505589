package panel

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// gridColumns is the width of Grafana's grid.
const gridColumns = 24

// perRow is how many numbers a row takes: its own and one for each panel. A
// panel added to one row so leaves the numbers of the others as they are.
const perRow = 100

// Row is a titled group of panels; they fill it line by line.
type Row struct {
	Title  string
	Panels []Panel
}

// Board is one dashboard.
type Board struct {
	UID         string
	Title       string
	Description string
	Tags        []string
	From        string // start of the time range at first, such as "now-1h"
	Refresh     string // "30s"; not faster than the sources measure
	Links       []BoardLink
	Variables   []Variable
	Rows        []Row
}

// Render gives the dashboard's JSON, the same bytes for the same Board. It
// reports every fault of every panel at once, each under
// "<board>/<row>/<panel>".
func (b Board) Render() ([]byte, error) {
	builder := dashboard.NewDashboardBuilder(b.Title).Uid(b.UID).Description(b.Description).
		Tags(b.Tags).Time(b.From, "now").Refresh(b.Refresh).Timezone("browser").
		Tooltip(dashboard.DashboardCursorSyncCrosshair).Readonly()
	board, err := builder.Build()
	faults := []error{err, b.validate()}
	variables := make([]dashboard.VariableModel, 0, len(b.Variables))
	for _, v := range b.Variables {
		variables = append(variables, v.build())
	}
	board.Templating.List = variables
	for _, link := range b.Links {
		board.Links = append(board.Links, link.build())
	}
	panels, err := b.place()
	board.Panels = panels
	if err := errors.Join(append(faults, err)...); err != nil {
		return nil, fmt.Errorf("render dashboard %s: %w", b.UID, err)
	}
	out, err := json.MarshalIndent(board, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("marshal dashboard %s: %w", b.UID, err)
	}
	return append(out, '\n'), nil
}

func (b Board) validate() error {
	var faults []error
	for name, value := range map[string]string{
		"UID": b.UID, "Title": b.Title, "Description": b.Description, "From": b.From, "Refresh": b.Refresh,
	} {
		if value == "" {
			faults = append(faults, fmt.Errorf("%s is empty", name))
		}
	}
	if len(b.Rows) == 0 {
		faults = append(faults, errors.New("no rows"))
	}
	return errors.Join(faults...)
}

// place numbers the panels and puts them on the grid.
func (b Board) place() ([]dashboard.PanelOrRowPanel, error) {
	var (
		placed []dashboard.PanelOrRowPanel
		faults []error
		y      uint32
	)
	for i, row := range b.Rows {
		first := uint32((i + 1) * perRow)
		title := row.Title
		placed = append(placed, dashboard.PanelOrRowPanel{RowPanel: &dashboard.RowPanel{
			Type: "row", Title: &title, Id: first, Panels: []dashboard.Panel{},
			GridPos: &dashboard.GridPos{Y: y, H: 1, W: gridColumns},
		}})
		positions, end, err := row.layout(y + 1)
		faults = append(faults, wrap(err, "row %q", row.Title))
		if len(row.Panels) >= perRow {
			faults = append(faults, fmt.Errorf("row %q has %d panels, at most %d", row.Title, len(row.Panels), perRow-1))
		}
		for j, p := range row.Panels {
			panel, err := p.build(first+uint32(j)+1, positions[j])
			faults = append(faults, wrap(err, "row %q, panel %q", row.Title, p.spec.Title))
			placed = append(placed, dashboard.PanelOrRowPanel{Panel: &panel})
		}
		y = end
	}
	return placed, errors.Join(faults...)
}

// layout gives each panel its place, starting at line y, and the line after
// the row. Each line must be filled to the last column by panels of one height.
func (r Row) layout(y uint32) ([]dashboard.GridPos, uint32, error) {
	var (
		positions []dashboard.GridPos
		faults    []error
		x, height int
	)
	if len(r.Panels) == 0 {
		faults = append(faults, errors.New("no panels"))
	}
	for _, p := range r.Panels {
		w, h := p.spec.Width, p.spec.Height
		if x == 0 {
			height = h
		}
		if w < 1 || x+w > gridColumns {
			faults = append(faults, fmt.Errorf("panel %q: width %d after %d columns overflows the %d of a line", p.spec.Title, w, x, gridColumns))
		}
		if h != height {
			faults = append(faults, fmt.Errorf("panel %q: height %d in a line of height %d", p.spec.Title, h, height))
		}
		positions = append(positions, dashboard.GridPos{X: uint32(x), Y: y, W: uint32(w), H: uint32(h)})
		if x += w; x >= gridColumns {
			x, y = 0, y+uint32(height)
		}
	}
	if x != 0 {
		faults = append(faults, fmt.Errorf("the last line is %d of %d columns wide: widen its panels", x, gridColumns))
	}
	return positions, y, errors.Join(faults...)
}

func wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}
