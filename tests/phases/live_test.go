package phases_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/storetest"
	"github.com/emr-observatory/emr-observatory/rules"
	"github.com/emr-observatory/emr-observatory/tests/calibration"
)

// The bars of a live finding against those in the tables.
const (
	liveTolerance      = 2.0 // seconds
	liveToleranceShare = 0.1
)

// requireLive requires that the rules with both halves judge the run by its metrics, on a real
// store, as they do by its log: the same findings, with the same cost. It returns the rules that
// find something live, those that claim most time first.
func (r *run) requireLive(t *testing.T, judged calibration.Judged) (fired []rules.ID) {
	t.Helper()
	id := r.application(t)
	r.awaitEnd(t, id)
	store, at := r.storeMetrics(t), time.Now()
	costs := map[rules.ID]float64{} // in seconds, core-hours or how often
	for _, f := range judged.Findings {
		switch {
		case f.Impact != nil:
			costs[rules.ID(f.Finding)] += float64(*f.Impact) / 1e3
		case f.CoreHours != nil:
			costs[rules.ID(f.Finding)] += *f.CoreHours
		default:
			costs[rules.ID(f.Finding)] += *f.Value
		}
	}
	var differences []string
	claims := map[rules.ID]float64{} // live, in seconds
	for _, rule := range rules.All() {
		if rule.Query == (rules.Query{}) || len(rule.Columns) == 0 || rule.Live != nil && rule.Query.Impact == "" {
			continue // it has one half, or its halves judge different signals
		}
		live, found := 0.0, storetest.Ask(t, store, rule.Found("", rules.LiveWindow), at.Add(time.Second))
		require.LessOrEqual(t, len(found), 1)
		if len(found) == 1 {
			live = found[0].Number
			fired = append(fired, rule.ID)
			if rule.Query.Impact != "" {
				claims[rule.ID] = live
			}
		}
		cost, has := costs[rule.ID]
		bar := 0.0                   // of what is counted
		if rule.Query.Impact != "" { // a finding of little more than the least cost may be missing
			bar = max(liveTolerance, liveToleranceShare*cost)
		}
		if len(found) > 0 || has {
			t.Logf("%s: %s: %.1f live, %.1f in the tables", r.name, rule.ID, live, cost)
		}
		if math.Abs(live-cost) > bar {
			differences = append(differences, fmt.Sprintf("%s: %.1f live (%t), %.1f in the tables (%t)", rule.ID, live, len(found) > 0, cost, has))
		}
	}
	if text := strings.Join(differences, "\n"); text != "" {
		t.Errorf("%s: %s", r.name, text)
	}
	slices.SortStableFunc(fired, func(a, b rules.ID) int { return cmp.Compare(claims[b], claims[a]) })
	return fired
}
