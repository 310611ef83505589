// Package stats sums up what was measured several times.
package stats

import "slices"

// Median returns the median of values, 0 if there are none.
func Median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	if len(sorted) == 0 {
		return 0
	}
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}
