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

	// maxUnlisted is how many clusters that EMR does not list are shown: those that ended long ago,
	// Spark on a laptop, or clusters of another account. A job can make up any number.
	maxUnlisted = 50
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

	mu    sync.Mutex
	seen  map[string]clusterReading
	other int // ids that EMR does not list, beyond maxUnlisted
	whole bool

	listing clusterListing // only Refresh uses it
}

// clusterReading is EMR's last answer about a cluster.
type clusterReading struct {
	cluster  EMRCluster // its Name is "" before the first answer
	reports  bool
	unlisted bool      // EMR lists no such cluster, and is asked about it once
	next     time.Time // when EMR is asked again

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

// Whole reports whether EMR has listed its clusters, and described those of the stack.
func (r *ClusterReader) Whole() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.whole
}

// Known returns what EMR said of a cluster last; false before its first answer, and of ids
// beyond maxUnlisted.
func (r *ClusterReader) Known(id string) (EMRCluster, bool) {
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

// Keeps reports whether a cluster is among those of the last Refresh.
func (r *ClusterReader) Keeps(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, found := r.seen[id]
	return found
}

// Lists reports whether EMR has listed or described a cluster: whether its id is more than a
// word that a sender chose.
func (r *ClusterReader) Lists(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept, found := r.seen[id]
	return found && !kept.unlisted
}

// Unlisted returns how many ids of the last Refresh are of no cluster that EMR lists, and not
// kept.
func (r *ClusterReader) Unlisted() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.other
}

// Refresh asks EMR about the clusters that report and the stack's own, as far as its
// last answers are too old, and forgets all others. It asks about as many as the limit
// allows at once, the ones with the oldest answers first. About ids that EMR does not list
// it asks last, about maxUnlisted of them, and once: any sender can make up ids, and EMR's
// quota is the account's. It returns what EMR did not answer. One round runs at a time.
func (r *ClusterReader) Refresh(ctx context.Context, reporting []string, now time.Time) []error {
	var errs []error
	listed, err := r.list(ctx, reporting, now)
	if err != nil {
		errs = append(errs, err)
	}
	readings, other := r.current(listed, reporting)
	rank := func(id string) int {
		if readings[id].unlisted {
			return 1 // last
		}
		return 0
	}
	byAge := slices.SortedFunc(maps.Keys(readings), func(a, b string) int {
		return cmp.Or(rank(a)-rank(b), readings[a].next.Compare(readings[b].next), strings.Compare(a, b))
	})
	r.describeAll(ctx, readings, byAge, now)
	r.addBootstraps(ctx, readings, byAge, now)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen, r.other, r.whole = readings, other, err == nil
	for id := range listed {
		if kept, own := readings[id]; own && kept.cluster.Name == "" {
			r.whole = false
		}
	}
	for _, id := range slices.Sorted(maps.Keys(readings)) {
		if err := readings[id].failure; err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// current returns the last answers about the clusters that report and those that may be the
// stack's own, and how many ids were left out. Of ids that EMR does not list it keeps
// maxUnlisted, those first that it kept before. What EMR has described needs no listing: EMR
// lists nothing that was started long ago and has ended.
func (r *ClusterReader) current(listed map[string]string, reporting []string) (readings map[string]clusterReading, other int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	readings = map[string]clusterReading{}
	for id, name := range listed {
		if r.hasOwnName(name) {
			readings[id] = r.seen[id].of(false)
		}
	}
	var before, since []string // unlisted
	for _, id := range reporting {
		_, lists := listed[id]
		switch kept := r.seen[id]; {
		case lists || kept.cluster.State != "":
			readings[id] = kept.of(true)
		case kept.unlisted:
			before = append(before, id)
		default:
			since = append(since, id)
		}
	}
	unlisted := slices.Concat(before, since)
	most := min(len(unlisted), maxUnlisted)
	for _, id := range unlisted[:most] {
		kept := r.seen[id]
		kept.unlisted, kept.reports = true, true
		if !platform.IsClusterID(id) {
			kept.cluster = EMRCluster{ID: id, Name: id, Unknown: fmt.Sprintf("%q is no id of an EMR cluster", id)}
		}
		readings[id] = kept
	}
	return readings, len(unlisted) - most
}

// of returns the reading of a cluster that EMR lists or has described.
func (kept clusterReading) of(reports bool) clusterReading {
	if kept.unlisted {
		kept = clusterReading{} // until now
	}
	kept.reports = reports
	return kept
}

func (r *ClusterReader) describeAll(ctx context.Context, readings map[string]clusterReading, ids []string, now time.Time) {
	for _, id := range ids {
		kept := readings[id]
		if kept.cluster.Final() || now.Before(kept.next) || kept.unlisted && kept.cluster.Name != "" {
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
	return clusterReading{
		cluster: answer, reports: kept.reports, unlisted: kept.unlisted && answer.State == "", next: now.Add(wait),
	}
}
