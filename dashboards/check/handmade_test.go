package check_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/dashboards"
	"github.com/emr-observatory/emr-observatory/dashboards/check"
	"github.com/emr-observatory/emr-observatory/dashboards/contract"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
)

// board returns a hand-written dashboard with one panel per query.
func board(t *testing.T, variables []any, targets ...map[string]any) []dashboards.Dashboard {
	t.Helper()
	panels := []any{}
	for i, target := range targets {
		target["refId"] = "A"
		panels = append(panels, map[string]any{
			"title": fmt.Sprintf("panel %d", i), "type": "timeseries", "targets": []any{target},
			"fieldConfig": map[string]any{"defaults": map[string]any{"unit": target["unit"]}},
		})
	}
	raw, err := json.Marshal(map[string]any{"panels": panels, "templating": map[string]any{"list": variables}})
	require.NoError(t, err)
	return []dashboards.Dashboard{{Slug: "hand-made", JSON: raw}}
}

// queryOf adds a datasource to a query's fields.
func queryOf(plugin string, fields map[string]any) map[string]any {
	fields["datasource"] = map[string]any{"type": plugin, "uid": "any"}
	return fields
}

// fields are a query's fields besides its datasource.
type fields = map[string]any

// handMade is a query of a hand-made dashboard and its expected result.
type handMade struct {
	name   string
	target fields
	want   check.State
	reason string
}

func handMadeCases() []handMade {
	const metrics, logs, tempo, pyroscope = panel.PluginMetrics, panel.PluginLogs, panel.PluginTraces, panel.PluginProfiles
	const cpu = contract.ProfileCPU
	return []handMade{
		{"data", queryOf(metrics, fields{"expr": "system_cpu_logical_count"}), check.Data, ""},
		{"unknown metric", queryOf(metrics, fields{"expr": "node_cpu_seconds_total"}), check.Empty, ""},
		{
			"what no job did", queryOf(metrics, fields{"expr": `sum(rate(hadoop_s3a_store_io_request_total{cluster="other"}[1m]))`}),
			check.Empty, "there is data only if a job used the S3A file system",
		},
		{"only NaN", queryOf(metrics, fields{"expr": "system_cpu_logical_count * NaN"}), check.Empty, ""},
		{"constant", queryOf(metrics, fields{"expr": "vector(0)"}), check.Empty, ""},
		{"empty with a default", queryOf(metrics, fields{"expr": "node_cpu_seconds_total or vector(0)"}), check.Empty, ""},
		{"one operand has data", queryOf(metrics, fields{"expr": "node_cpu_seconds_total or system_cpu_logical_count"}), check.Data, ""},
		{"absent", queryOf(metrics, fields{"expr": "absent(node_cpu_seconds_total)", "instant": true}), check.Data, ""},
		{
			"share", queryOf(metrics, fields{"expr": "system_cpu_logical_count / (system_cpu_logical_count + 1)", "unit": panel.UnitShare}),
			check.Data, "",
		},
		{
			"share above one",
			queryOf(metrics, fields{"expr": "(system_cpu_logical_count + 1) * 2 / system_cpu_logical_count", "unit": panel.UnitShare}),
			check.Failed, "a share of",
		},
		{
			"share below zero", queryOf(metrics, fields{"expr": "1 - system_cpu_logical_count - 1", "unit": panel.UnitShare}),
			check.Failed, "a share of -",
		},
		{"broken query", queryOf(metrics, fields{"expr": "sum(rate("}), check.Failed, "unexpected token"},
		{"unknown variable", queryOf(metrics, fields{"expr": `up{job="$job"}`}), check.Failed, "$job is not a variable"},
		{"unknown datasource type", queryOf("loki", map[string]any{"expr": "{}"}), check.Failed, `datasource type "loki"`},
		{"log lines", queryOf(logs, fields{"expr": "*", "queryType": "instant"}), check.Data, ""},
		{"no log lines", queryOf(logs, fields{"expr": "severity:=DEBUG", "queryType": "instant"}), check.Empty, ""},
		{"count of none", queryOf(logs, fields{"expr": "severity:=DEBUG | stats count() n", "queryType": "stats"}), check.Empty, ""},
		{"count", queryOf(logs, fields{"expr": "* | stats count() n", "queryType": "stats"}), check.Data, ""},
		{"hits", queryOf(logs, fields{"expr": "*", "queryType": "hits"}), check.Data, ""},
		{"broken LogsQL", queryOf(logs, fields{"expr": "{", "queryType": "instant"}), check.Failed, "400"},
		{"unknown kind of log query", queryOf(logs, fields{"expr": "*", "queryType": "tail"}), check.Failed, `query type "tail"`},
		{"traces", queryOf(tempo, fields{"query": `{ name = "step wordcount" }`, "queryType": "traceql"}), check.Data, ""},
		{"no traces", queryOf(tempo, fields{"query": `{ name = "other" }`, "queryType": "traceql"}), check.Empty, ""},
		{"broken TraceQL", queryOf(tempo, fields{"query": `{ name = `, "queryType": "traceql"}), check.Failed, "400"},
		{
			"missing trace", queryOf(tempo, fields{"query": "0123456789abcdef0123456789abcdef", "queryType": "traceId"}),
			check.Failed, "it has no spans",
		},
		{
			"profile", queryOf(pyroscope, fields{"labelSelector": "{}", "profileTypeId": cpu, "queryType": "both", "groupBy": []string{}}),
			check.Data, "",
		},
		{
			"no profile", queryOf(pyroscope, fields{"labelSelector": `{cluster="other"}`, "profileTypeId": cpu, "queryType": "profile"}),
			check.Empty, "",
		},
		{"broken selector", queryOf(pyroscope, fields{"labelSelector": "{", "profileTypeId": cpu, "queryType": "profile"}), check.Failed, "400"},
	}
}

func (w filledStores) handMadeDashboards(t *testing.T) {
	since, until := w.since, w.until
	cases := handMadeCases()
	targets := make([]map[string]any, len(cases))
	for i, c := range cases {
		targets[i] = c.target
	}
	options := check.Options{Dashboards: board(t, nil, targets...), Endpoints: w.Endpoints, Since: since, Until: until}
	report := runUntil(t, options, func(r check.Report) bool {
		for i, c := range cases {
			if c.want == check.Data && resultOf(t, r, fmt.Sprintf("panel %d", i), "A").State != check.Data {
				return false
			}
		}
		return true
	})
	for i, c := range cases {
		result := resultOf(t, report, fmt.Sprintf("panel %d", i), "A")
		require.Equal(t, c.want, result.State, "%s: %+v", c.name, result)
		require.Contains(t, result.Error, c.reason, c.name)
	}
	require.Equal(t, len(cases), report.Panels)
	require.Equal(t, len(cases), report.Queries, "without variables there is one selection")

	var table strings.Builder
	report.WriteTable(&table, false)
	require.Contains(t, table.String(), "panel 1 ")
	require.NotContains(t, table.String(), "panel 0 ")
	require.Contains(t, table.String(), fmt.Sprintf("%d panels, %d queries", len(cases), len(cases)))
	require.Contains(t, table.String(), "An empty query has no data since then: no job has done what it shows")
}

func (w filledStores) handMadeVariables(t *testing.T) {
	metrics := map[string]any{"type": "prometheus", "uid": "any"}
	variables := []any{
		map[string]any{"name": "datasource", "type": "datasource", "query": "prometheus"},
		map[string]any{"name": "share", "type": "custom", "query": "half : 0.5, all : 1"},
		map[string]any{
			"name": "role", "type": "query", "datasource": metrics, "query": "label_values(node_role)",
			"includeAll": true, "multi": true,
		},
		map[string]any{
			"name": "gone", "type": "query", "datasource": metrics, "query": `label_values(nothing{node_role=~"$role"}, host_name)`,
			"includeAll": true, "allValue": ".*",
		},
		map[string]any{"name": "fancy", "type": "query", "datasource": metrics, "query": "query_result(up)"},
	}
	boards := board(t, variables,
		queryOf("prometheus", map[string]any{"expr": `system_cpu_logical_count{node_role=~"$role",host_name=~"${gone:regex}"} * $share`}),
		queryOf("prometheus", map[string]any{"expr": `system_cpu_logical_count{node_role=~"${role:upside-down}"}`}))
	report, err := check.Run(context.Background(), check.Options{Dashboards: boards, Endpoints: w.Endpoints, Since: w.since, Until: w.until})
	require.NoError(t, err)
	require.Equal(t, check.Data, resultOf(t, report, check.VariablePanel, "$role").State)
	require.Equal(t, check.Empty, resultOf(t, report, check.VariablePanel, "$gone").State)
	require.Contains(t, resultOf(t, report, check.VariablePanel, "$fancy").Error, "query_result(up)")
	result := resultOf(t, report, "panel 0", "A")
	require.Equal(t, check.Data, result.State, "%+v", result)
	require.Equal(t, `system_cpu_logical_count{node_role=~"core",host_name=~".*"} * 0.5`, result.Expr)
	require.Contains(t, resultOf(t, report, "panel 1", "A").Error, "${role:upside-down}")
}
