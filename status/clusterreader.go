package status

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"golang.org/x/time/rate"

	"github.com/emr-observatory/emr-observatory/platform"
)

const (
	// EMR counts each kind of call of the whole account on its own: five at once, and
	// half a call per second (Management Guide, "What are Amazon EMR service quotas").
	// This much of it is for the names and states of clusters, whatever their number.
	describesPerSecond = 0.25
	describesAtOnce    = 4

	// describeAge is how old EMR's answer about a cluster that runs may be.
	describeAge = time.Minute

	firstRetry   = 20 * time.Second
	slowestRetry = 10 * time.Minute // also of what EMR does not describe
)

// EMRCluster is what EMR says of a cluster.
type EMRCluster struct {
	ID      string
	Name    string             // the id, of a cluster that EMR does not describe
	State   types.ClusterState // "" of such a cluster
	Release string
	Reason  string // why it ended
	Ended   time.Time
	Own     bool // the stack started it

	Unread string // why the profiler does not read its history

	// BootstrapHash is the argument of this platform's bootstrap action that says what
	// it installs. "" = EMR lists no such action, or was not asked yet.
	BootstrapHash string
	BootstrapRead bool

	Unknown string // why EMR does not describe it
}

// Final reports whether the cluster has ended: EMR's answer does not change any more.
func (c EMRCluster) Final() bool { return isEnded(c.State) }

func isEnded(state types.ClusterState) bool {
	return state == types.ClusterStateTerminated || state == types.ClusterStateTerminatedWithErrors
}

// ClusterReader reads what EMR says of clusters, and remembers it.
type ClusterReader struct {
	client    *emr.Client
	config    Config
	describes *rate.Limiter
	bootstrap *rate.Limiter

	mu   sync.Mutex
	seen map[string]clusterReading
	own  ownClusters
}

// clusterReading is EMR's last answer about a cluster.
type clusterReading struct {
	cluster EMRCluster // its Name is "" before the first answer
	reports bool
	next    time.Time // when EMR is asked again

	failures int // in a row
	failure  error
}

// NewClusterReader returns a reader of the clusters that a status server observes.
func NewClusterReader(client *emr.Client, config Config) *ClusterReader {
	return &ClusterReader{
		client: client, config: config, seen: map[string]clusterReading{},
		describes: rate.NewLimiter(describesPerSecond, describesAtOnce), bootstrap: rate.NewLimiter(describesPerSecond, describesAtOnce),
	}
}

// Known returns what EMR said of a cluster last; false before its first answer.
func (r *ClusterReader) Known(id string) (EMRCluster, bool) {
	if !platform.IsClusterID(id) {
		return EMRCluster{ID: id, Name: id, Unknown: fmt.Sprintf("%q is no id of an EMR cluster", id)}, true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := r.seen[id]
	return kept.cluster, kept.cluster.Name != ""
}

// Observed returns what EMR said last of the clusters of the last Refresh: those that
// report, and the stack's own.
func (r *ClusterReader) Observed() []EMRCluster {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []EMRCluster
	for _, id := range slices.Sorted(maps.Keys(r.seen)) {
		if kept := r.seen[id]; kept.cluster.Name != "" && (kept.reports || kept.cluster.Own) {
			out = append(out, kept.cluster)
		}
	}
	return out
}

// Refresh asks EMR about the clusters that report and the stack's own, as far as its
// last answers are too old, and forgets all others. It asks about as many as the limit
// allows at once, the ones with the oldest answers first. It returns what EMR did not
// answer. One round runs at a time.
func (r *ClusterReader) Refresh(ctx context.Context, reporting []string, now time.Time) []error {
	var errs []error
	readings, err := r.current(ctx, reporting, now)
	if err != nil {
		errs = append(errs, err)
	}
	byAge := slices.SortedFunc(maps.Keys(readings), func(a, b string) int {
		return cmp.Or(readings[a].next.Compare(readings[b].next), strings.Compare(a, b))
	})
	r.describeAll(ctx, readings, byAge, now)
	r.addBootstraps(ctx, readings, byAge, now)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = readings
	for _, id := range slices.Sorted(maps.Keys(readings)) {
		if err := readings[id].failure; err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// current returns the last answers about the clusters that report and those that may be
// the stack's own.
func (r *ClusterReader) current(ctx context.Context, reporting []string, now time.Time) (map[string]clusterReading, error) {
	listed, err := r.listOwn(ctx, now)
	r.mu.Lock()
	defer r.mu.Unlock()
	readings := map[string]clusterReading{}
	for _, id := range slices.Concat(listed, reporting) {
		if platform.IsClusterID(id) {
			kept := r.seen[id]
			kept.reports = slices.Contains(reporting, id)
			readings[id] = kept
		}
	}
	return readings, err
}

func (r *ClusterReader) describeAll(ctx context.Context, readings map[string]clusterReading, ids []string, now time.Time) {
	for _, id := range ids {
		kept := readings[id]
		if kept.cluster.Final() || now.Before(kept.next) {
			continue
		}
		if ctx.Err() != nil || !r.describes.Allow() {
			return
		}
		answer, err := r.describe(ctx, id)
		readings[id] = kept.after(answer, err, now)
	}
}

func (r *ClusterReader) addBootstraps(ctx context.Context, readings map[string]clusterReading, ids []string, now time.Time) {
	for _, id := range ids {
		kept := readings[id]
		if kept.cluster.State == "" || kept.cluster.BootstrapRead || kept.failure != nil {
			continue
		}
		if ctx.Err() != nil || !r.bootstrap.Allow() {
			return
		}
		readings[id] = r.addBootstrap(ctx, kept, now)
	}
}

// after returns the reading after an answer or a failure. Each failure doubles the
// wait: EMR throttles the whole account. Meanwhile the last answer stands.
func (kept clusterReading) after(answer EMRCluster, err error, now time.Time) clusterReading {
	if err != nil {
		kept.failure = err
		kept.next = now.Add(min(slowestRetry, firstRetry<<min(kept.failures, 8)))
		kept.failures++
		return kept
	}
	answer.BootstrapRead, answer.BootstrapHash = kept.cluster.BootstrapRead, kept.cluster.BootstrapHash
	wait := describeAge
	if answer.Unknown != "" {
		wait = slowestRetry
	}
	return clusterReading{cluster: answer, reports: kept.reports, next: now.Add(wait)}
}
