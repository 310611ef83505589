package check

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
)

// profilesStore is Pyroscope, queried through its querier's JSON API.
type profilesStore struct{ client }

// profileRequest is of querier.v1 (SelectSeries, SelectMergeStacktraces).
type profileRequest struct {
	ProfileTypeID string   `json:"profileTypeID"`
	LabelSelector string   `json:"labelSelector"`
	Start         string   `json:"start"` // milliseconds
	End           string   `json:"end"`
	Step          float64  `json:"step,omitempty"` // seconds
	GroupBy       []string `json:"groupBy,omitempty"`
}

func (s profilesStore) query(ctx context.Context, selector string, t target, w window) (finding, error) {
	request := profileRequest{
		ProfileTypeID: t.ProfileTypeID, LabelSelector: selector,
		Start: strconv.FormatInt(w.since.UnixMilli(), 10), End: strconv.FormatInt(w.until.UnixMilli(), 10),
	}
	switch t.QueryType {
	case "metrics":
		return s.series(ctx, request, t, w)
	case "profile":
		return s.stacks(ctx, request)
	case "both":
		found, err := s.series(ctx, request, t, w)
		if err != nil || found.samples == 0 {
			return found, err
		}
		return s.stacks(ctx, request)
	}
	return finding{}, fmt.Errorf("query type %q: the check supports metrics, profile and both", t.QueryType)
}

// call sends a request to a method of Pyroscope's querier API.
func (s profilesStore) call(ctx context.Context, method string, request profileRequest, into any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("encode request: %w", err)
	}
	answer, err := s.post(ctx, "/querier.v1.QuerierService/"+method, "application/json", body)
	if err != nil {
		return err
	}
	return decode(answer, into)
}

// series runs a query for a time series.
func (s profilesStore) series(ctx context.Context, request profileRequest, t target, w window) (finding, error) {
	request.Step, request.GroupBy = w.step.Seconds(), t.GroupBy
	var answer seriesAnswer
	if err := s.call(ctx, "SelectSeries", request, &answer); err != nil {
		return finding{}, err
	}
	return answer.nonZero(w.since), nil // a point at the end of its step may lie after the window
}

// stacks runs a query for a flame graph. The number of functions counts as samples.
func (s profilesStore) stacks(ctx context.Context, request profileRequest) (finding, error) {
	var answer struct {
		Flamegraph struct {
			Names []string `json:"names"`
			Total int64    `json:"total,string"`
		} `json:"flamegraph"`
	}
	if err := s.call(ctx, "SelectMergeStacktraces", request, &answer); err != nil {
		return finding{}, err
	}
	if answer.Flamegraph.Total == 0 {
		return finding{}, nil
	}
	return finding{samples: len(answer.Flamegraph.Names), series: 1}, nil
}
