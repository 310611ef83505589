package check

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/VictoriaMetrics/metricsql"
)

// metricsStore is VictoriaMetrics.
type metricsStore struct{ client }

func seconds(t time.Time) string { return strconv.FormatFloat(float64(t.UnixMilli())/1000, 'f', 3, 64) }

// query evaluates the query as Grafana does, and then counts the raw samples
// behind the result: a lookback window may fill a result with older samples.
func (s metricsStore) query(ctx context.Context, expr string, instant bool, w window) (finding, error) {
	answer, err := s.evaluate(ctx, expr, instant, w)
	if err != nil {
		return finding{}, err
	}
	found := answer.points(w.since)
	if found.samples == 0 {
		return found, nil
	}
	raw, fresh, err := s.rawSamples(ctx, expr, w)
	if err != nil {
		return finding{}, err
	}
	found.samples, found.stale = raw, !fresh
	return found, nil
}

func (s metricsStore) evaluate(ctx context.Context, expr string, instant bool, w window) (promResponse, error) {
	path, params := "/api/v1/query_range", url.Values{
		"query": {expr}, "step": {strconv.FormatInt(int64(w.step/time.Second), 10)},
		"start": {seconds(w.since.Truncate(w.step))}, "end": {seconds(w.until)},
	}
	if instant {
		path, params = "/api/v1/query", url.Values{"query": {expr}, "time": {seconds(w.until)}}
	}
	body, err := s.postForm(ctx, path, params)
	if err != nil {
		return promResponse{}, err
	}
	var answer promResponse
	if err := decode(body, &answer); err != nil {
		return promResponse{}, err
	}
	return answer, answer.err()
}

// rawSamples counts the samples within the window that each selector of the
// query matches. The result is fresh if each of them matched some, or at least
// one where the query chooses between operands (or, unless, default …). A query
// without selectors has no data. One that looks back on purpose (offset) or
// for missing series (absent) is fresh if it has a result at all.
func (s metricsStore) rawSamples(ctx context.Context, expr string, w window) (int, bool, error) {
	selectors, choice, byResult, err := selectors(expr)
	if err != nil {
		return 0, false, err
	}
	total, matched := 0, 0
	for _, selector := range selectors {
		count, err := s.count(ctx, selector, w)
		if err != nil {
			return 0, false, err
		}
		total += count
		if count > 0 {
			matched++
		}
	}
	if byResult {
		return max(total, 1), true, nil
	}
	return total, matched > 0 && (choice || matched == len(selectors)), nil
}

func (s metricsStore) count(ctx context.Context, selector string, w window) (int, error) {
	expr := fmt.Sprintf("sum(count_over_time(%s[%dms]))", selector, w.until.Sub(w.since).Milliseconds())
	answer, err := s.evaluate(ctx, expr, true, w)
	if err != nil {
		return 0, fmt.Errorf("count samples: %w", err)
	}
	total := 0.0
	for _, series := range answer.Data.Result {
		value, err := strconv.ParseFloat(series.Value.value, 64)
		if err != nil {
			return 0, fmt.Errorf("count samples: %w", err)
		}
		total += value
	}
	return int(total), nil
}

// selectors lists the metric selectors of a query. choice means that it chooses
// between operands, byResult that its selectors do not decide whether its
// result is fresh.
func selectors(expr string) (found []string, choice, byResult bool, err error) {
	parsed, err := metricsql.Parse(expr)
	if err != nil {
		return nil, false, false, fmt.Errorf("parse query: %w", err)
	}
	seen := map[string]bool{}
	metricsql.VisitAll(parsed, func(e metricsql.Expr) {
		switch e := e.(type) {
		case *metricsql.MetricExpr:
			text := string(e.AppendString(nil))
			if !seen[text] {
				seen[text] = true
				found = append(found, text)
			}
		case *metricsql.BinaryOpExpr:
			switch e.Op {
			case "or", "unless", "default", "if", "ifnot":
				choice = true
			}
		case *metricsql.FuncExpr:
			switch e.Name {
			case "absent", "absent_over_time":
				byResult = true
			case "union":
				choice = true
			}
		case *metricsql.RollupExpr:
			if e.Offset != nil || e.At != nil {
				byResult = true
			}
		}
	})
	return found, choice, byResult, nil
}

// labelValues lists the values of a label as Grafana requests them, and those
// of samples within the window.
func (s metricsStore) labelValues(ctx context.Context, selector, label string, w window) (listed, fresh []string, err error) {
	params := url.Values{"start": {seconds(w.since)}, "end": {seconds(w.until)}}
	if selector != "" {
		params.Set("match[]", selector)
	}
	body, err := s.get(ctx, "/api/v1/label/"+url.PathEscape(label)+"/values", params)
	if err != nil {
		return nil, nil, err
	}
	var answer struct {
		Data []string `json:"data"`
	}
	if err := decode(body, &answer); err != nil {
		return nil, nil, err
	}
	if selector == "" {
		selector = fmt.Sprintf(`{%s!=""}`, label)
	}
	expr := fmt.Sprintf("group by (%s) (count_over_time(%s[%dms]))", label, selector, w.until.Sub(w.since).Milliseconds())
	counted, err := s.evaluate(ctx, expr, true, w)
	if err != nil {
		return nil, nil, fmt.Errorf("count samples: %w", err)
	}
	for _, series := range counted.Data.Result {
		if value := series.Metric[label]; value != "" {
			fresh = append(fresh, value)
		}
	}
	return answer.Data, fresh, nil
}
