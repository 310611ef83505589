package check

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// profilesStore is Pyroscope, asked through its querier's JSON API.
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
	return finding{}, fmt.Errorf("query type %q: this check runs metrics, profile and both", t.QueryType)
}

func (s profilesStore) ask(ctx context.Context, method string, request profileRequest, into any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("write request: %w", err)
	}
	answer, err := s.post(ctx, "/querier.v1.QuerierService/"+method, "application/json", body)
	if err != nil {
		return err
	}
	return decode(answer, into)
}

func (s profilesStore) series(ctx context.Context, request profileRequest, t target, w window) (finding, error) {
	request.Step, request.GroupBy = w.step.Seconds(), t.GroupBy
	var answer struct {
		Series []struct {
			Points []struct {
				At    int64   `json:"timestamp,string"` // milliseconds
				Value float64 `json:"value"`
			} `json:"points"`
		} `json:"series"`
	}
	if err := s.ask(ctx, "SelectSeries", request, &answer); err != nil {
		return finding{}, err
	}
	var found finding
	for _, series := range answer.Series {
		count := 0
		for _, point := range series.Points {
			// A point stands at the end of its step, which may lie after the window.
			if point.Value != 0 && !time.UnixMilli(point.At).Before(w.since) {
				count++
			}
		}
		if count > 0 {
			found.series++
			found.samples += count
		}
	}
	return found, nil
}

func (s profilesStore) stacks(ctx context.Context, request profileRequest) (finding, error) {
	var answer struct {
		Flamegraph struct {
			Names []string `json:"names"`
			Total int64    `json:"total,string"`
		} `json:"flamegraph"`
	}
	if err := s.ask(ctx, "SelectMergeStacktraces", request, &answer); err != nil {
		return finding{}, err
	}
	if answer.Flamegraph.Total == 0 {
		return finding{}, nil
	}
	return finding{samples: len(answer.Flamegraph.Names), series: 1}, nil
}
