package check

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"
)

// logsStore is VictoriaLogs; every request carries the window, so whatever
// comes back was written within it.
type logsStore struct{ client }

// defaultLines is the plugin's limit where the query names none.
const defaultLines = 1000

func (s logsStore) query(ctx context.Context, expr string, t target, w window) (finding, error) {
	params := url.Values{
		"query": {expr},
		"start": {w.since.UTC().Format(time.RFC3339Nano)}, "end": {w.until.UTC().Format(time.RFC3339Nano)},
	}
	step := strconv.FormatInt(int64(w.step/time.Second), 10) + "s"
	switch t.QueryType {
	case "", "instant":
		lines := t.MaxLines
		if lines == 0 {
			lines = defaultLines
		}
		params.Set("limit", strconv.Itoa(lines))
		body, err := s.form(ctx, "/select/logsql/query", params)
		return finding{samples: rows(body), series: min(rows(body), 1)}, err
	case "stats":
		params.Set("time", w.until.UTC().Format(time.RFC3339Nano))
		return s.stats(ctx, "/select/logsql/stats_query", params, w)
	case "statsRange":
		params.Set("step", step)
		return s.stats(ctx, "/select/logsql/stats_query_range", params, w)
	case "hits":
		params.Set("step", step)
		return s.hits(ctx, params)
	}
	return finding{}, fmt.Errorf("query type %q: this check runs instant, stats, statsRange and hits", t.QueryType)
}

func rows(body []byte) int {
	count := 0
	for line := range bytes.Lines(body) {
		if len(bytes.TrimSpace(line)) > 0 {
			count++
		}
	}
	return count
}

func (s logsStore) stats(ctx context.Context, path string, params url.Values, w window) (finding, error) {
	body, err := s.form(ctx, path, params)
	if err != nil {
		return finding{}, err
	}
	var answer promAnswer
	if err := decode(body, &answer); err != nil {
		return finding{}, err
	}
	// A bucket begins on a multiple of the step and so may lie before the
	// window; the lines in it do not. A count of zero is no data.
	for i, series := range answer.Data.Result {
		kept := series.Values[:0]
		for _, point := range series.Values {
			if point.value != "0" {
				kept = append(kept, point)
			}
		}
		answer.Data.Result[i].Values = kept
		if series.Value.value == "0" {
			answer.Data.Result[i].Value.value = ""
		}
	}
	return answer.points(w.since.Add(-w.step)), answer.err()
}

func (s logsStore) hits(ctx context.Context, params url.Values) (finding, error) {
	body, err := s.form(ctx, "/select/logsql/hits", params)
	if err != nil {
		return finding{}, err
	}
	var answer struct {
		Hits []struct {
			Total int `json:"total"`
		} `json:"hits"`
	}
	if err := decode(body, &answer); err != nil {
		return finding{}, err
	}
	var found finding
	for _, hit := range answer.Hits {
		if hit.Total > 0 {
			found.series++
			found.samples += hit.Total
		}
	}
	return found, nil
}
