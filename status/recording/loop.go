// Package recording repeats what a recorder of the control node does, keeps the problems of
// its last round for the status page, and sends metrics. It reads nothing itself: packages
// clustertelemetry and steptelemetry do.
package recording

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Interval is the time between two rounds.
const Interval = 20 * time.Second

// Loop repeats a round.
type Loop struct {
	subject string
	round   func(ctx context.Context, now time.Time) []error

	mu       sync.Mutex
	problems []string
}

// New returns a loop over the round of a recorder, which returns what it could not read
// or send. The subject names the telemetry in the log: "clusters".
func New(subject string, round func(ctx context.Context, now time.Time) []error) *Loop {
	return &Loop{subject: subject, round: round}
}

// Run repeats the round until ctx is done.
func (l *Loop) Run(ctx context.Context) {
	for timer := time.NewTimer(0); ; timer.Reset(Interval) {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			l.Round(ctx, time.Now())
		}
	}
}

// Round runs the round once. A problem is logged when it appears, not in every round.
// Errors after the end of ctx are no problems.
func (l *Loop) Round(ctx context.Context, now time.Time) {
	var problems []string
	for _, err := range l.round(ctx, now) {
		if ctx.Err() == nil {
			problems = append(problems, err.Error())
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, problem := range problems {
		if !slices.Contains(l.problems, problem) {
			slog.Warn("telemetry is late", "of", l.subject, "problem", problem)
		}
	}
	l.problems = problems
}

// Problems returns what could not be read or sent in the last round.
func (l *Loop) Problems() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.problems)
}
