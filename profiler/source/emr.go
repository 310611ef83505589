package source

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/emr-observatory/emr-observatory/phases/s3files"
	"github.com/emr-observatory/emr-observatory/profiler/history"
)

// EMROptions select EMR clusters and say how their history is opened.
type EMROptions struct {
	AWS           aws.Config // with a region
	ClusterARN    string     // a single cluster, to which the filters below do not apply
	ClusterID     string     // a single cluster, if it has the state, the name and the tags below
	States        []types.ClusterState
	NameFilter    string // part of the name
	CreatedAfter  time.Time
	CreatedBefore time.Time
	Tags          map[string]string // that a cluster must have, with these values; empty is any

	Timeout   time.Duration // of a request to EMR
	UITimeout time.Duration // for a UI to become ready
	MaxUIs    int           // persistent UIs per account and region
	UIs       Store         // stores their ids, and which clusters have the tags
	UIPrefix  string        // of the keys of UIs: "" or with a trailing slash
	History   history.Options

	// Listed is called with the number of clusters found so far, after each page but the last.
	// EMR sends a page every two seconds at most, once its burst is used up. It may be nil.
	Listed func(clusters int)
	// Postponed is called with the number of clusters whose tags a later run looks up. It may be
	// nil.
	Postponed func(clusters int)
}

// EMR is the source for the clusters of an account and region.
type EMR struct {
	ctx     context.Context
	o       EMROptions
	emr     *emr.Client
	s3      *s3.Client
	quota   *Quota
	uis     *uis
	now     func() time.Time
	folders folders
}

// emrAttempts is how often the SDK sends a request that EMR throttles or that fails.
const emrAttempts = 6

// NewEMR returns the source. It sends no request. The context ends requests to S3.
func NewEMR(ctx context.Context, o EMROptions) *EMR {
	quota := NewQuota()
	client := emr.NewFromConfig(o.AWS, func(options *emr.Options) {
		options.Retryer = retry.NewAdaptiveMode(func(a *retry.AdaptiveModeOptions) {
			a.StandardOptions = append(a.StandardOptions, func(s *retry.StandardOptions) { s.MaxAttempts = emrAttempts })
		})
		options.APIOptions = append(options.APIOptions, quota.throttle)
		if buildable, ok := options.HTTPClient.(*awshttp.BuildableClient); ok {
			options.HTTPClient = buildable.WithTimeout(o.Timeout)
		}
	})
	return &EMR{
		ctx: ctx, o: o, emr: client, s3: s3files.Client(o.AWS), quota: quota, now: time.Now,
		uis: &uis{emr: client, store: o.UIs, key: o.UIPrefix + uiKey, limit: o.MaxUIs, timeout: o.UITimeout, now: time.Now},
	}
}

// Estimate is based on the requests that each cluster takes.
func (e *EMR) Estimate(clusters int) time.Duration {
	return e.quota.Estimate(map[string]int{
		OpDescribeCluster: clusters, OpListSteps: clusters, OpListInstanceGroups: clusters,
		OpListInstances: clusters, OpCreatePersistentUI: clusters,
		OpDescribePersistentUI: clusters, OpPersistentUIURL: clusters,
	})
}

// Discover lists the clusters that the options select. It reads all pages, since EMR
// guarantees no order.
func (e *EMR) Discover(ctx context.Context) ([]Listed, error) {
	e.folders.clear()
	e.uis.begin()
	if e.o.ClusterARN != "" {
		return e.one(ctx)
	}
	if e.o.ClusterID != "" {
		return e.selected(ctx)
	}
	input := &emr.ListClustersInput{ClusterStates: e.o.States}
	if !e.o.CreatedAfter.IsZero() {
		input.CreatedAfter = aws.Time(e.o.CreatedAfter.Add(-time.Second)) // EMR treats the bound as exclusive
	}
	if !e.o.CreatedBefore.IsZero() {
		input.CreatedBefore = aws.Time(e.o.CreatedBefore)
	}
	var found []Listed
	pages := emr.NewListClustersPaginator(e.emr, input)
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list the EMR clusters of %s: %w", e.o.AWS.Region, err)
		}
		for _, c := range page.Clusters {
			listed := e.listed(aws.ToString(c.ClusterArn), aws.ToString(c.Id), aws.ToString(c.Name), c.Status)
			if strings.Contains(aws.ToString(c.Name), e.o.NameFilter) && !listed.Created.Before(e.o.CreatedAfter) {
				found = append(found, listed)
			}
		}
		if e.o.Listed != nil && pages.HasMorePages() {
			e.o.Listed(len(found))
		}
	}
	slices.SortStableFunc(found, newestCluster)
	return e.tagged(ctx, found)
}

// newestCluster orders clusters: the one that was created last comes first.
func newestCluster(a, b Listed) int {
	return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.ID.ClusterID, b.ID.ClusterID))
}

// one returns the single cluster that the options name.
func (e *EMR) one(ctx context.Context) ([]Listed, error) {
	parsed, err := ParseClusterARN(e.o.ClusterARN)
	if err != nil {
		return nil, err
	}
	out, err := e.emr.DescribeCluster(ctx, &emr.DescribeClusterInput{ClusterId: &parsed.ID})
	if err != nil {
		return nil, fmt.Errorf("describe the EMR cluster %s: %w", parsed.ID, err)
	}
	return []Listed{e.listed(e.o.ClusterARN, parsed.ID, aws.ToString(out.Cluster.Name), out.Cluster.Status)}, nil
}

// selected returns the cluster of ClusterID if the options select it.
func (e *EMR) selected(ctx context.Context) ([]Listed, error) {
	out, err := e.emr.DescribeCluster(ctx, &emr.DescribeClusterInput{ClusterId: &e.o.ClusterID})
	if err != nil {
		return nil, fmt.Errorf("describe the EMR cluster %s: %w", e.o.ClusterID, err)
	}
	c := out.Cluster
	listed := e.listed(aws.ToString(c.ClusterArn), e.o.ClusterID, aws.ToString(c.Name), c.Status)
	if len(e.o.States) > 0 && (c.Status == nil || !slices.Contains(e.o.States, c.Status.State)) ||
		!strings.Contains(aws.ToString(c.Name), e.o.NameFilter) || !hasTags(c, e.o.Tags) {
		return nil, nil
	}
	return []Listed{listed}, nil
}

// settleTime is how long after a cluster's end its last logs may arrive: EMR uploads logs
// every five minutes, and the history with a delay of at least two minutes (EMR Management
// Guide, "View log files", "View persistent application user interfaces").
const settleTime = 15 * time.Minute

func (e *EMR) listed(arn, id, name string, status *types.ClusterStatus) Listed {
	listed := Listed{ID: clusterKey(arn, id, name, e.o.AWS.Region), arn: arn}
	if status == nil {
		return listed
	}
	if timeline := status.Timeline; timeline != nil {
		listed.Created, listed.Ended = aws.ToTime(timeline.CreationDateTime), aws.ToTime(timeline.EndDateTime)
	}
	listed.Settled = ended(status.State) && e.now().After(listed.Ended.Add(settleTime))
	listed.Fingerprint = fmt.Sprintf("%s %d", status.State, listed.Ended.UnixMilli())
	return listed
}

func ended(state types.ClusterState) bool {
	return state == types.ClusterStateTerminated || state == types.ClusterStateTerminatedWithErrors
}
