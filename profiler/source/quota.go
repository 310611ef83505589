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

// The token bucket that all operations in an account and region share, and the refill of that
// of each operation, in requests per second (EMR Management Guide, "Service quotas"; quotas of
// Service Quotas, read 2026-11-20).
const (
	accountRefill   = 5
	accountBurst    = 20
	operationRefill = 0.5
)

// bursts are the sizes of the buckets of the operations that a run calls. Those of persistent
// and on-cluster UIs are not published; they are assumed to refill like those of lists, as
// their operations cost EMR as much.
var bursts = map[string]int{
	OpListClusters: 20, OpDescribeCluster: 10, OpListSteps: 10, OpListInstanceGroups: 10, OpListInstanceFleets: 5,
	OpCreatePersistentUI: 5, OpDescribePersistentUI: 10, OpPersistentUIURL: 10, OpOnClusterUIURL: 10, // not published
}

// Quota keeps a process below EMR's request quota.
type Quota struct {
	account     *rate.Limiter
	byOperation map[string]*rate.Limiter
}

// NewQuota returns an unused quota.
func NewQuota() *Quota {
	q := &Quota{account: rate.NewLimiter(accountRefill, accountBurst), byOperation: map[string]*rate.Limiter{}}
	for operation, burst := range bursts {
		q.byOperation[operation] = rate.NewLimiter(operationRefill, burst)
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
