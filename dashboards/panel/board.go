package panel

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// gridColumns is the width of Grafana's grid.
const gridColumns = 24

// perRow is how many ids a row reserves: its own and one for each panel, so that
// a panel added to one row does not change the ids of others.
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
	From        string // default start of the time range, such as "now-1h"
	Refresh     string // "30s"; not shorter than the collection interval
	Links       []BoardLink
	Variables   []Variable
	Rows        []Row
}

// Render returns the dashboard's JSON, the same bytes for the same Board. The
// error names everything that is wrong, by row and panel.
func (b Board) Render() ([]byte, error) {
	builder := dashboard.NewDashboardBuilder(b.Title).Uid(b.UID).Description(b.Description).
		Tags(b.Tags).Time(b.From, "now").Refresh(b.Refresh).Timezone("browser").
		Tooltip(dashboard.DashboardCursorSyncCrosshair).Readonly()
	board, err := builder.Build()
	errs := []error{err, b.validate()}
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
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, fmt.Errorf("render dashboard %s: %w", b.UID, err)
	}
	out, err := json.MarshalIndent(board, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("marshal dashboard %s: %w", b.UID, err)
	}
	return append(out, '\n'), nil
}

func (b Board) validate() error {
	var errs []error
	for name, value := range map[string]string{
		"UID": b.UID, "Title": b.Title, "Description": b.Description, "From": b.From, "Refresh": b.Refresh,
	} {
		if value == "" {
			errs = append(errs, fmt.Errorf("%s is empty", name))
		}
	}
	if len(b.Rows) == 0 {
		errs = append(errs, errors.New("no rows"))
	}
	return errors.Join(errs...)
}

// place numbers the panels and places them on the grid.
func (b Board) place() ([]dashboard.PanelOrRowPanel, error) {
	var (
		placed []dashboard.PanelOrRowPanel
		errs   []error
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
		errs = append(errs, wrapError(err, "row %q", row.Title))
		if len(row.Panels) >= perRow {
			errs = append(errs, fmt.Errorf("row %q has %d panels, at most %d", row.Title, len(row.Panels), perRow-1))
		}
		for j, p := range row.Panels {
			panel, err := p.build(first+uint32(j)+1, positions[j])
			errs = append(errs, wrapError(err, "row %q, panel %q", row.Title, p.spec.Title))
			placed = append(placed, dashboard.PanelOrRowPanel{Panel: &panel})
		}
		y = end
	}
	return placed, errors.Join(errs...)
}

// layout returns each panel's position, starting at line y, and the line after
// the row. Each line must be filled to the last column by panels of one height.
func (r Row) layout(y uint32) ([]dashboard.GridPos, uint32, error) {
	var (
		positions []dashboard.GridPos
		errs      []error
		x, height int
	)
	if len(r.Panels) == 0 {
		errs = append(errs, errors.New("no panels"))
	}
	for _, p := range r.Panels {
		w, h := p.spec.Width, p.spec.Height
		if x == 0 {
			height = h
		}
		if w < 1 || x+w > gridColumns {
			errs = append(errs, fmt.Errorf("panel %q: width %d after %d columns overflows the %d of a line", p.spec.Title, w, x, gridColumns))
		}
		if h != height {
			errs = append(errs, fmt.Errorf("panel %q: height %d in a line of height %d", p.spec.Title, h, height))
		}
		positions = append(positions, dashboard.GridPos{X: uint32(x), Y: y, W: uint32(w), H: uint32(h)})
		if x += w; x >= gridColumns {
			x, y = 0, y+uint32(height)
		}
	}
	if x != 0 {
		errs = append(errs, fmt.Errorf("the last line is %d of %d columns wide: widen its panels", x, gridColumns))
	}
	return positions, y, errors.Join(errs...)
}

// wrapError adds context to an error; nil stays nil.
func wrapError(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}
