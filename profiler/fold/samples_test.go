package fold

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Values of any size and sign survive packing.
func TestSamplesRoundTrip(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, tasks := range []int{0, 1, blockSize - 1, blockSize, 3*blockSize + 7} {
		var kept samples
		var want [numMetrics][]int64
		for range tasks {
			var v sample
			for m := range numMetrics {
				if shift := uint(m) * 64 / uint(numMetrics); m > 1 {
					v[m] = int64(random.Uint64()>>(63-shift)) - 3
				}
			}
			v[numMetrics-1] = []int64{math.MinInt64, math.MaxInt64, 0}[random.IntN(3)]
			for m := range numMetrics {
				want[m] = append(want[m], v[m])
			}
			kept.add(&v)
		}
		require.EqualValues(t, tasks, kept.count)
		for m := range numMetrics {
			require.Equal(t, want[m], kept.column(m, nil), "%d tasks, metric %d", tasks, m)
		}
	}
}

// The result equals that of sorting: for random, constant, sorted and few values, and
// without the negative ones.
func TestQuantilesEqualSorting(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	quantiles := []float64{0, 0.25, 0.5, 0.75, 0.95, 1}
	for round := range 400 {
		values := make([]int64, 1+random.IntN(500))
		for i := range values {
			values[i] = random.Int64N(1 + int64(round*round))
			if round%7 == 0 {
				values[i] -= 10
			}
		}
		if round%5 == 0 {
			slices.Sort(values)
		}
		kept := slices.DeleteFunc(slices.Sorted(slices.Values(values)), func(v int64) bool { return v < 0 })
		want, found := make([]float64, len(quantiles)), make([]float64, len(quantiles))
		count := len(values) - random.IntN(1+len(values)/2) // others belong to tasks that failed
		for i, q := range quantiles {
			if len(kept) > 0 {
				want[i] = float64(kept[min(int(q*float64(count)), count-1, len(kept)-1)])
			}
		}
		valuesAt(found, quantiles, int64(count), withoutNegative(values))
		require.Equal(t, want, found)
	}
}

func TestIDs(t *testing.T) {
	var s ids
	for _, id := range []int64{5, 70, 5, 64} {
		s.add(id)
	}
	require.Equal(t, []any{int64(3), int64(70), int64(5)}, []any{s.count, s.largest, s.smallest})
	require.True(t, s.has(64))
	require.False(t, s.has(65))

	seen := newAttempts()
	seen.add(0, 0)
	seen.add(2, 1) // no attempt of stage 1, and not the first of stage 2
	require.EqualValues(t, 4, seen.expected())
	require.EqualValues(t, 2, seen.seen())
}
