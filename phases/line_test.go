package phases_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/phases"
	"github.com/emr-observatory/emr-observatory/platform"
)

func TestLine(t *testing.T) {
	const wait, compute, write, driver = platform.PhaseResourceWait, platform.PhaseCompute, platform.PhaseWrite, platform.PhaseDriver
	for name, c := range map[string]struct {
		seconds     map[platform.Phase]float64
		approximate bool
		want        string
	}{
		"of the issue": {
			map[platform.Phase]float64{wait: 31, compute: 44, write: 20, driver: 5}, false,
			"wait 31 % · compute 44 % · write 20 % · driver 5 %",
		},
		"by largest remainder": { // 33.3 each and 0.1: the first gets what is left
			map[platform.Phase]float64{wait: 333, compute: 333, write: 333, driver: 1}, false,
			"wait 34 % · compute 33 % · write 33 % · driver 0 %",
		},
		"the rare ones from 1 % on": {
			map[platform.Phase]float64{compute: 98, platform.PhaseSubmit: 1, platform.PhaseIdle: 1}, true,
			"wait 0 % · compute 98 % · write 0 % · driver 0 % · submit 1 % · idle 1 % (approximate)",
		},
		"not below": {
			map[platform.Phase]float64{compute: 99.6, platform.PhaseSubmit: 0.4}, false,
			"wait 0 % · compute 100 % · write 0 % · driver 0 %",
		},
		"of no time": {map[platform.Phase]float64{driver: 0}, false, ""},
		"of nothing": {nil, true, ""},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, phases.Line(c.seconds, c.approximate)) })
	}
}
