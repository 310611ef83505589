package panel_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/dashboards/panel"
)

// Every variable has its value for "All"; another name is an error.
func TestPredefinedDashboardHasNoVariables(t *testing.T) {
	width := 24
	render := func(expr string) (string, error) {
		p := panel.TimeSeries(panel.Spec{Title: "P", Unit: panel.UnitCores, Width: width}, panel.Metrics(expr, "{{a}}"))
		b := panel.Board{
			UID: "u", Title: "T", From: "now-3h", Variables: []panel.Variable{{Name: "host"}},
			Rows: []panel.Row{{Title: "R", Panels: []panel.Panel{p}}},
		}
		body, err := b.Predefined()
		return string(body), err
	}
	body, err := render(`rate(m{host=~"$host|"}[$__rate_interval]) + increase(m[$__range]) / $__rate_interval`)
	require.NoError(t, err)
	require.Contains(t, body, `rate(m{host=~\".*|\"}[1i30s]) + increase(m[3h]) / 1i30s`)
	require.Contains(t, body, `"unit": "cores"`)
	require.Contains(t, body, `"width": 12`)
	width = 2
	body, err = render("m")
	require.NoError(t, err)
	require.Contains(t, body, `"width": 4`, "a legend fits")
	_, err = render(`m{role="$role"}`)
	require.ErrorContains(t, err, `row "R", panel "P": $role is neither`)
}

// A daemon that is scraped every 30 s has a sample in every window.
func TestPredefinedRateSpansCollectionIntervals(t *testing.T) {
	query := panel.Metrics("rate(m[$__rate_interval])", "").Every(30 * time.Second)
	p := panel.TimeSeries(panel.Spec{Title: "P", Unit: panel.UnitCores, Width: 24}, query)
	b := panel.Board{UID: "u", Title: "T", From: "now-3h", Rows: []panel.Row{{Title: "R", Panels: []panel.Panel{p}}}}
	body, err := b.Predefined()
	require.NoError(t, err)
	require.Contains(t, string(body), "rate(m[1i90s])")
}

// vmui draws neither shares in percent, nor dates, nor buckets that are not cumulative.
func TestPredefinedDashboardScalesValues(t *testing.T) {
	spec := panel.Spec{Title: "P", Unit: panel.UnitSeconds, Width: 12}
	render := func(p panel.Panel) string {
		b := panel.Board{UID: "u", Title: "T", From: "now-3h", Rows: []panel.Row{{Title: "R", Panels: []panel.Panel{p}}}}
		body, err := b.Predefined()
		require.NoError(t, err)
		return string(body)
	}
	heatmap := render(panel.Heatmap(spec, panel.Buckets("sum(m) by (le)")))
	require.Contains(t, heatmap, `label_move(sum(m) by (le), \"le\", \"up_to\")`)
	require.Contains(t, heatmap, `"≤ {{up_to}} s"`)
	require.Contains(t, heatmap, `"unit": "/s"`)
	table := render(panel.Table(spec, panel.Column{Title: "Seen", Unit: panel.UnitTime, Query: panel.Metrics("1000 * m", "")},
		panel.Column{Title: "Wall time", Query: panel.Metrics("w", "")}))
	require.Contains(t, table, `"time() - (1000 * m) / 1000"`)
	require.Contains(t, table, `"w"`)
	require.Contains(t, table, `"unit": "s"`)
	spec.Unit = panel.UnitShare
	share := render(panel.TimeSeries(spec, panel.Metrics("busy / wall", "")))
	require.Contains(t, share, `"100 * (busy / wall)"`)
	require.Contains(t, share, `"unit": "%"`)
}
