package check

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"time"
)

// tracesStore is Tempo.
type tracesStore struct{ client }

// defaultTraces is Grafana's limit for a query without one.
const defaultTraces = 20

var (
	traceID      = regexp.MustCompile(`^[0-9a-fA-F]{16,32}$`)
	traceMetrics = regexp.MustCompile(`\|\s*(rate|(count|min|max|avg|sum|quantile|histogram)_over_time|compare)\s*\(`)
)

func (s tracesStore) query(ctx context.Context, expr string, t target, w window) (finding, error) {
	switch {
	case t.QueryType == "traceId" || traceID.MatchString(expr):
		return finding{samples: 1, series: 1}, s.open(ctx, expr)
	case traceMetrics.MatchString(expr):
		return s.metrics(ctx, expr, w)
	}
	return s.search(ctx, expr, t, w)
}

// search counts the traces that started within the window, and opens the first
// as a user would.
func (s tracesStore) search(ctx context.Context, expr string, t target, w window) (finding, error) {
	limit := t.Limit
	if limit == 0 {
		limit = defaultTraces
	}
	params := url.Values{
		"q": {expr}, "limit": {strconv.Itoa(limit)},
		"start": {strconv.FormatInt(w.since.Unix(), 10)}, "end": {strconv.FormatInt(w.until.Unix()+1, 10)},
	}
	if t.Spss > 0 {
		params.Set("spss", strconv.Itoa(t.Spss))
	}
	body, err := s.get(ctx, "/api/search", params)
	if err != nil {
		return finding{}, err
	}
	var answer struct {
		Traces []struct {
			TraceID string `json:"traceID"`
			Start   int64  `json:"startTimeUnixNano,string"`
		} `json:"traces"`
	}
	if err := decode(body, &answer); err != nil {
		return finding{}, err
	}
	var found finding
	for _, trace := range answer.Traces {
		if time.Unix(0, trace.Start).Before(w.since) {
			continue
		}
		if found.samples == 0 {
			if err := s.open(ctx, trace.TraceID); err != nil {
				return finding{}, err
			}
		}
		found.samples++
	}
	found.series = found.samples
	found.stale = found.samples == 0 && len(answer.Traces) > 0
	return found, nil
}

// open fetches one trace; a search may find a trace that cannot be read.
func (s tracesStore) open(ctx context.Context, id string) error {
	body, err := s.get(ctx, "/api/v2/traces/"+url.PathEscape(id), nil)
	if err != nil {
		return fmt.Errorf("open trace %s: %w", id, err)
	}
	var answer struct {
		Trace struct {
			ResourceSpans []any `json:"resourceSpans"`
		} `json:"trace"`
	}
	if err := decode(body, &answer); err != nil {
		return fmt.Errorf("open trace %s: %w", id, err)
	}
	if len(answer.Trace.ResourceSpans) == 0 {
		return fmt.Errorf("open trace %s: it has no spans", id)
	}
	return nil
}

func (s tracesStore) metrics(ctx context.Context, expr string, w window) (finding, error) {
	body, err := s.get(ctx, "/api/metrics/query_range", url.Values{
		"q": {expr}, "step": {strconv.FormatInt(int64(w.step/time.Second), 10) + "s"},
		"start": {strconv.FormatInt(w.since.Unix(), 10)}, "end": {strconv.FormatInt(w.until.Unix(), 10)},
	})
	if err != nil {
		return finding{}, err
	}
	var answer seriesAnswer
	if err := decode(body, &answer); err != nil {
		return finding{}, err
	}
	return answer.nonZero(w.since), nil
}
