package check

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/dashboards/contract"
)

// Emission compares the contract with what a store has.
type Emission struct {
	Found    int      `json:"found"`    // entries of the contract with a sample within the time
	Missing  []string `json:"missing"`  // series that should always exist and did not
	Absent   []string `json:"absent"`   // series whose condition (Metric.OnlyIf) did not occur
	Unlisted []string `json:"unlisted"` // stored but not in the contract
}

// Err names the metrics that should have been emitted and were not. Unlisted
// ones are no error: the collectors keep more than the contract promises.
func (e Emission) Err() error {
	if len(e.Missing) == 0 {
		return nil
	}
	return fmt.Errorf("check emitted metrics: no samples of %s: fix the source or its entry in dashboards/contract",
		strings.Join(e.Missing, ", "))
}

// Emitted compares the contract's metrics with those that VictoriaMetrics at
// the base URL has samples of between since and until. A nil client is one with
// a timeout.
func Emitted(ctx context.Context, metrics string, since, until time.Time, c *http.Client) (Emission, error) {
	options := Options{Client: c, Until: until}.withDefaults()
	store := metricsStore{client{metrics, options.Client}}
	expr := fmt.Sprintf(`group by (__name__) (count_over_time({__name__!=""}[%dms]) keep_metric_names)`, until.Sub(since).Milliseconds())
	answer, err := store.evaluate(ctx, expr, true, newWindow(since, until))
	if err != nil {
		return Emission{}, fmt.Errorf("list emitted metrics: %w", err)
	}
	var stored []string
	for _, series := range answer.Data.Result {
		stored = append(stored, series.Metric["__name__"])
	}
	var e Emission
	listed := map[string]bool{}
	for _, m := range contract.Metrics() {
		found := false
		for _, name := range m.Series() {
			listed[name] = true
			switch {
			case slices.Contains(stored, name):
				found = true
			case m.OnlyIf != "":
				e.Absent = append(e.Absent, name)
			default:
				e.Missing = append(e.Missing, name)
			}
		}
		if found {
			e.Found++
		}
	}
	for _, name := range stored {
		if !listed[name] && name != "up" && !strings.HasPrefix(name, "scrape_") {
			e.Unlisted = append(e.Unlisted, name)
		}
	}
	slices.Sort(e.Unlisted)
	return e, nil
}
