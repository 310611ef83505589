package check

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/emr-observatory/emr-observatory/internal/poll"
)

// awaitInterval is the time between two runs of Await.
const awaitInterval = 5 * time.Second

// errNoData makes Await run the check again.
var errNoData = errors.New("queries without data")

// Await repeats Run until every query has data or wait has passed, and returns
// the last report. Right after a job the next scrape is still due, and a rate
// needs two. Each run checks up to its own time, so Options.Until must be zero.
// Before each further run, again (if not nil) gets the number of queries without
// data.
func Await(ctx context.Context, options Options, wait time.Duration, again func(missing int)) (Report, error) {
	if !options.Until.IsZero() {
		return Report{}, errors.New("check dashboards: until: a fixed end and waiting for data exclude each other")
	}
	if wait <= 0 {
		return Run(ctx, options)
	}
	var report Report
	var runErr error
	err := poll.Until(ctx, poll.Options{Interval: awaitInterval, Timeout: wait}, func(context.Context) error {
		if missing := report.Empty + report.Errors; missing > 0 && again != nil {
			again(missing)
		}
		// A run that has begun when the wait ends is completed.
		if report, runErr = Run(ctx, options); runErr == nil && report.Empty+report.Errors > 0 {
			return errNoData
		}
		return nil
	})
	switch {
	case runErr != nil:
		return report, runErr
	case ctx.Err() != nil:
		return report, fmt.Errorf("check dashboards: %w", err)
	}
	return report, nil
}
