package check_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/dashboards"
	"github.com/emr-observatory/emr-observatory/dashboards/check"
	"github.com/emr-observatory/emr-observatory/dashboards/contract"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
)

// within is how long the stores may take to show what they took.
const within = 60 * time.Second

func suite(t *testing.T) []dashboards.Dashboard {
	t.Helper()
	suite, err := dashboards.Suite()
	require.NoError(t, err)
	return suite
}

// settled runs the check until the stores show everything: Tempo and Pyroscope
// answer from what they have taken only a moment later.
func settled(t *testing.T, options check.Options, done func(check.Report) bool) check.Report {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	poll := time.NewTicker(200 * time.Millisecond)
	defer poll.Stop()
	for {
		report, err := check.Run(context.Background(), options)
		require.NoError(t, err)
		if done(report) {
			return report
		}
		select {
		case <-ctx.Done():
			return report
		case <-poll.C:
		}
	}
}

func state(t *testing.T, r check.Report, panel, query string) check.Result {
	t.Helper()
	for _, result := range r.Results {
		if result.Panel == panel && result.Query == query {
			return result
		}
	}
	require.Fail(t, "no such result", "%s / %s", panel, query)
	return check.Result{}
}

// One set of stores serves all that only reads them.
func TestAgainstRealStores(t *testing.T) {
	w := newWorld(t)
	t.Run("every query of the suite finds what the contract promises", w.suiteHasData)
	t.Run("hand-made dashboards", w.handMadeDashboards)
	t.Run("hand-made variables", w.handMadeVariables)
	t.Run("emitted metrics", w.emittedMetrics)
}

func (w world) suiteHasData(t *testing.T) {
	since, until := w.since, w.until
	options := check.Options{Dashboards: suite(t), Endpoints: w.Endpoints, Since: since, Until: until}
	report := settled(t, options, func(r check.Report) bool { return r.Err() == nil })
	require.NoError(t, report.Err())
	require.Zero(t, report.Empty+report.Errors+report.ExpectedEmpty)
	require.Greater(t, report.Queries, 2*report.Panels, "both selections of each panel, and the variables")
	for _, result := range report.Results {
		require.Positive(t, result.Samples, "%+v", result)
		require.NotContains(t, result.Expr, "$", "%+v", result)
	}
	listed := state(t, report, check.VariablePanel, "$application")
	require.Equal(t, 2, listed.Samples)

	for _, result := range report.Results {
		if result.Panel != "CPU busy" && result.Panel != "Containers failed or killed" {
			continue
		}
		hosts, interval := `host_name=~".*"`, "[40s]" // four times what the hosts are measured by
		if result.Selection == check.SelectionListed {
			hosts = `host_name=~"(ip-10-0-0-11|ip-10-0-0-12)"`
		}
		if result.Panel != "CPU busy" {
			interval = "[120s]" // the daemons are asked every half minute
		}
		require.Contains(t, result.Expr, hosts)
		require.Contains(t, result.Expr, interval)
	}

	// A host that does not exist has nothing of its own.
	options.Variables = map[string][]string{"host": {"ip-10-9-9-9"}}
	elsewhere, err := check.Run(context.Background(), options)
	require.NoError(t, err)
	require.Equal(t, check.Empty, state(t, elsewhere, "CPU busy", "A").State)
	require.Equal(t, check.Empty, state(t, elsewhere, "Latest lines", "A").State)
	require.Equal(t, check.ExpectedEmpty, state(t, elsewhere, "Warnings and errors", "A").State)

	// What was there before the checked time does not count, though the look-back
	// of the store still shows it.
	options.Variables, options.Since, options.Until = nil, until.Add(time.Second), until.Add(40*time.Second)
	later, err := check.Run(context.Background(), options)
	require.NoError(t, err)
	require.Positive(t, later.Empty)
	for _, result := range later.Results {
		require.Contains(t, []check.State{check.Empty, check.ExpectedEmpty}, result.State, "%+v", result)
	}
	require.Contains(t, state(t, later, "Hosts by role", "A").Error, "before the checked time")
	require.ErrorContains(t, later.Err(), "emr-overview / CPU busy / A (all): empty")
}

// board makes a hand-written dashboard with one panel per query.
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

func of(plugin string, fields map[string]any) map[string]any {
	fields["datasource"] = map[string]any{"type": plugin, "uid": "any"}
	return fields
}

func (w world) handMadeDashboards(t *testing.T) {
	since, until := w.since, w.until
	const metrics, logs, tempo, pyroscope = "prometheus", "victoriametrics-logs-datasource", "tempo", "grafana-pyroscope-datasource"
	cpu := "process_cpu:cpu:nanoseconds:cpu:nanoseconds"

	cases := []struct {
		name   string
		target map[string]any
		want   check.State
		fault  string
	}{
		{"data", of(metrics, map[string]any{"expr": "system_cpu_logical_count"}), check.Data, ""},
		{"unknown metric", of(metrics, map[string]any{"expr": "node_cpu_seconds_total"}), check.Empty, ""},
		{"only NaN", of(metrics, map[string]any{"expr": "system_cpu_logical_count * NaN"}), check.Empty, ""},
		{"constant", of(metrics, map[string]any{"expr": "vector(0)"}), check.Empty, ""},
		{"filled up", of(metrics, map[string]any{"expr": "node_cpu_seconds_total or vector(0)"}), check.Empty, ""},
		{"one side", of(metrics, map[string]any{"expr": "node_cpu_seconds_total or system_cpu_logical_count"}), check.Data, ""},
		{"absent", of(metrics, map[string]any{"expr": "absent(node_cpu_seconds_total)", "instant": true}), check.Data, ""},
		{"share", of(metrics, map[string]any{"expr": "system_cpu_logical_count / (system_cpu_logical_count + 1)", "unit": panel.UnitShare}), check.Data, ""},
		{"used by free", of(metrics, map[string]any{"expr": "(system_cpu_logical_count + 1) * 2 / system_cpu_logical_count", "unit": panel.UnitShare}), check.Failed, "a share of"},
		{"below nothing", of(metrics, map[string]any{"expr": "1 - system_cpu_logical_count - 1", "unit": panel.UnitShare}), check.Failed, "a share of -"},
		{"broken query", of(metrics, map[string]any{"expr": "sum(rate("}), check.Failed, "unexpected token"},
		{"unknown variable", of(metrics, map[string]any{"expr": `up{job="$job"}`}), check.Failed, "$job is no variable"},
		{"old names are no datasource", of("loki", map[string]any{"expr": "{}"}), check.Failed, `datasource type "loki"`},
		{"log lines", of(logs, map[string]any{"expr": "*", "queryType": "instant"}), check.Data, ""},
		{"no log lines", of(logs, map[string]any{"expr": "severity:=DEBUG", "queryType": "instant"}), check.Empty, ""},
		{"count of none", of(logs, map[string]any{"expr": "severity:=DEBUG | stats count() n", "queryType": "stats"}), check.Empty, ""},
		{"count", of(logs, map[string]any{"expr": "* | stats count() n", "queryType": "stats"}), check.Data, ""},
		{"hits", of(logs, map[string]any{"expr": "*", "queryType": "hits"}), check.Data, ""},
		{"broken LogsQL", of(logs, map[string]any{"expr": "{", "queryType": "instant"}), check.Failed, "400"},
		{"unknown kind of log query", of(logs, map[string]any{"expr": "*", "queryType": "tail"}), check.Failed, `query type "tail"`},
		{"traces", of(tempo, map[string]any{"query": `{ name = "step wordcount" }`, "queryType": "traceql"}), check.Data, ""},
		{"no traces", of(tempo, map[string]any{"query": `{ name = "other" }`, "queryType": "traceql"}), check.Empty, ""},
		{"broken TraceQL", of(tempo, map[string]any{"query": `{ name = `, "queryType": "traceql"}), check.Failed, "400"},
		{"trace that is not there", of(tempo, map[string]any{"query": "0123456789abcdef0123456789abcdef", "queryType": "traceId"}), check.Failed, "it has no spans"},
		{"profile", of(pyroscope, map[string]any{"labelSelector": "{}", "profileTypeId": cpu, "queryType": "both", "groupBy": []string{}}), check.Data, ""},
		{"no profile", of(pyroscope, map[string]any{"labelSelector": `{cluster="other"}`, "profileTypeId": cpu, "queryType": "profile"}), check.Empty, ""},
		{"broken selector", of(pyroscope, map[string]any{"labelSelector": "{", "profileTypeId": cpu, "queryType": "profile"}), check.Failed, "400"},
	}
	targets := make([]map[string]any, len(cases))
	for i, c := range cases {
		targets[i] = c.target
	}
	report := settled(t, check.Options{Dashboards: board(t, nil, targets...), Endpoints: w.Endpoints, Since: since, Until: until}, func(r check.Report) bool {
		for i, c := range cases {
			if c.want == check.Data && state(t, r, fmt.Sprintf("panel %d", i), "A").State != check.Data {
				return false
			}
		}
		return true
	})
	for i, c := range cases {
		result := state(t, report, fmt.Sprintf("panel %d", i), "A")
		require.Equal(t, c.want, result.State, "%s: %+v", c.name, result)
		require.Contains(t, result.Error, c.fault, c.name)
	}
	require.Equal(t, len(cases), report.Panels)
	require.Equal(t, len(cases), report.Queries, "without variables there is one selection")

	var table strings.Builder
	report.WriteTable(&table, false)
	require.Contains(t, table.String(), "panel 1 ")
	require.NotContains(t, table.String(), "panel 0 ")
	require.Contains(t, table.String(), fmt.Sprintf("%d panels, %d queries", len(cases), len(cases)))
}

func (w world) handMadeVariables(t *testing.T) {
	metrics := map[string]any{"type": "prometheus", "uid": "any"}
	variables := []any{
		map[string]any{"name": "datasource", "type": "datasource", "query": "prometheus"},
		map[string]any{"name": "share", "type": "custom", "query": "half : 0.5, all : 1"},
		map[string]any{"name": "role", "type": "query", "datasource": metrics, "query": "label_values(node_role)", "includeAll": true, "multi": true},
		map[string]any{"name": "gone", "type": "query", "datasource": metrics, "query": `label_values(nothing{node_role=~"$role"}, host_name)`, "includeAll": true, "allValue": ".*"},
		map[string]any{"name": "fancy", "type": "query", "datasource": metrics, "query": "query_result(up)"},
	}
	boards := board(t, variables,
		of("prometheus", map[string]any{"expr": `system_cpu_logical_count{node_role=~"$role",host_name=~"${gone:regex}"} * $share`}),
		of("prometheus", map[string]any{"expr": `system_cpu_logical_count{node_role=~"${role:upside-down}"}`}))
	report, err := check.Run(context.Background(), check.Options{Dashboards: boards, Endpoints: w.Endpoints, Since: w.since, Until: w.until})
	require.NoError(t, err)
	require.Equal(t, check.Data, state(t, report, check.VariablePanel, "$role").State)
	require.Equal(t, check.Empty, state(t, report, check.VariablePanel, "$gone").State)
	require.Contains(t, state(t, report, check.VariablePanel, "$fancy").Error, "query_result(up)")
	result := state(t, report, "panel 0", "A")
	require.Equal(t, check.Data, result.State, "%+v", result)
	require.Equal(t, `system_cpu_logical_count{node_role=~"core",host_name=~".*"} * 0.5`, result.Expr)
	require.Contains(t, state(t, report, "panel 1", "A").Error, "${role:upside-down}")
}

func (w world) emittedMetrics(t *testing.T) {
	post(t, w.Metrics+"/api/v1/import/prometheus", "text/plain", fmt.Appendf(nil, "not_in_the_table 1 %d\n", w.until.UnixMilli()))
	get(t, w.Metrics+"/internal/force_flush")
	found, err := check.Emitted(context.Background(), w.Metrics, w.since, w.until, nil)
	require.NoError(t, err)
	require.Equal(t, len(contract.Metrics()), found.Found)
	require.Empty(t, found.Missing)
	require.Empty(t, found.Absent)
	require.Equal(t, []string{"not_in_the_table"}, found.Unlisted)

	later, err := check.Emitted(context.Background(), w.Metrics, w.until.Add(time.Second), w.until.Add(time.Minute), nil)
	require.NoError(t, err)
	require.Zero(t, later.Found)
	require.Contains(t, later.Missing, "system_cpu_time_seconds_total")
	require.Contains(t, later.Absent, "hadoop_s3a_store_io_request_total")
}

func TestNothingToCheckIsAnError(t *testing.T) {
	now := time.Now()
	endpoints := check.Endpoints{Metrics: "http://127.0.0.1:1", Logs: "http://127.0.0.1:1", Traces: "http://127.0.0.1:1", Profiles: "http://127.0.0.1:1"}
	_, err := check.Run(context.Background(), check.Options{Dashboards: board(t, nil), Endpoints: endpoints, Since: now.Add(-time.Minute)})
	require.ErrorContains(t, err, "nothing was checked")

	_, err = check.Run(context.Background(), check.Options{Dashboards: []dashboards.Dashboard{{Slug: "torn", JSON: []byte(`{"panels":`)}}, Endpoints: endpoints, Since: now.Add(-time.Minute)})
	require.ErrorContains(t, err, "read dashboard torn")

	_, err = check.Run(context.Background(), check.Options{})
	for _, fault := range []string{"dashboards: none", "since: not set", "endpoints.metrics", "endpoints.logs", "endpoints.traces", "endpoints.profiles"} {
		require.ErrorContains(t, err, fault)
	}
	_, err = check.Run(context.Background(), check.Options{Dashboards: suite(t), Endpoints: endpoints, Since: now, Until: now.Add(-time.Hour)})
	require.ErrorContains(t, err, "is not before until")
}

func TestAStoreThatIsAwayFailsEachOfItsQueries(t *testing.T) {
	gone := "http://127.0.0.1:1" // nothing listens on port 1
	report, err := check.Run(context.Background(), check.Options{
		Dashboards: suite(t), Since: time.Now().Add(-time.Minute),
		Endpoints: check.Endpoints{Metrics: gone, Logs: gone, Traces: gone, Profiles: gone},
	})
	require.NoError(t, err)
	require.Equal(t, report.Queries, report.Errors)
	require.ErrorContains(t, report.Err(), "connection refused")
}

func TestStoppedCheckSaysWhere(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	gone := "http://127.0.0.1:1"
	_, err := check.Run(ctx, check.Options{
		Dashboards: suite(t), Since: time.Now().Add(-time.Minute),
		Endpoints: check.Endpoints{Metrics: gone, Logs: gone, Traces: gone, Profiles: gone},
	})
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, `stopped at panel "Hosts by role"`)
}

func TestReportAsJSON(t *testing.T) {
	raw, err := json.Marshal(check.Report{Panels: 1, Queries: 2, Results: []check.Result{{State: check.ExpectedEmpty}}})
	require.NoError(t, err)
	var keys map[string]any
	require.NoError(t, json.Unmarshal(raw, &keys))
	for _, key := range []string{"panels", "queries", "empty", "errors", "results"} {
		require.Contains(t, keys, key)
	}
	result := keys["results"].([]any)[0].(map[string]any)
	require.Equal(t, "expected-empty", result["state"])
	for _, key := range []string{"dashboard", "panel", "query", "datasource", "expr", "samples", "series"} {
		require.Contains(t, result, key)
	}
}
