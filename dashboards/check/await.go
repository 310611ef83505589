package check

import (
	"context"
	"errors"
	"time"
)

// awaitEach is the pause between two tries of Await.
const awaitEach = 5 * time.Second

// Await checks as Run does, again and again until nothing is empty or failed,
// or wait has passed; then it gives the last report. Right after a job a scrape
// is still to come, and a rate needs two of them. The end of the checked time
// moves on with each try, so Options.Until must be zero. again, if not nil, is
// told how many queries are still without data before each further try.
func Await(ctx context.Context, options Options, wait time.Duration, again func(missing int)) (Report, error) {
	if !options.Until.IsZero() {
		return Report{}, errors.New("check dashboards: until: a fixed end and waiting for data exclude each other")
	}
	deadline := time.Now().Add(wait)
	for {
		report, err := Run(ctx, options)
		missing := report.Empty + report.Errors
		if err != nil || missing == 0 || time.Now().Add(awaitEach).After(deadline) {
			return report, err
		}
		if again != nil {
			again(missing)
		}
		select {
		case <-ctx.Done():
			return report, ctx.Err()
		case <-time.After(awaitEach):
		}
	}
}
