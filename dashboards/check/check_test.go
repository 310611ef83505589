package check_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/dashboards"
	"github.com/emr-observatory/emr-observatory/dashboards/check"
	"github.com/emr-observatory/emr-observatory/dashboards/contract"
	"github.com/emr-observatory/emr-observatory/internal/storetest"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
)

func suite(t *testing.T) []dashboards.Dashboard {
	t.Helper()
	suite, err := dashboards.Suite()
	require.NoError(t, err)
	return suite
}

// runUntil runs the check until done: Tempo and Pyroscope show what they ingested
// only a moment later.
func runUntil(t *testing.T, options check.Options, done func(check.Report) bool) check.Report {
	t.Helper()
	var report check.Report
	_ = testenv.Poll(t.Context(), testenv.Arrival, 200*time.Millisecond, func(ctx context.Context) error {
		var err error
		report, err = check.Run(ctx, options)
		require.NoError(t, err)
		if !done(report) {
			return errors.New("not done")
		}
		return nil
	})
	return report
}

// resultOf returns the result of a query.
func resultOf(t *testing.T, r check.Report, panel, query string) check.Result {
	t.Helper()
	for _, result := range r.Results {
		if result.Panel == panel && result.Query == query {
			return result
		}
	}
	require.Fail(t, "no such result", "%s / %s", panel, query)
	return check.Result{}
}

// TestAgainstRealStores shares one set of stores among tests that only read.
func TestAgainstRealStores(t *testing.T) {
	w := newFilledStores(t)
	t.Run("every query of the suite finds data", w.suiteHasData)
	t.Run("hand-made dashboards", w.handMadeDashboards)
	t.Run("hand-made variables", w.handMadeVariables)
	t.Run("every query of VictoriaMetrics' own UI finds data", w.predefinedHaveData)
	t.Run("emitted metrics", w.emittedMetrics)
}

func (w filledStores) suiteHasData(t *testing.T) {
	since, until := w.since, w.until
	options := check.Options{Dashboards: suite(t), Endpoints: w.Endpoints, Since: since, Until: until}
	report := runUntil(t, options, func(r check.Report) bool { return r.Err() == nil })
	require.NoError(t, report.Err())
	require.Zero(t, report.Empty+report.Errors+report.ExpectedEmpty)
	require.Greater(t, report.Queries, 2*report.Panels, "both selections of each panel, and the variables")
	for _, result := range report.Results {
		require.Positive(t, result.Samples, "%+v", result)
		require.NotContains(t, result.Expr, "$", "%+v", result)
	}
	listed := resultOf(t, report, check.VariablePanel, "$application")
	require.Equal(t, 2, listed.Samples)

	for _, result := range report.Results {
		if result.Panel != "CPU usage" && result.Panel != "Failed and killed containers" {
			continue
		}
		hosts, interval := `host_name=~".*"`, "[40s]" // four times the hosts' collection interval
		clusters := `cluster=~"(` + clusterID + "|" + unnamedID + `)"`
		if result.Selection == check.SelectionListed {
			hosts, clusters = `host_name=~"(ip-10-0-0-11|ip-10-0-0-12)"`, `cluster=~"`+clusterID+`"`
		}
		require.Contains(t, result.Expr, clusters, "a cluster without a name is shown with all only")
		if result.Panel != "CPU usage" {
			interval = "[120s]" // the daemons are scraped every 30 s
		}
		require.Contains(t, result.Expr, hosts)
		require.Contains(t, result.Expr, interval)
	}

	// A host that does not exist has no data.
	options.Variables = map[string][]string{"host": {"ip-10-9-9-9"}}
	elsewhere, err := check.Run(context.Background(), options)
	require.NoError(t, err)
	require.Equal(t, check.Empty, resultOf(t, elsewhere, "CPU usage", "A").State)
	require.Equal(t, check.Empty, resultOf(t, elsewhere, "Latest log records", "A").State)
	require.Equal(t, check.ExpectedEmpty, resultOf(t, elsewhere, "Warnings and errors", "A").State)

	// Data from before the checked time does not count, though the store's lookback
	// still returns it.
	options.Variables, options.Since, options.Until = nil, until.Add(time.Second), until.Add(40*time.Second)
	later, err := check.Run(context.Background(), options)
	require.NoError(t, err)
	require.Positive(t, later.Empty)
	for _, result := range later.Results {
		require.Contains(t, []check.State{check.Empty, check.ExpectedEmpty}, result.State, "%+v", result)
	}
	require.Contains(t, resultOf(t, later, "Hosts by role", "A").Error, "before the checked time")
	require.ErrorContains(t, later.Err(), "emr-overview / CPU usage / A (all): empty")
}

// predefinedHaveData queries as VictoriaMetrics' own UI does, over everything. The peak
// of a rate does not depend on the step: the UI's own is far below a collection interval
// where the time range is short.
func (w filledStores) predefinedHaveData(t *testing.T) {
	files, err := dashboards.Predefined()
	require.NoError(t, err)
	require.Len(t, files, len(suite(t)))
	for _, body := range files {
		var board struct {
			Rows []struct {
				Panels []struct {
					Title string
					Expr  []string
				}
			}
		}
		require.NoError(t, json.Unmarshal([]byte(body), &board))
		require.NotEmpty(t, board.Rows)
		for _, row := range board.Rows {
			for _, p := range row.Panels {
				for _, expr := range p.Expr {
					peak, found := w.peak(t, expr, "10s")
					require.True(t, found, "%s: %s", p.Title, expr)
					if strings.Contains(expr, "rate(") || strings.Contains(expr, "increase") {
						short, _ := w.peak(t, expr, "700ms")
						require.LessOrEqual(t, short, max(1.5*peak, peak+1e-9), "%s: %s", p.Title, expr)
					}
				}
			}
		}
	}
}

// peak returns the largest value of a query over the filled time, and whether it has any.
func (w filledStores) peak(t *testing.T, expr, step string) (peak float64, found bool) {
	t.Helper()
	query := url.Values{"query": {expr}, "step": {step}, "start": {fmt.Sprint(w.since.Unix())}, "end": {fmt.Sprint(w.until.Unix())}}
	var answer struct {
		Data struct{ Result []struct{ Values [][2]any } }
	}
	require.NoError(t, json.Unmarshal(storetest.Get(t, w.Metrics+"/api/v1/query_range?"+query.Encode()), &answer))
	for _, series := range answer.Data.Result {
		for _, sample := range series.Values {
			value, err := strconv.ParseFloat(fmt.Sprint(sample[1]), 64)
			require.NoError(t, err)
			peak = max(peak, value)
			found = true
		}
	}
	return peak, found
}

func (w filledStores) emittedMetrics(t *testing.T) {
	storetest.Post(t, w.Metrics+"/api/v1/import/prometheus", "text/plain", fmt.Appendf(nil, "not_in_the_table 1 %d\n", w.until.UnixMilli()))
	storetest.Get(t, w.Metrics+"/internal/force_flush")
	found, err := check.Emitted(context.Background(), w.Metrics, w.since, w.until, nil)
	require.NoError(t, err)
	require.Equal(t, len(contract.Metrics()), found.Found)
	require.NoError(t, found.Err())
	require.Empty(t, found.Absent)
	require.Equal(t, []string{"not_in_the_table"}, found.Unlisted)

	later, err := check.Emitted(context.Background(), w.Metrics, w.until.Add(time.Second), w.until.Add(time.Minute), nil)
	require.NoError(t, err)
	require.Zero(t, later.Found)
	require.ErrorContains(t, later.Err(), "system_cpu_time_seconds_total")
	require.Contains(t, later.Absent, "hadoop_s3a_store_io_request_total")
}

// unreachable returns stores that refuse connections: nothing listens on port 1.
func unreachable() check.Endpoints {
	const store = "http://127.0.0.1:1"
	return check.Endpoints{Metrics: store, Logs: store, Traces: store, Profiles: store}
}

func TestRejectsEmptyInput(t *testing.T) {
	now := time.Now()
	endpoints := unreachable()
	_, err := check.Run(context.Background(), check.Options{Dashboards: board(t, nil), Endpoints: endpoints, Since: now.Add(-time.Minute)})
	require.ErrorContains(t, err, "nothing was checked")

	truncated := []dashboards.Dashboard{{Slug: "truncated", JSON: []byte(`{"panels":`)}}
	_, err = check.Run(context.Background(), check.Options{Dashboards: truncated, Endpoints: endpoints, Since: now.Add(-time.Minute)})
	require.ErrorContains(t, err, "read dashboard truncated")

	_, err = check.Run(context.Background(), check.Options{})
	for _, reason := range []string{
		"dashboards: none", "since: not set", "endpoints.metrics", "endpoints.logs", "endpoints.traces", "endpoints.profiles",
	} {
		require.ErrorContains(t, err, reason)
	}
	_, err = check.Run(context.Background(), check.Options{Dashboards: suite(t), Endpoints: endpoints, Since: now, Until: now.Add(-time.Hour)})
	require.ErrorContains(t, err, "is not before until")
}

func TestUnreachableStoreFailsItsQueries(t *testing.T) {
	report, err := check.Run(context.Background(), check.Options{
		Dashboards: suite(t), Since: time.Now().Add(-time.Minute),
		Endpoints: unreachable(),
	})
	require.NoError(t, err)
	require.Equal(t, report.Queries, report.Errors)
	require.ErrorContains(t, report.Err(), "connection refused")
}

func TestCancelledCheckNamesPanel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := check.Run(ctx, check.Options{
		Dashboards: suite(t), Since: time.Now().Add(-time.Minute),
		Endpoints: unreachable(),
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
