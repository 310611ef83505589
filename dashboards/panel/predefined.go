package panel

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Predefined dashboards of VictoriaMetrics' own UI, as the flag
// -vmui.customDashboardsPath reads them (VictoriaMetrics v1.150.0,
// app/vmselect/vmui.go).
type predefined struct {
	Title    string          `json:"title"`
	Filename string          `json:"filename"`
	Rows     []predefinedRow `json:"rows"`
}

type predefinedRow struct {
	Title  string            `json:"title"`
	Panels []predefinedPanel `json:"panels"`
}

type predefinedPanel struct {
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Unit        string   `json:"unit,omitempty"`
	Expr        []string `json:"expr"`
	Alias       []string `json:"alias"`
	Width       int      `json:"width"` // of predefinedColumns
}

// PredefinedPath is where VictoriaMetrics shows them: always the first, since no parameter
// chooses another (v1.150.0, src/pages/PredefinedPanels/index.tsx).
const PredefinedPath = "/vmui/#/dashboards"

// ToPredefined leads to them at the time range that ends at end and is seconds long;
// both are variables.
func ToPredefined(title, end, seconds string) Link {
	return Link{Title: title, URL: PredefinedPath + "?" + EncodeQuery(uiTimeRange(end, seconds))}
}

// ToLogsUI opens a LogsQL query in VictoriaLogs' own UI, likewise.
func ToLogsUI(title, expr, end, seconds string) Link {
	query := uiTimeRange(end, seconds)
	query.Set("query", expr)
	return Link{Title: title, URL: "/select/vmui/#/?" + EncodeQuery(query)}
}

// uiTimeRange is a time range as the UIs of VictoriaMetrics and VictoriaLogs read it
// after the fragment.
func uiTimeRange(end, seconds string) url.Values {
	return url.Values{"g0.range_input": {seconds + "s"}, "g0.end_input": {end}, "g0.relative_time": {"none"}}
}

// predefinedColumns is the width of VictoriaMetrics' grid. A panel there has a legend
// with statistics below its graph, which a narrower one than predefinedNarrowest cuts
// off.
const (
	predefinedColumns   = 12
	predefinedNarrowest = 4
)

// Predefined renders the panels that query metrics for VictoriaMetrics' own UI,
// where nothing else runs. It has no variables: every one has its value for
// "All". Rows without such a panel are left out.
func (b Board) Predefined() ([]byte, error) {
	out := predefined{Title: b.Title, Filename: b.PredefinedFile()}
	var errs []error
	for _, row := range b.Rows {
		r := predefinedRow{Title: row.Title}
		for _, p := range row.Panels {
			if len(p.queries) == 0 || p.queries[0].datasource != platform.DatasourceMetrics {
				continue
			}
			panel, err := b.predefined(p)
			errs = append(errs, wrapError(err, "row %q, panel %q", row.Title, p.spec.Title))
			r.Panels = append(r.Panels, panel)
		}
		if len(r.Panels) > 0 {
			out.Rows = append(out.Rows, r)
		}
	}
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := errors.Join(append(errs, e.Encode(out))...); err != nil {
		return nil, fmt.Errorf("render dashboard %s for vmui: %w", b.UID, err)
	}
	return body.Bytes(), nil
}

// PredefinedFile returns the name of the file that Predefined belongs in.
func (b Board) PredefinedFile() string { return b.UID + ".json" }

func (b Board) predefined(p Panel) (predefinedPanel, error) {
	out := predefinedPanel{
		Title: p.spec.Title, Description: p.spec.description(), Unit: p.spec.Unit.word(),
		Width: max(predefinedNarrowest, p.spec.Width*predefinedColumns/gridColumns),
	}
	var errs []error
	for _, q := range p.queries {
		expr := b.withoutVariables(q, p.spec.Past)
		if name := variableName.FindString(expr); name != "" {
			errs = append(errs, fmt.Errorf("%s is neither a variable of the board nor a macro that vmui can do without", name))
		}
		alias := q.legend
		switch {
		case q.buckets:
			// vmui draws the label le as a heatmap of cumulative buckets, which these are not.
			expr, alias = fmt.Sprintf(`label_move(%s, "le", "up_to")`, expr), strings.TrimSpace("≤ {{up_to}} "+p.spec.Unit.word())
			out.Unit = UnitPerSecond.word()
		case p.spec.Unit == UnitShare: // vmui scales no values
			expr = "100 * (" + expr + ")"
		case q.time: // vmui draws no dates: how long ago
			expr, out.Unit = "time() - ("+expr+") / 1000", UnitSeconds.word()
		}
		out.Expr, out.Alias = append(out.Expr, expr), append(out.Alias, alias)
	}
	return out, errors.Join(errs...)
}

// variableName is a variable or macro of Grafana.
var variableName = regexp.MustCompile(`\$\{?[A-Za-z_]\w*`)

// withoutVariables returns the query over everything. $__range becomes the panel's time
// range, or else the board's own default.
func (b Board) withoutVariables(q Query, past string) string {
	pairs := []string{"$__rate_interval", rateInterval(q), "$__range", cmp.Or(past, strings.TrimPrefix(b.From, "now-"))}
	for _, v := range b.Variables {
		pairs = append(pairs, "$"+v.Name, allValue)
	}
	return strings.NewReplacer(pairs...).Replace(q.expr)
}

// rateInterval returns a MetricsQL duration close to Grafana's $__rate_interval: the
// graph's step (1i) and three collection intervals. vmui's step is far below a collection
// interval over a short range. A window of the step alone then holds either no sample or
// the gain of a whole interval, and a rate over it is many times too high.
func rateInterval(q Query) string {
	return "1i" + strconv.FormatInt(int64(3*max(q.every, platform.CollectionInterval)/time.Second), 10) + "s"
}

// word returns the unit as a label of the axis. A share is shown in percent.
func (u Unit) word() string {
	switch u {
	case UnitNone, UnitCount:
		return ""
	case UnitShare:
		return "%"
	case UnitBytes:
		return "B"
	case UnitMebibytes:
		return "MiB"
	case UnitBitsPerSecond:
		return "bit/s"
	case UnitBytesPerSec:
		return "B/s"
	case UnitPerSecond:
		return "/s"
	case UnitSeconds:
		return "s"
	case UnitMilliseconds, UnitTime:
		return "ms"
	case UnitNanoseconds:
		return "ns"
	}
	word, _ := strings.CutPrefix(string(u), "suffix: ")
	return word
}
