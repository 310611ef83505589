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

// The result equals that of sorting: for random, constant, sorted and few values.
func TestSortedAtEqualsSorting(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for round := range 400 {
		values := make([]int64, 1+random.IntN(500))
		for i := range values {
			values[i] = random.Int64N(1 + int64(round*round))
		}
		if round%5 == 0 {
			slices.Sort(values)
		}
		sorted := slices.Sorted(slices.Values(values))
		n := len(values)
		indexes := []int{0, n / 4, n / 2, 3 * n / 4, n - 1}
		var want []float64
		for _, index := range indexes {
			want = append(want, float64(sorted[index]))
		}
		require.Equal(t, want, sortedAt(values, indexes))
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
