package emr

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A run that is due at once waits for a profile that was created just before, and for no other.
func TestRunsWaitForANewInstanceProfile(t *testing.T) {
	now := time.Date(2027, 1, 1, 0, 0, 20, 0, time.UTC)
	for created, want := range map[string]time.Duration{
		"2027-01-01T00:00:20Z": propagation,
		"2027-01-01T00:00:10Z": propagation - 10*time.Second,
		"2027-01-01T00:01:00Z": propagation, // by another clock
	} {
		require.Equal(t, want, untilVisible(created, now), created)
	}
	require.LessOrEqual(t, untilVisible("2026-12-31T00:00:00Z", now), time.Duration(0))
	require.Zero(t, untilVisible("", now))
}
