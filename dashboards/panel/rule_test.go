package panel_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/rules"
)

func TestStepsOfLimits(t *testing.T) {
	for name, c := range map[string]struct {
		limit rules.Limit
		want  []panel.Limit
	}{
		"more is worse": {rules.Limit{Warn: 2, Critical: 4}, []panel.Limit{{Value: 2, Color: panel.Orange}, {Value: 4, Color: panel.Red}}},
		"less is worse": {
			rules.Limit{Warn: 0.2, Critical: 0.1},
			[]panel.Limit{{Value: -1, Color: panel.Red}, {Value: 0.1, Color: panel.Orange}, {Value: 0.2, Color: panel.Green}},
		},
		"one value": {rules.Limit{Warn: 1, Critical: 1}, []panel.Limit{{Value: 1, Color: panel.Red}}},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, panel.Steps(c.limit)) })
	}
}

// What runs is judged by the limit of its own signal, if a rule has one.
func TestStepsOfRules(t *testing.T) {
	for _, r := range rules.All() {
		limit := r.Limit
		if r.Live != nil {
			limit = r.Live.Limit
		}
		require.Equal(t, panel.Steps(limit), panel.StepsOf(r.ID), r.ID)
	}
}

func TestBadNamesTheLimit(t *testing.T) {
	for _, id := range []rules.ID{rules.GC, rules.LargeShuffleReads, rules.MasterDelay, rules.ResourceWait, rules.DiskLatency, rules.Skew} {
		running := rules.Get(id).Running()
		want := rules.Format(running.Warn, running.Unit) + " or more; from " + rules.Format(running.Critical, running.Unit) + " on, act."
		require.Equal(t, want, panel.Bad(id, "{warn} or more; from {critical} on, act."), id)
	}
	require.Equal(t, "Slow.", panel.Bad(rules.GC, "Slow."))
	require.Panics(t, func() { panel.Bad(rules.GC, "{limit} or more.") })
	require.Panics(t, func() { panel.Bad("none", "{warn} or more.") })
}
