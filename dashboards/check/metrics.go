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

// query asks as Grafana does, and then counts the raw samples behind the
// answer: a look-back window may fill an answer with what was measured before.
func (s metricsStore) query(ctx context.Context, expr string, instant bool, w window) (finding, error) {
	answer, err := s.ask(ctx, expr, instant, w)
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

func (s metricsStore) ask(ctx context.Context, expr string, instant bool, w window) (promAnswer, error) {
	path, params := "/api/v1/query_range", url.Values{
		"query": {expr}, "step": {strconv.FormatInt(int64(w.step/time.Second), 10)},
		"start": {seconds(w.since.Truncate(w.step))}, "end": {seconds(w.until)},
	}
	if instant {
		path, params = "/api/v1/query", url.Values{"query": {expr}, "time": {seconds(w.until)}}
	}
	body, err := s.form(ctx, path, params)
	if err != nil {
		return promAnswer{}, err
	}
	var answer promAnswer
	if err := decode(body, &answer); err != nil {
		return promAnswer{}, err
	}
	return answer, answer.err()
}

// rawSamples counts the samples within the window that each selector of the
// query matches. The query rests on fresh data if each of them matched some,
// or one of them where the query chooses between sides (or, unless, default …).
// A query without selectors has no data; one that looks back on purpose
// (offset) or for what is missing (absent) is fresh by its answer alone.
func (s metricsStore) rawSamples(ctx context.Context, expr string, w window) (int, bool, error) {
	selectors, choice, byAnswer, err := selectors(expr)
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
	if byAnswer {
		return max(total, 1), true, nil
	}
	return total, matched > 0 && (choice || matched == len(selectors)), nil
}

func (s metricsStore) count(ctx context.Context, selector string, w window) (int, error) {
	expr := fmt.Sprintf("sum(count_over_time(%s[%dms]))", selector, w.until.Sub(w.since).Milliseconds())
	answer, err := s.ask(ctx, expr, true, w)
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

// selectors lists the metric selectors of a query. choice tells that it picks
// between sides; byAnswer that no selector says whether its answer is fresh.
func selectors(expr string) (found []string, choice, byAnswer bool, err error) {
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
				byAnswer = true
			case "union":
				choice = true
			}
		case *metricsql.RollupExpr:
			if e.Offset != nil || e.At != nil {
				byAnswer = true
			}
		}
	})
	return found, choice, byAnswer, nil
}

// labelValues lists the values of a label, as Grafana asks for them, and of
// those the ones that a sample within the window has.
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
	counted, err := s.ask(ctx, expr, true, w)
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
