package testenv

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/emr-observatory/emr-observatory/internal/poll"
)

// Limit is how long a test waits at most for one kind of event on an idle machine with
// two cores. A limit ends a test that would otherwise hang: it is never what a test
// asserts about the product. All limits of tests come from here (tests/architecture),
// and grow with the load of the machine.
type Limit time.Duration

// Each limit is several times what the slowest event of its kind takes on an idle
// machine.
const (
	// Answer bounds what a running process does at once: it answers, exits or writes a file.
	Answer = Limit(20 * time.Second)
	// Arrival bounds the way of telemetry through running processes: two collection
	// intervals, the queues, and the flush interval of the store.
	Arrival = Limit(2 * time.Minute)
	// Start bounds the start of a server until it is ready.
	Start = Limit(3 * time.Minute)
	// Job bounds a Spark job, or a change of a cluster.
	Job = Limit(10 * time.Minute)
	// Cloud bounds what several clusters do one after the other.
	Cloud = Limit(20 * time.Minute)
)

// Scaled returns the limit on this machine under its present load, for calls that take a
// timeout. A wait that looks at its condition again and again uses Poll or Eventually:
// these also count load that comes later.
func (l Limit) Scaled() time.Duration { return time.Duration(float64(l) * machine.now()) }

// Poll calls attempt until it returns nil or a permanent error (poll.Permanent), with
// interval between two calls. Once the limit has passed it returns the error of the last
// call.
func Poll(ctx context.Context, limit Limit, interval time.Duration, attempt func(context.Context) error) error {
	began := time.Now()
	return poll.Until(ctx, poll.Options{Interval: interval}, func(ctx context.Context) error {
		err := attempt(ctx)
		waited := time.Since(began)
		if err == nil || waited < time.Duration(limit) || waited < limit.Scaled() {
			return err
		}
		return poll.Permanent(fmt.Errorf("within %s: %w", waited.Round(time.Millisecond), err))
	})
}

// errUnmet is what a condition reports that is not yet true.
var errUnmet = errors.New("the condition is not met")

// Eventually calls condition in the test's goroutine until it is true, with interval
// between two calls, and ends the test once the limit has passed. message is a format
// and its arguments, as testify's assertions take them.
func Eventually(t testing.TB, condition func() bool, limit Limit, interval time.Duration, message ...any) {
	t.Helper()
	err := Poll(context.Background(), limit, interval, func(context.Context) error {
		if !condition() {
			return errUnmet
		}
		return nil
	})
	if err == nil {
		return
	}
	if len(message) > 0 {
		format, _ := message[0].(string)
		err = fmt.Errorf("%w: "+format, append([]any{err}, message[1:]...)...)
	}
	t.Fatal(err)
}
