package check

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"
)

// logsStore is VictoriaLogs. Every request carries the window, so all records
// in the response are within it.
type logsStore struct{ client }

// defaultLines is the plugin's limit for a query without one.
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
		body, err := s.postForm(ctx, "/select/logsql/query", params)
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
	return finding{}, fmt.Errorf("query type %q: the check supports instant, stats, statsRange and hits", t.QueryType)
}

// rows counts the records in a response, one per line.
func rows(body []byte) int {
	count := 0
	for line := range bytes.Lines(body) {
		if len(bytes.TrimSpace(line)) > 0 {
			count++
		}
	}
	return count
}

// stats runs a query with a stats pipe.
func (s logsStore) stats(ctx context.Context, path string, params url.Values, w window) (finding, error) {
	body, err := s.postForm(ctx, path, params)
	if err != nil {
		return finding{}, err
	}
	var answer promResponse
	if err := decode(body, &answer); err != nil {
		return finding{}, err
	}
	// A bucket starts at a multiple of the step and so possibly before the
	// window; its records do not. A count of zero is no data.
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

// hits counts the records of a query.
func (s logsStore) hits(ctx context.Context, params url.Values) (finding, error) {
	body, err := s.postForm(ctx, "/select/logsql/hits", params)
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
