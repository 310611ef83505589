package steptelemetry

import (
	"context"
	"time"

	"golang.org/x/time/rate"
)

// Interval is the time between two rounds.
const Interval = interval

// Round records the steps of all clusters once, at a time.
func (r *Recorder) Round(ctx context.Context, now time.Time) { r.round(ctx, now) }

// Hurry lifts the limit of requests to EMR.
func (r *Recorder) Hurry() { r.reader.limit.SetLimit(rate.Inf) }
