package panel_test

import (
	"encoding/json"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/bargauge"
	"github.com/grafana/grafana-foundation-sdk/go/heatmap"
	"github.com/grafana/grafana-foundation-sdk/go/statetimeline"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/dashboards/panel"
)

// rendered is what Grafana's plugin of a panel reads.
type rendered struct {
	Type        string
	TimeFrom    string
	Options     json.RawMessage
	Targets     []struct{ Format, LegendFormat string }
	FieldConfig struct {
		Defaults struct {
			Custom   json.RawMessage
			Mappings []struct {
				Options map[string]text
			}
		}
		Overrides []struct {
			Matcher    struct{ ID, Options string }
			Properties []struct {
				ID    string
				Value any
			}
		}
	}
}

type text struct{ Text, Color string }

// only renders a board with one panel and returns that panel.
func only(t *testing.T, p panel.Panel) rendered {
	t.Helper()
	raw, err := boardOf(p).Render()
	require.NoError(t, err)
	var doc struct{ Panels []rendered }
	require.NoError(t, json.Unmarshal(raw, &doc))
	require.Len(t, doc.Panels, 2)
	return doc.Panels[1]
}

func TestStateTimelineNamesItsStates(t *testing.T) {
	named := func(s *panel.Spec) { s.Texts = []panel.Text{{Value: "0", Word: "off", Color: panel.Gray}} }
	p := only(t, panel.StateTimeline(spec(named), query()))
	require.Equal(t, "state-timeline", p.Type)
	require.NoError(t, statetimeline.NewOptions().UnmarshalJSONStrict(p.Options))
	require.NoError(t, statetimeline.NewFieldConfig().UnmarshalJSONStrict(p.FieldConfig.Defaults.Custom))
	require.Equal(t, text{"off", "#8e8e8e"}, p.FieldConfig.Defaults.Mappings[0].Options["0"])

	_, err := boardOf(panel.StateTimeline(spec(nil), query())).Render()
	require.ErrorContains(t, err, "texts is empty")
}

func TestHeatmapsDrawBucketsAndSeries(t *testing.T) {
	seconds := func(s *panel.Spec) { s.Unit = panel.UnitSeconds }
	for name, c := range map[string]struct {
		panel                       panel.Panel
		format, legend, rows, cells string
	}{
		"buckets": {panel.Heatmap(spec(seconds), panel.Buckets("b")), "heatmap", "{{le}}", "s", "cps"},
		"series":  {panel.SeriesHeatmap(spec(seconds), query()), "time_series", "{{host_name}}", "none", "s"},
	} {
		p := only(t, c.panel)
		require.Equal(t, "heatmap", p.Type, name)
		require.NoError(t, heatmap.NewOptions().UnmarshalJSONStrict(p.Options), name)
		require.Equal(t, c.format, p.Targets[0].Format, name)
		require.Equal(t, c.legend, p.Targets[0].LegendFormat, name)
		var options struct {
			Calculate  bool
			YAxis      struct{ Unit string }
			CellValues struct{ Unit string }
		}
		require.NoError(t, json.Unmarshal(p.Options, &options), name)
		require.False(t, options.Calculate, name)
		require.Equal(t, []string{c.rows, c.cells}, []string{options.YAxis.Unit, options.CellValues.Unit}, name)
	}
}

func TestBarsNameAndColourTheirSeries(t *testing.T) {
	p := only(t, panel.Bars(spec(func(s *panel.Spec) {
		s.Styles = []panel.Style{{Series: "io_write", Word: "write", Color: panel.Blue}, {Series: "plain"}}
	}), query()))
	require.Equal(t, "bargauge", p.Type)
	require.NoError(t, bargauge.NewOptions().UnmarshalJSONStrict(p.Options))
	first := p.FieldConfig.Overrides[0]
	require.Equal(t, "byName", first.Matcher.ID)
	require.Equal(t, "io_write", first.Matcher.Options)
	require.Equal(t, "displayName", first.Properties[0].ID)
	require.Equal(t, "write", first.Properties[0].Value)
	require.Equal(t, map[string]any{"mode": "fixed", "fixedColor": "blue"}, first.Properties[1].Value)
}

func TestPanelWithATimeRangeOfItsOwn(t *testing.T) {
	over := panel.Metrics("last_over_time(m[$__range])", "")
	past := panel.TimeSeries(spec(func(s *panel.Spec) { s.Past = "7d" }), over)
	require.Equal(t, "7d", only(t, past).TimeFrom)
	body, err := boardOf(past, panel.TimeSeries(spec(nil), over)).Predefined()
	require.NoError(t, err)
	require.Contains(t, string(body), "last_over_time(m[7d])")
	require.Contains(t, string(body), "last_over_time(m[1h])")
}

func TestVariablesOfEachChoice(t *testing.T) {
	board := boardOf(series(nil))
	for _, choice := range []panel.Choice{panel.Several, panel.OneOrAll, panel.OneNewest} {
		board.Variables = append(board.Variables, panel.Variable{Name: "v", Label: "V", Query: "label_values(m, l)", Choice: choice})
	}
	raw, err := board.Render()
	require.NoError(t, err)
	type variable struct {
		Multi, IncludeAll bool
		AllValue          string
		Sort              int
		Current           *struct{ Value any }
	}
	var doc struct{ Templating struct{ List []variable } }
	require.NoError(t, json.Unmarshal(raw, &doc))
	const ascending, descending = 7, 8 // naturally
	several, oneOrAll, newest := doc.Templating.List[0], doc.Templating.List[1], doc.Templating.List[2]
	require.Equal(t, []any{"$__all"}, several.Current.Value)
	several.Current = nil
	require.Equal(t, variable{Multi: true, IncludeAll: true, AllValue: ".*", Sort: ascending}, several)
	require.Equal(t, "$__all", oneOrAll.Current.Value)
	oneOrAll.Current = nil
	require.Equal(t, variable{IncludeAll: true, AllValue: ".*", Sort: ascending}, oneOrAll)
	require.Equal(t, variable{Sort: descending}, newest)
}
