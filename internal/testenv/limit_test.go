package testenv_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/poll"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
)

func (o *outcome) Fatalf(format string, args ...any) { o.failed = fmt.Sprintf(format, args...) }

func TestLimitsAreNeverBelowTheirOwn(t *testing.T) {
	for _, limit := range []testenv.Limit{testenv.Answer, testenv.Arrival, testenv.Start, testenv.Job, testenv.Cloud} {
		require.GreaterOrEqual(t, limit.Scaled(), time.Duration(limit))
	}
}

func TestEventually(t *testing.T) {
	calls := 0
	var met, unmet outcome
	testenv.Eventually(&met, func() bool { calls++; return calls == 3 }, testenv.Answer, time.Millisecond)
	require.Equal(t, 3, calls)
	require.Empty(t, met.failed)

	const brief = testenv.Limit(20 * time.Millisecond)
	testenv.Eventually(&unmet, func() bool { return false }, brief, time.Millisecond, "the %s answers", "server")
	require.Regexp(t, `^within \d+ms: the condition is not met: the server answers$`, unmet.failed)
}

func TestPollReturnsTheLastError(t *testing.T) {
	gone := errors.New("gone")
	calls := 0
	attempt := func(err error) func(context.Context) error {
		return func(context.Context) error { calls++; return err }
	}
	require.ErrorIs(t, testenv.Poll(t.Context(), testenv.Limit(5*time.Millisecond), time.Millisecond, attempt(gone)), gone)
	require.Greater(t, calls, 1)
	calls = 0
	require.ErrorIs(t, testenv.Poll(t.Context(), testenv.Job, time.Millisecond, attempt(poll.Permanent(gone))), gone)
	require.Equal(t, 1, calls)
}
