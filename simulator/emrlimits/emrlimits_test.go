package emrlimits_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/simulator/emrlimits"
)

func TestMoreTypesNeedAStrategyInEveryMarketOfEveryFleet(t *testing.T) {
	onDemand := emrlimits.Fleet{OnDemand: 1, OnDemandStrategy: true}
	both := emrlimits.Fleet{OnDemand: 1, OnDemandStrategy: true, Spot: 8, SpotStrategy: true}
	for name, c := range map[string]struct {
		fleets []emrlimits.Fleet
		most   int
	}{
		"all have one":                    {[]emrlimits.Fleet{onDemand, both}, 30},
		"of a market without a target":    {[]emrlimits.Fleet{onDemand, {Spot: 8, SpotStrategy: true}}, 30},
		"another fleet has none":          {[]emrlimits.Fleet{{OnDemand: 1}, both}, 5},
		"one of two markets has one":      {[]emrlimits.Fleet{onDemand, {OnDemand: 1, OnDemandStrategy: true, Spot: 8}}, 5},
		"the other one of the two market": {[]emrlimits.Fleet{onDemand, {OnDemand: 1, Spot: 8, SpotStrategy: true}}, 5},
	} {
		require.Equal(t, c.most, emrlimits.MaxTypesOf(c.fleets...), name)
	}
}
