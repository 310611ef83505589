package scheduler

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/emr-observatory/emr-observatory/internal/statefile"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schedule"
)

// Service starts schedules. Its fields are set before Open.
type Service struct {
	Path  string // file of the schedules and of the calls that are still to be made
	Clock clock.Clock
	// Call makes the call of a schedule. A *CallError says what the service answered; any other error is one
	// that may pass.
	Call func(ctx context.Context, of Schedule, input []byte) error
	// Lose gives a call that failed to a queue, an ARN.
	Lose func(ctx context.Context, queue string, lost Lost) error
	Log  *slog.Logger

	mu      sync.Mutex
	state   state
	changed chan struct{}
}

// Schedule is a schedule as the provider has it.
type Schedule struct {
	ARN, ID    string // ID: group/name
	Expression string
	Zone       string
	Start, End time.Time // zero: none
	Enabled    bool
	Target     string
	Role       string
	Input      string
	Queue      string // ARN; "": what fails is lost without a trace
	Retries    int
	MaxAge     time.Duration
}

// CallError is the refusal of a service.
type CallError struct {
	Code, Message string
	Retryable     bool
}

// Error implements error.
func (e *CallError) Error() string { return e.Code + ": " + e.Message }

// state is what the file has.
type state struct {
	Schedules map[string]*entry `json:"schedules"`
	Calls     []*call           `json:"calls"`
}

// entry is a schedule with the time up to which it has started what was due.
type entry struct {
	Schedule Schedule  `json:"schedule"`
	Created  time.Time `json:"created"`
	Done     time.Time `json:"done"`
}

// call is a call that is still to be made.
type call struct {
	Schedule  Schedule  `json:"schedule"`
	Scheduled time.Time `json:"scheduled"`
	Began     time.Time `json:"began"`
	Tries     int       `json:"tries"`
	Next      time.Time `json:"next"`
}

// Open reads the schedules of an earlier process.
func (s *Service) Open() error {
	s.changed = make(chan struct{}, 1)
	s.state = state{Schedules: map[string]*entry{}}
	if err := statefile.Load(s.Path, &s.state); err != nil {
		return fmt.Errorf("open schedules: %w", err)
	}
	return nil
}

// Put creates a schedule, or changes it: an update begins a rate again.
func (s *Service) Put(given Schedule) error {
	times, err := given.times(s.Clock.Now())
	if err != nil {
		return fmt.Errorf("put schedule %s: %w", given.ID, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.Clock.Now()
	if old := s.state.Schedules[given.ID]; old != nil && old.Schedule == given {
		return nil
	}
	done := now
	if times.Expression.Rate() {
		done = now.Add(-1) // it starts at once (Scheduler User Guide, "Rate-based schedules")
	}
	s.state.Schedules[given.ID] = &entry{Schedule: given, Created: now, Done: done}
	return s.save()
}

// Exists reports whether a schedule exists.
func (s *Service) Exists(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.Schedules[id] != nil
}

// Delete removes a schedule. Calls that it has begun are made.
func (s *Service) Delete(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.state.Schedules, id)
	return s.save()
}

// save is called with the lock held.
func (s *Service) save() error {
	if err := statefile.Save(s.Path, s.state); err != nil {
		return fmt.Errorf("save schedules: %w", err)
	}
	select {
	case s.changed <- struct{}{}:
	default:
	}
	return nil
}

func (s Schedule) times(created time.Time) (schedule.Schedule, error) {
	out, err := schedule.New(s.Expression, s.Zone, s.Start, s.End)
	if err == nil && out.Expression.Rate() && out.Start.IsZero() {
		out.Start = created
	}
	return out, err
}

// Watch starts what is due until ctx is done.
func (s *Service) Watch(ctx context.Context) {
	for {
		s.Run(ctx)
		timer := s.Clock.NewTimer(s.wait())
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C():
		case <-s.changed:
			timer.Stop()
		}
	}
}

// longestWait is how long Watch waits at most: the machine's clock may be set.
const longestWait = time.Minute

// wait returns the time until something is due.
func (s *Service) wait() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.Clock.Now()
	shortest := longestWait
	for _, e := range s.state.Schedules {
		if next, found := e.next(); found {
			shortest = min(shortest, max(next.Sub(now), 0))
		}
	}
	for _, c := range s.state.Calls {
		shortest = min(shortest, max(c.Next.Sub(now), 0))
	}
	return shortest
}

// next returns the first start that the schedule has not made.
func (e *entry) next() (time.Time, bool) {
	times, err := e.Schedule.times(e.Created)
	if err != nil || !e.Schedule.Enabled {
		return time.Time{}, false
	}
	return times.Next(e.Done)
}

// Run begins what is due, and makes the calls whose time has come.
func (s *Service) Run(ctx context.Context) {
	for _, c := range s.due() {
		err := s.Call(ctx, c.Schedule, input(c))
		if ctx.Err() != nil {
			return // made again by the next process: EventBridge delivers at least once
		}
		s.finish(ctx, c, err)
	}
}

// input replaces the context attributes (Scheduler User Guide, "Adding context attributes").
func input(c *call) []byte {
	return []byte(strings.ReplaceAll(c.Schedule.Input, platform.ScheduledTime, c.Scheduled.UTC().Format(time.RFC3339)))
}

// due begins what the clock has reached and returns the calls to make now. What became due while no
// process ran, and is older than its schedule's calls may be, is left out: on AWS it would have run.
func (s *Service) due() []*call {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.Clock.Now()
	before := len(s.state.Calls)
	for _, id := range slices.Sorted(maps.Keys(s.state.Schedules)) {
		e := s.state.Schedules[id]
		for next, found := e.next(); found && !next.After(now); next, found = e.next() {
			e.Done = next
			if now.Sub(next) <= e.Schedule.MaxAge {
				s.state.Calls = append(s.state.Calls, &call{Schedule: e.Schedule, Scheduled: next, Began: now, Next: now})
			}
		}
	}
	if len(s.state.Calls) > before {
		if err := s.save(); err != nil {
			s.Log.Error("scheduler", "error", err)
		}
	}
	return slices.DeleteFunc(slices.Clone(s.state.Calls), func(c *call) bool { return c.Next.After(now) })
}

// finish removes a call that was answered, or has it repeated.
func (s *Service) finish(ctx context.Context, c *call, failure error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Tries++
	if failure != nil {
		lost := c.lost(failure, s.Clock.Now())
		if lost.Condition == "" {
			c.Next = s.Clock.Now().Add(backoff(c.Tries))
			_ = s.save() // kept in memory
			return
		}
		s.Log.Warn("scheduler", "schedule", c.Schedule.ID, "scheduled", c.Scheduled, "error", failure)
		if c.Schedule.Queue != "" {
			if err := s.Lose(ctx, c.Schedule.Queue, lost); err != nil {
				s.Log.Error("scheduler: dead-letter queue", "schedule", c.Schedule.ID, "error", err)
			}
		}
	}
	s.state.Calls = slices.DeleteFunc(s.state.Calls, func(other *call) bool { return other == c })
	if err := s.save(); err != nil {
		s.Log.Error("scheduler", "error", err)
	}
}

// backoff is the time before the next try.
func backoff(tries int) time.Duration {
	const most = time.Minute
	return min(time.Second<<min(tries-1, 6), most)
}
