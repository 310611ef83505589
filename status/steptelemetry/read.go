package steptelemetry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"golang.org/x/time/rate"

	"github.com/emr-observatory/emr-observatory/status"
	"github.com/emr-observatory/emr-observatory/status/recording"
)

const (
	// The whole account shares EMR's quota, whose default is five calls at once and
	// half a call per second (Management Guide, "What are Amazon EMR service quotas").
	// This much of it is for steps, whatever the number of clusters.
	requestsPerSecond = 0.25
	requestsAtOnce    = 4

	requestTimeout = 10 * time.Second

	// horizon is how old the end of a step may be that was never read: those of a
	// cluster that has existed for long do not fill the store.
	horizon = 24 * time.Hour

	idsPerRequest = 10 // EMR API Reference, ListSteps
	lookups       = 2  // requests for open steps by id, in one reading
	latestSteps   = 50 // a page
)

// reader reads the steps of a cluster from EMR.
type reader struct {
	steps *status.StepReader
	limit *rate.Limiter
}

func newReader(steps *status.StepReader) reader {
	return reader{steps, rate.NewLimiter(requestsPerSecond, requestsAtOnce)}
}

// reading is what was read of a cluster's steps.
type reading struct {
	latest []status.Step // at most latestSteps, the newest first
	open   []status.Step // those that may still need a span, in no order
	unseen []string      // ids of open steps that were not read this time
}

// read returns the steps after a position and its open ones.
func (r reader) read(ctx context.Context, cluster string, at position, now time.Time) (reading, error) {
	of := func() *emr.ListStepsInput { return &emr.ListStepsInput{ClusterId: aws.String(cluster)} }
	covered := func(s status.Step) bool { return at.covers(s, now) }
	steps, complete, err := r.pages(ctx, of(), covered)
	fresh := slices.IndexFunc(steps, covered) // EMR lists the newest first: those before it
	if fresh < 0 {
		fresh = len(steps)
	}
	got := reading{latest: steps[:min(len(steps), latestSteps)]}
	if err == nil && at.Newest == "" && !complete {
		input := of() // a job that runs for days is older than the horizon
		input.StepStates = []types.StepState{types.StepStatePending, types.StepStateRunning, types.StepStateCancelPending}
		var running []status.Step
		running, _, err = r.pages(ctx, input, func(status.Step) bool { return false })
		steps = append(steps, running...)
	}
	if err != nil {
		return reading{}, err
	}
	missing := slices.DeleteFunc(slices.Clone(at.Open), func(id string) bool { return contains(steps, id) })
	looked := min(len(missing), lookups*idsPerRequest)
	got.unseen = missing[looked:]
	for ids := range slices.Chunk(missing[:looked], idsPerRequest) {
		input := of()
		input.StepIds = ids
		found, _, err := r.pages(ctx, input, func(status.Step) bool { return false })
		if err != nil {
			return reading{}, err
		}
		steps = append(steps, found...)
	}
	for i, step := range steps {
		if (i < fresh || at.concerns(step, now)) && !contains(got.open, step.ID) {
			got.open = append(got.open, step)
		}
	}
	return got, nil
}

// pages returns the steps of all pages up to the one with the last step, and whether
// these are all.
func (r reader) pages(ctx context.Context, input *emr.ListStepsInput, last func(status.Step) bool) ([]status.Step, bool, error) {
	var steps []status.Step
	for {
		if err := r.limit.Wait(ctx); err != nil {
			return nil, false, fmt.Errorf("wait for a request to EMR: %w", err)
		}
		page, marker, err := r.page(ctx, input)
		if err != nil {
			return nil, false, err
		}
		steps = append(steps, page...)
		if marker == nil || slices.ContainsFunc(page, last) {
			return steps, marker == nil, nil
		}
		input.Marker = marker
	}
}

func (r reader) page(ctx context.Context, input *emr.ListStepsInput) ([]status.Step, *string, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return r.steps.List(ctx, input) // it names the cluster
}

func contains(steps []status.Step, id string) bool {
	return slices.ContainsFunc(steps, func(s status.Step) bool { return s.ID == id })
}

// slowest is how often a cluster is tried that was refused, or fails again and again.
const slowest = 10 * time.Minute

// cluster is one whose steps are recorded.
type cluster struct {
	id    string
	host  string                    // of its primary node, "" = not known
	begun time.Time                 // of the counts
	count map[types.StepState]int64 // of ended steps

	failures int // in a row
	failure  error
	retry    time.Time // not before
}

func newCluster(id string) *cluster {
	return &cluster{id: id, begun: time.Now(), count: map[types.StepState]int64{}}
}

// after decides when the cluster is read again, after a reading with this result. EMR
// throttles the whole account, so each failure doubles the wait.
func (c *cluster) after(err error, now time.Time) {
	if err == nil {
		c.failures, c.failure, c.retry = 0, nil, now
		return
	}
	c.failure = err
	c.retry = now.Add(min(slowest, recording.Interval<<min(c.failures, 8)))
	if errors.Is(c.failure, status.ErrStepsRefused) {
		c.retry = now.Add(slowest)
	}
	c.failures++
}
