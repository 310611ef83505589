package fold

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// The worst host is the one whose tasks together took most longer than on the median host.
func TestHostSpread(t *testing.T) {
	require.Equal(t, tables.HostSpread{}, hosts(nil).spread())
	var h hosts
	for host, durations := range map[string][]int64{
		"a": {100, 100, 100}, "b": {100, 120}, "c": {300, 300, 300, 300}, "d": {900}, "e": {100},
	} {
		for _, d := range durations {
			h.add(host, d)
		}
	}
	spread := h.spread()
	require.EqualValues(t, 5, *spread.Hosts)
	require.InDelta(t, 110, *spread.HostsMean, 0)
	require.Equal(t, "d", *spread.WorstHost, "790 ms more; c has 760")
	h.add("c", 300)
	spread = h.spread()
	require.Equal(t, "c", *spread.WorstHost)
	require.EqualValues(t, 5, *spread.WorstHostTasks)
	require.InDelta(t, 300, *spread.WorstHostMean, 0)
}
