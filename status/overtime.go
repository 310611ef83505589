package status

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/report"
)

const (
	moments      = 60               // of a page, at most
	metricsEvery = 10 * time.Second // drivers send so often
)

// addMoments adds what an application's metrics say over its time: its phase, and its executors by
// state. The event log has neither; metrics that have expired leave both out.
func (s Source) addMoments(ctx context.Context, page *report.Application) error {
	from, to := page.Begin(), page.Ended
	if to.IsZero() {
		to = time.Now()
	}
	step := max(metricsEvery, to.Sub(from)/moments).Round(time.Second)
	if from.IsZero() || to.Sub(from) < 2*metricsEvery {
		return nil
	}
	of := fmt.Sprintf("{%s=%q}[%s]", platform.SparkAppID.Metric(), page.ID, seconds(step+metricsEvery))
	all := map[int64]*report.Moment{}
	at := func(unix float64) *report.Moment {
		key := int64(unix)
		if all[key] == nil {
			all[key] = &report.Moment{At: time.Unix(key, 0).UTC(), Executors: map[string]float64{}}
		}
		return all[key]
	}
	phases, err := s.queryRange(ctx, "max(last_over_time("+platform.MetricPhaseState+of+"))", from, to, step)
	if err != nil {
		return fmt.Errorf("read the phases over time: %w", err)
	}
	names := platform.Phases()
	for _, series := range phases {
		for _, v := range series.values {
			if n := int(v.number); n >= 0 && n < len(names) {
				at(v.at).Phase = names[n]
			}
		}
	}
	byState := fmt.Sprintf("max by (%s) (last_over_time(%s%s))", platform.ExecutorState, platform.MetricExecutorCount, of)
	counts, err := s.queryRange(ctx, byState, from, to, step)
	if err != nil {
		return fmt.Errorf("read the executors over time: %w", err)
	}
	for _, series := range counts {
		for _, v := range series.values {
			at(v.at).Executors[series.labels[platform.ExecutorState]] = v.number
		}
	}
	page.Every = step
	for unix := from; !unix.After(to.Add(step)); unix = unix.Add(step) {
		if m := all[unix.Unix()]; m != nil {
			page.Moments = append(page.Moments, *m)
		}
	}
	return nil
}

// series is a series over time.
type series struct {
	labels map[string]string
	values []value
}

type value struct{ at, number float64 } // at is in Unix seconds

// queryRange evaluates an expression at each step of a time range.
func (s Source) queryRange(ctx context.Context, expression string, from, to time.Time, step time.Duration) ([]series, error) {
	var response struct {
		Data struct {
			Result []struct {
				Metric map[string]string
				Values [][2]any
			}
		}
	}
	at := strings.TrimSuffix(s.Config.Endpoints[platform.WorkloadVictoriaMetrics].URL, "/") + "/api/v1/query_range"
	err := s.ask(ctx, at, url.Values{
		"query": {expression}, "start": {strconv.FormatInt(from.Unix(), 10)}, "end": {strconv.FormatInt(to.Unix(), 10)},
		"step": {seconds(step)}, "nocache": {"1"},
	}, &response)
	if err != nil {
		return nil, err
	}
	var all []series
	for _, result := range response.Data.Result {
		one := series{labels: result.Metric}
		for _, pair := range result.Values {
			unix, is := pair[0].(float64)
			text, isText := pair[1].(string)
			number, err := strconv.ParseFloat(text, 64)
			if !is || !isText || err != nil {
				return nil, fmt.Errorf("a value of %s is %v: it must be a time and a number", expression, pair)
			}
			one.values = append(one.values, value{unix, number})
		}
		all = append(all, one)
	}
	return all, nil
}
