// Package poll repeats an operation until it succeeds.
package poll

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Options sets the pace and the end of a poll.
type Options struct {
	Interval    time.Duration // between the end of an attempt and the next one
	MaxInterval time.Duration // the interval grows up to this, with jitter; 0 keeps it constant
	Timeout     time.Duration // for all attempts together; 0 polls until ctx is done
}

// Permanent marks an error that further attempts cannot change: Until returns
// it at once.
func Permanent(err error) error { return backoff.Permanent(err) }

// After marks an error that says how long to wait before the next attempt, in place of
// the interval.
func After(err error, wait time.Duration) error {
	return fmt.Errorf("%w (%w)", err, &backoff.RetryAfterError{Duration: wait})
}

// Until calls attempt until it returns nil or a permanent error, the timeout has
// passed, or ctx is done. The context of an attempt ends with the timeout. Until
// returns the error of the last attempt that was not cut short, in words that
// follow "not ready": "within 20s: connection refused".
func Until(ctx context.Context, o Options, attempt func(context.Context) error) error {
	limited, cancel := ctx, context.CancelFunc(func() {})
	if o.Timeout > 0 {
		limited, cancel = context.WithTimeout(ctx, o.Timeout)
	}
	defer cancel()
	var last error
	permanent := false
	_, err := backoff.Retry(limited, func() (struct{}, error) {
		err := attempt(limited)
		if err == nil {
			return struct{}{}, nil
		}
		if last == nil || limited.Err() == nil {
			last = err
		}
		var p *backoff.PermanentError
		permanent = errors.As(err, &p)
		return struct{}{}, err
	}, backoff.WithBackOff(o.backOff()), backoff.WithMaxElapsedTime(0))
	switch {
	case err == nil || permanent:
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("before %w: %w", context.Cause(ctx), last)
	}
	return fmt.Errorf("within %s: %w", o.Timeout, last)
}

func (o Options) backOff() backoff.BackOff {
	if o.MaxInterval == 0 {
		return backoff.NewConstantBackOff(o.Interval)
	}
	growing := backoff.NewExponentialBackOff()
	growing.InitialInterval, growing.MaxInterval = o.Interval, o.MaxInterval
	return growing
}
