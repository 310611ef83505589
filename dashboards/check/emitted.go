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

// Emission compares the table of emitted metrics with a store.
type Emission struct {
	Found    int      `json:"found"`    // entries of the table with a sample within the time
	Missing  []string `json:"missing"`  // series that are always there and were not
	Absent   []string `json:"absent"`   // series that appear only under a condition, which did not occur
	Unlisted []string `json:"unlisted"` // in the store but not in the table
}

// Emitted tells which metrics of the contract VictoriaMetrics at the base URL
// has samples of between since and until. A nil client is one with a timeout.
func Emitted(ctx context.Context, metrics string, since, until time.Time, c *http.Client) (Emission, error) {
	options := Options{Client: c, Until: until}.withDefaults()
	store := metricsStore{client{metrics, options.Client}}
	expr := fmt.Sprintf(`group by (__name__) (count_over_time({__name__!=""}[%dms]) keep_metric_names)`, until.Sub(since).Milliseconds())
	answer, err := store.ask(ctx, expr, true, newWindow(since, until))
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
