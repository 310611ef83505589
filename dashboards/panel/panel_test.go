package panel_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/platform"
)

// spec returns a valid spec with a change.
func spec(change func(*panel.Spec)) panel.Spec {
	s := panel.Spec{
		Title: "Load", Unit: panel.UnitCount, Width: 24,
		Shows: "The load.", Bad: "A high one.", Next: "Look.",
	}
	if change != nil {
		change(&s)
	}
	return s
}

func boardOf(panels ...panel.Panel) panel.Board {
	return panel.Board{
		UID: "test", Title: "Test", Description: "A test.", From: "now-1h", Refresh: "30s",
		Rows: []panel.Row{{Title: "Row", Panels: panels}},
	}
}

func query() panel.Query { return panel.Metrics("load", "{{host_name}}") }

func series(change func(*panel.Spec)) panel.Panel { return panel.TimeSeries(spec(change), query()) }

func TestRejectsIncompletePanels(t *testing.T) {
	for name, c := range map[string]struct {
		panel  panel.Panel
		reason string
	}{
		"no title":             {series(func(s *panel.Spec) { s.Title = "" }), "title is empty"},
		"no unit":              {series(func(s *panel.Spec) { s.Unit = "" }), "unit is empty"},
		"no shows":             {series(func(s *panel.Spec) { s.Shows = "" }), "description.Shows is empty"},
		"no bad":               {series(func(s *panel.Spec) { s.Bad = "" }), "description.Bad is empty"},
		"no next":              {series(func(s *panel.Spec) { s.Next = "" }), "description.Next is empty"},
		"is no sentence":       {series(func(s *panel.Spec) { s.Bad = "high" }), "end it with a full stop"},
		"fault is no sentence": {series(func(s *panel.Spec) { s.EmptyWhenHealthy = "a fault" }), "EmptyWhenHealthy"},
		"no query":             {panel.TimeSeries(spec(nil)), "no queries"},
		"empty query":          {panel.TimeSeries(spec(nil), panel.Metrics("", "")), "query A has no expression"},
		"two datasources":      {panel.TimeSeries(spec(nil), query(), panel.Logs("*", 10)), "one datasource per panel"},
		"falling limits":       {series(func(s *panel.Spec) { s.Limits = []panel.Limit{{Value: 2}, {Value: 1}} }), "is not above the previous"},
		"narrow":               {series(func(s *panel.Spec) { s.Width = 20 }), "20 of 24 columns"},
		"too wide":             {series(func(s *panel.Spec) { s.Width = 25 }), "overflows"},
		"no width":             {series(func(s *panel.Spec) { s.Width = 0 }), "overflows"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := boardOf(c.panel).Render()
			require.ErrorContains(t, err, c.reason)
			require.ErrorContains(t, err, `row "Row"`)
		})
	}
	_, err := boardOf(series(nil)).Render()
	require.NoError(t, err)
}

func TestReportsAllErrorsAtOnce(t *testing.T) {
	board := boardOf(
		series(func(s *panel.Spec) { s.Title = "One"; s.Unit = "" }),
		series(func(s *panel.Spec) { s.Title = "Two"; s.Next = "" }),
	)
	board.Refresh = ""
	_, err := board.Render()
	for _, reason := range []string{"Refresh is empty", `panel "One": unit is empty`, `panel "Two": description.Next`} {
		require.ErrorContains(t, err, reason)
	}
	_, err = panel.Board{UID: "empty", Title: "Empty", Description: "Empty.", From: "now-1h", Refresh: "30s"}.Render()
	require.ErrorContains(t, err, "no rows")
}

type renderedBoard struct {
	Panels []struct {
		ID          int `json:"id"`
		Description string
		Type        string                                      `json:"type"`
		GridPos     struct{ X, Y, W, H int }                    `json:"gridPos"`
		Targets     []map[string]any                            `json:"targets"`
		Config      struct{ Defaults struct{ NoValue string } } `json:"fieldConfig"`
	} `json:"panels"`
}

func render(t *testing.T, board panel.Board) renderedBoard {
	t.Helper()
	raw, err := board.Render()
	require.NoError(t, err)
	var p renderedBoard
	require.NoError(t, json.Unmarshal(raw, &p))
	return p
}

func TestPanelsFillGridLines(t *testing.T) {
	half := func(s *panel.Spec) { s.Width = 12 }
	board := boardOf(series(half), series(half), series(nil))
	board.Rows = append(board.Rows, panel.Row{Title: "Next", Panels: []panel.Panel{series(nil)}})
	p := render(t, board)
	require.Equal(t, []int{100, 101, 102, 103, 200, 201}, []int{
		p.Panels[0].ID, p.Panels[1].ID, p.Panels[2].ID, p.Panels[3].ID, p.Panels[4].ID, p.Panels[5].ID})
	require.Equal(t, struct{ X, Y, W, H int }{0, 0, 24, 1}, p.Panels[0].GridPos)
	require.Equal(t, struct{ X, Y, W, H int }{12, 1, 12, 8}, p.Panels[2].GridPos)
	require.Equal(t, struct{ X, Y, W, H int }{0, 9, 24, 8}, p.Panels[3].GridPos)
	require.Equal(t, struct{ X, Y, W, H int }{0, 17, 24, 1}, p.Panels[4].GridPos)

	tall := func(s *panel.Spec) { s.Width, s.Height = 12, 9 }
	_, err := boardOf(series(half), series(tall)).Render()
	require.ErrorContains(t, err, "height 9 in a line of height 8")
}

func TestRendersQueriesForEachPlugin(t *testing.T) {
	for name, c := range map[string]struct {
		query panel.Query
		want  map[string]any
	}{
		"range": {panel.Metrics("m", "l"), map[string]any{"expr": "m", "range": true, "instant": false, "legendFormat": "l"}},
		"instant": {
			panel.Metrics("m", "").Instant().Every(platform.DaemonCollectionInterval),
			map[string]any{"instant": true, "range": false, "interval": "30s"},
		},
		"lines": {panel.Logs("*", 7), map[string]any{"expr": "*", "queryType": "instant", "maxLines": 7.0}},
		"stats": {panel.LogStats("* | stats count() n", "n"), map[string]any{"queryType": "statsRange", "legendFormat": "n"}},
		"traces": {
			panel.Traces("{}", 5),
			map[string]any{"query": "{}", "queryType": "traceql", "limit": 5.0, "filters": []any{}, "tableType": "traces"},
		},
		"profile": {
			panel.Flame("p:c", "{}"),
			map[string]any{"profileTypeId": "p:c", "labelSelector": "{}", "queryType": "profile", "groupBy": []any{}},
		},
		"profiles over time": {panel.ProfileSeries("p:c", "{}", "a"),
			map[string]any{"queryType": "metrics", "groupBy": []any{"a"}}},
	} {
		t.Run(name, func(t *testing.T) {
			target := render(t, boardOf(panel.TimeSeries(spec(nil), c.query))).Panels[1].Targets[0]
			require.Equal(t, "A", target["refId"])
			require.NotEmpty(t, target["datasource"].(map[string]any)["uid"])
			for key, value := range c.want {
				require.Equal(t, value, target[key], key)
			}
		})
	}
}

func TestEmptyWhenHealthySurvivesRendering(t *testing.T) {
	marked := render(t, boardOf(series(func(s *panel.Spec) { s.EmptyWhenHealthy = "a full queue." }))).Panels[1]
	require.Equal(t, "a full queue.", panel.EmptyWhenHealthy(marked.Description))
	require.Equal(t, "none", marked.Config.Defaults.NoValue)
	require.Empty(t, panel.EmptyWhenHealthy(render(t, boardOf(series(nil))).Panels[1].Description))
}

func TestLinksKeepGrafanaVariables(t *testing.T) {
	host := panel.Field(platform.HostName)
	for _, link := range []panel.Link{
		panel.ToLogs("logs", `{"host.name"="`+host+`"}`),
		panel.ToProfile("profile", "p:c", `{host_name="`+host+`"}`),
		panel.ToTraces("traces", `{ resource.host.name = "`+host+`" }`),
		panel.ToBoard("board", "other", map[string]string{"host": host}),
	} {
		require.Contains(t, link.URL, "${__field.labels.host_name}", link.Title)
		require.False(t, strings.ContainsAny(link.URL, `" `), "%s is not escaped", link)
	}
	require.Contains(t, panel.ToTraces("t", "${cluster:pipe}").URL, "${cluster:pipe}")
}
