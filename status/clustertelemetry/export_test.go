package clustertelemetry

import (
	"context"
	"time"
)

// Interval is the time between two rounds.
const Interval = interval

// Round sends what is known of all clusters once, at a time.
func (r *Recorder) Round(ctx context.Context, now time.Time) { r.round(ctx, now) }
