package source

import (
	"context"
	"errors"
	"fmt"
	"time"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"
	"golang.org/x/time/rate"
)

// bucket is a token bucket of EMR's API. refill is in requests per second; published tells
// whether AWS documents the bucket.
type bucket struct {
	operation string
	burst     int
	refill    float64
	published bool
}

// The token bucket that all operations in an account and region share, refilled in requests
// per second (EMR Management Guide, "Service quotas"; quotas of Service Quotas, read
// 2026-11-20).
const (
	accountRefill = 5
	accountBurst  = 20
)

// buckets returns the buckets of the operations that a run calls. Those of persistent and
// on-cluster UIs are not published; they are assumed to refill like those of lists, as
// their operations cost EMR as much.
func buckets() []bucket {
	return []bucket{
		{OpListClusters, 20, 0.5, true},
		{OpDescribeCluster, 10, 0.5, true},
		{OpListSteps, 10, 0.5, true},
		{OpListInstanceGroups, 10, 0.5, true},
		{OpListInstanceFleets, 5, 0.5, true},
		{OpCreatePersistentUI, 5, 0.5, false},
		{OpDescribePersistentUI, 10, 0.5, false},
		{OpPersistentUIURL, 10, 0.5, false},
		{OpOnClusterUIURL, 10, 0.5, false},
	}
}

// Quota keeps a process below EMR's request quota.
type Quota struct {
	account     *rate.Limiter
	byOperation map[string]*rate.Limiter
}

// NewQuota returns an unused quota.
func NewQuota() *Quota {
	q := &Quota{account: rate.NewLimiter(accountRefill, accountBurst), byOperation: map[string]*rate.Limiter{}}
	for _, b := range buckets() {
		q.byOperation[b.operation] = rate.NewLimiter(rate.Limit(b.refill), b.burst)
	}
	return q
}

// errQuotaDeadline means that waiting for the quota would exceed the deadline. It is no
// context.DeadlineExceeded, which the SDK would take for a network timeout, and retry.
var errQuotaDeadline = errors.New("the deadline is too near")

// Wait blocks until a request may be sent.
func (q *Quota) Wait(ctx context.Context, operation string) error {
	for _, limiter := range []*rate.Limiter{q.byOperation[operation], q.account} {
		if limiter == nil {
			continue
		}
		if err := limiter.Wait(ctx); err != nil {
			if ctx.Err() == nil {
				err = fmt.Errorf("%w: %w", errQuotaDeadline, err)
			}
			return fmt.Errorf("wait for EMR's request quota of %s: %w", operation, err)
		}
	}
	return nil
}

// Estimate returns the minimum time for a number of requests per operation, if each is sent
// as soon as the quota allows.
func (q *Quota) Estimate(requests map[string]int) time.Duration {
	total, longest := 0, 0.0
	for operation, n := range requests {
		total += n
		longest = max(longest, shortfall(q.byOperation[operation], n))
	}
	return time.Duration(max(longest, shortfall(q.account, total)) * float64(time.Second)).Round(time.Second)
}

// shortfall returns how many seconds requests have to wait for a limiter.
func shortfall(limiter *rate.Limiter, requests int) float64 {
	if limiter == nil {
		return 0
	}
	return max(0, (float64(requests)-limiter.Tokens())/float64(limiter.Limit()))
}

// throttle makes every attempt of a request wait for the quota, including retries.
func (q *Quota) throttle(stack *middleware.Stack) error {
	wait := middleware.FinalizeMiddlewareFunc("RequestQuota",
		func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
			middleware.FinalizeOutput, middleware.Metadata, error,
		) {
			if err := q.Wait(ctx, awsmiddleware.GetOperationName(ctx)); err != nil {
				return middleware.FinalizeOutput{}, middleware.Metadata{}, err
			}
			return next.HandleFinalize(ctx, in)
		})
	if err := stack.Finalize.Insert(wait, "Retry", middleware.After); err != nil {
		return fmt.Errorf("limit the rate of EMR requests: %w", err)
	}
	return nil
}
