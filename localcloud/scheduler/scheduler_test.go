package scheduler_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"github.com/emr-observatory/emr-observatory/localcloud/scheduler"
)

const (
	target = "arn:aws:scheduler:::aws-sdk:emr:addJobFlowSteps"
	queue  = "arn:aws:sqs:us-east-1:123456789012:lost"
)

// world is a scheduler on a clock that the test sets, with what it called and lost.
type world struct {
	*scheduler.Service
	clock   *clocktest.FakeClock
	calls   []string
	lost    []scheduler.Lost
	answers map[string]error // to the input
}

func newWorld(t *testing.T, path string, now time.Time) *world {
	t.Helper()
	w := &world{clock: clocktest.NewFakeClock(now), answers: map[string]error{}}
	w.Service = &scheduler.Service{
		Path: path, Clock: w.clock, Log: slog.New(slog.DiscardHandler),
		Call: func(_ context.Context, of scheduler.Schedule, input []byte) error {
			require.Equal(t, target, of.Target)
			require.Equal(t, "starts", of.Role)
			w.calls = append(w.calls, string(input))
			return w.answers[string(input)]
		},
		Lose: func(_ context.Context, to string, l scheduler.Lost) error {
			require.Equal(t, queue, to)
			w.lost = append(w.lost, l)
			return nil
		},
	}
	require.NoError(t, w.Open())
	return w
}

// pass moves the clock in steps of half a minute.
func (w *world) pass(t *testing.T, d time.Duration) {
	t.Helper()
	for end := w.clock.Now().Add(d); w.clock.Now().Before(end); {
		w.clock.Step(30 * time.Second)
		w.Run(t.Context())
	}
}

func of(id, expression, zone string) scheduler.Schedule {
	return scheduler.Schedule{
		ID: id, ARN: "arn:" + id, Expression: expression, Zone: zone, Enabled: true, Target: target, Role: "starts", Queue: queue,
		Input: id + " <aws.scheduler.scheduled-time>", Retries: 3, MaxAge: time.Hour,
	}
}

// Two days over a change of the clock, which skips 02:30 once: each run is made once.
func TestEachRunIsMadeOnce(t *testing.T) {
	w := newWorld(t, filepath.Join(t.TempDir(), "schedules.json"), time.Date(2027, 3, 13, 5, 0, 0, 0, time.UTC)) // midnight in New York
	require.NoError(t, w.Put(of("skipped", "cron(30 2 * * ? *)", "America/New_York")))
	require.NoError(t, w.Put(of("nightly", "cron(0 1 * * ? *)", "America/New_York")))
	require.NoError(t, w.Put(of("often", "rate(12 hours)", "UTC")))
	off := of("off", "rate(1 minute)", "UTC")
	off.Enabled = false
	require.NoError(t, w.Put(off))
	w.pass(t, 48*time.Hour)
	slices.Sort(w.calls)
	require.Equal(t, []string{
		"nightly 2027-03-13T06:00:00Z", "nightly 2027-03-14T06:00:00Z", "nightly 2027-03-15T05:00:00Z",
		"often 2027-03-13T05:00:00Z", "often 2027-03-13T17:00:00Z", "often 2027-03-14T05:00:00Z", "often 2027-03-14T17:00:00Z",
		"often 2027-03-15T05:00:00Z", "skipped 2027-03-13T07:30:00Z",
	}, w.calls)
	require.Empty(t, w.lost)
}

// What a service refuses is given to the queue, at once or after the retries, with the reason.
func TestFailuresAreGivenToTheQueue(t *testing.T) {
	w := newWorld(t, filepath.Join(t.TempDir(), "schedules.json"), time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))
	w.answers["ended 2027-01-01T01:00:00Z"] = &scheduler.CallError{Code: "ValidationException", Message: "Cluster id 'j-1' is not valid"}
	w.answers["busy 2027-01-01T01:00:00Z"] = &scheduler.CallError{Code: "ThrottlingException", Message: "Rate exceeded", Retryable: true}
	w.answers["late 2027-01-01T01:00:00Z"] = errors.New("connection refused")
	require.NoError(t, w.Put(of("ended", "cron(0 1 * * ? *)", "UTC")))
	require.NoError(t, w.Put(of("busy", "cron(0 1 * * ? *)", "UTC")))
	late := of("late", "cron(0 1 * * ? *)", "UTC")
	late.Retries, late.MaxAge = 185, 2*time.Minute
	require.NoError(t, w.Put(late))
	w.pass(t, 2*time.Hour)
	var got []string
	for _, l := range w.lost {
		a := l.Attributes()
		got = append(got, strings.Join([]string{
			a["SCHEDULE_ARN"], a["ERROR_CODE"], a["EXHAUSTED_RETRY_CONDITION"], a["RETRY_ATTEMPTS"], a["SCHEDULED_TIME"],
		}, " "))
	}
	slices.Sort(got)
	require.Equal(t, []string{
		"arn:busy ThrottlingException MaximumRetryAttempts 3 2027-01-01T01:00:00Z",
		"arn:ended ValidationException NonRetryableError 0 2027-01-01T01:00:00Z",
		"arn:late InternalFailure MaximumEventAgeInSeconds 4 2027-01-01T01:00:00Z",
	}, got)
	require.Equal(t, "ended 2027-01-01T01:00:00Z", w.lost[0].Input)
}

// A process that begins again makes what was due meanwhile, and what its calls may be too late for is left.
func TestRestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "schedules.json")
	begin := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	w := newWorld(t, path, begin)
	require.NoError(t, w.Put(of("hourly", "cron(0 * * * ? *)", "UTC")))
	w.pass(t, time.Hour)
	require.Len(t, w.calls, 1)
	again := newWorld(t, path, begin.Add(4*time.Hour+10*time.Minute))
	again.Run(t.Context())
	require.Equal(t, []string{"hourly 2027-01-01T04:00:00Z"}, again.calls)
	require.NoError(t, again.Put(of("hourly", "cron(0 * * * ? *)", "UTC")), "the same again changes nothing")
	again.Run(t.Context())
	require.Len(t, again.calls, 1)
	require.NoError(t, again.Delete("hourly"))
	require.False(t, again.Exists("hourly"))
	again.pass(t, 2*time.Hour)
	require.Len(t, again.calls, 1)
	require.ErrorContains(t, again.Put(of("bad", "cron(0 2 * * * *)", "UTC")), "exactly one of them must be ?")
}
