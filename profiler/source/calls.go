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

// Operations of EMR's API that a run calls.
const (
	OpListClusters         = "ListClusters"
	OpDescribeCluster      = "DescribeCluster"
	OpListSteps            = "ListSteps"
	OpListInstanceGroups   = "ListInstanceGroups"
	OpListInstanceFleets   = "ListInstanceFleets"
	OpListInstances        = "ListInstances"
	OpCreatePersistentUI   = "CreatePersistentAppUI"
	OpDescribePersistentUI = "DescribePersistentAppUI"
	OpPersistentUIURL      = "GetPersistentAppUIPresignedURL"
	OpOnClusterUIURL       = "GetOnClusterAppUIPresignedURL"
)

// Operations of S3 that a run calls.
const (
	OpGetObject    = "GetObject"
	OpListObjects  = "ListObjectsV2"
	OpPutObject    = "PutObject"
	OpDeleteObject = "DeleteObject"
)

// Target is what a call reads or writes.
type Target string

// Targets of calls.
const (
	AnyCluster   Target = "clusters"      // all clusters: the action has no resource
	EachCluster  Target = "cluster"       // the cluster's ARN
	PersistentUI Target = "persistent UI" // its ARN, and the cluster's
	StepLogs     Target = "step logs"     // objects below the clusters' log URIs: of steps, containers and YARN
	EventLogs    Target = "event logs"    // objects below the folder of event logs
	Lake         Target = "lake"          // objects below the prefix of the tables
)

// Call is an AWS API call that a run makes.
type Call struct {
	Service   string // EMR or S3
	Operation string // SDK name
	Target    Target
}

// Calls returns the AWS API calls that a run may make, over all options, with the IAM
// actions that they need. A test compares them with the requests of runs.
func Calls() map[Call][]string {
	calls := map[Call][]string{
		// Without the permission to list, S3 responds 403 rather than 404 for a missing object
		// (S3 API Reference, GetObject).
		{"S3", OpGetObject, StepLogs}:    {"s3:GetObject", "s3:ListBucket"},
		{"S3", OpListObjects, StepLogs}:  {"s3:ListBucket"}, // of containers of an application that failed, and YARN's
		{"S3", OpGetObject, EventLogs}:   {"s3:GetObject"},
		{"S3", OpListObjects, EventLogs}: {"s3:ListBucket"},
		{"S3", OpGetObject, Lake}:        {"s3:GetObject", "s3:ListBucket"},
		{"S3", OpListObjects, Lake}:      {"s3:ListBucket"},
		{"S3", OpPutObject, Lake}:        {"s3:PutObject"},
		{"S3", OpDeleteObject, Lake}:     {"s3:DeleteObject"},
	}
	for operation, target := range map[string]Target{
		OpListClusters: AnyCluster, OpDescribeCluster: EachCluster, OpListSteps: EachCluster, OpListInstanceGroups: EachCluster,
		OpListInstanceFleets: EachCluster, OpListInstances: EachCluster, OpCreatePersistentUI: EachCluster, OpDescribePersistentUI: PersistentUI,
		OpPersistentUIURL: PersistentUI, OpOnClusterUIURL: EachCluster,
	} {
		calls[Call{"EMR", operation, target}] = []string{"elasticmapreduce:" + operation}
	}
	url := Call{"EMR", OpPersistentUIURL, PersistentUI}
	calls[url] = append(calls[url], allEventLogs)
	return calls
}

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
	OpListClusters: 20, OpDescribeCluster: 10, OpListSteps: 10, OpListInstanceGroups: 10, OpListInstanceFleets: 5, OpListInstances: 10,
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
