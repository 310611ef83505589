package dashboards_test

import (
	"encoding/json"
	"testing"

	"github.com/VictoriaMetrics/metricsql"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/dashboards"
	"github.com/emr-observatory/emr-observatory/platform"
)

// VictoriaMetrics' UI shows every panel that queries metrics, with each of its
// queries, and no variable of Grafana's, which it would send as it is.
func TestPredefinedDashboardsShowEveryMetricPanel(t *testing.T) {
	files, err := dashboards.Predefined()
	require.NoError(t, err)
	suite := suite(t)
	require.Len(t, files, len(suite))
	for _, d := range suite {
		var have struct {
			Title, Filename string
			Rows            []struct {
				Panels []struct {
					Title, Description string
					Expr, Alias        []string
					Width              int
				}
			}
		}
		require.NoError(t, json.Unmarshal([]byte(files[d.UID+".json"]), &have))
		require.Equal(t, d.Title, have.Title)
		require.Equal(t, d.UID+".json", have.Filename)
		type shown struct {
			title   string
			queries int
		}
		var want, got []shown
		for _, p := range parse(t, d).Panels {
			if len(p.Targets) > 0 && p.Targets[0].Datasource.UID == string(platform.DatasourceMetrics) {
				want = append(want, shown{p.Title, len(p.Targets)})
			}
		}
		for _, row := range have.Rows {
			for _, p := range row.Panels {
				got = append(got, shown{p.Title, len(p.Expr)})
				require.Len(t, p.Alias, len(p.Expr), p.Title)
				require.NotEmpty(t, p.Description, p.Title)
				require.True(t, p.Width >= 4 && p.Width <= 12, p.Title)
				for _, expr := range p.Expr {
					require.NotContains(t, expr, "$", p.Title)
					_, err := metricsql.Parse(expr)
					require.NoError(t, err, p.Title)
				}
			}
		}
		require.NotEmpty(t, want)
		require.Equal(t, want, got)
	}
}
