package poll_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/poll"
)

var errNotYet = errors.New("not yet")

func TestUntilRepeatsUntilTheAttemptSucceeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, attempts := time.Now(), 0
		err := poll.Until(t.Context(), poll.Options{Interval: time.Second, Timeout: time.Minute}, func(context.Context) error {
			if attempts++; attempts < 4 {
				return errNotYet
			}
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, 3*time.Second, time.Since(begun))
	})
}

// Each interval is 1.5 times the one before, give or take half of it, up to the
// maximum.
func TestIntervalGrowsToItsMaximum(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pauses []time.Duration
		last := time.Now()
		o := poll.Options{Interval: time.Second, MaxInterval: 10 * time.Second}
		err := poll.Until(t.Context(), o, func(context.Context) error {
			pauses, last = append(pauses, time.Since(last)), time.Now()
			if len(pauses) < 30 {
				return errNotYet
			}
			return nil
		})
		require.NoError(t, err)
		require.InDelta(t, time.Second, pauses[1], float64(500*time.Millisecond))
		for _, pause := range pauses[20:] {
			require.InDelta(t, 10*time.Second, pause, float64(5*time.Second))
		}
	})
}

func TestTimeoutReturnsTheLastError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		err := poll.Until(t.Context(), poll.Options{Interval: time.Second, Timeout: 3500 * time.Millisecond}, func(context.Context) error {
			return errNotYet
		})
		require.ErrorIs(t, err, errNotYet)
		require.EqualError(t, err, "within 3.5s: not yet")
		require.Equal(t, 3500*time.Millisecond, time.Since(begun))
	})
}

func TestTimeoutInterruptsAnAttemptAndReturnsTheErrorBeforeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		err := poll.Until(t.Context(), poll.Options{Interval: time.Second, Timeout: 5 * time.Second}, func(ctx context.Context) error {
			if attempts++; attempts == 1 {
				return errNotYet
			}
			<-ctx.Done()
			return ctx.Err()
		})
		require.EqualError(t, err, "within 5s: not yet")
	})
}

func TestPermanentErrorEndsThePoll(t *testing.T) {
	attempts := 0
	err := poll.Until(t.Context(), poll.Options{Interval: time.Hour}, func(context.Context) error {
		attempts++
		return poll.Permanent(errNotYet)
	})
	require.Equal(t, errNotYet, err)
	require.Equal(t, 1, attempts)
}

func TestAfterSetsTheNextPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, attempts := time.Now(), 0
		err := poll.Until(t.Context(), poll.Options{Interval: time.Hour}, func(context.Context) error {
			if attempts++; attempts == 1 {
				return poll.After(errNotYet, 7*time.Second)
			}
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, 7*time.Second, time.Since(begun))
		require.ErrorIs(t, poll.After(errNotYet, time.Second), errNotYet)
	})
}

func TestCancellationEndsThePoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		interrupted := errors.New("interrupted")
		go func() { time.Sleep(time.Minute); cancel(interrupted) }()
		err := poll.Until(ctx, poll.Options{Interval: time.Hour}, func(context.Context) error { return errNotYet })
		require.ErrorIs(t, err, interrupted)
		require.ErrorIs(t, err, errNotYet)
	})
}
