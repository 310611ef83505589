package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/emr-observatory/emr-observatory/profiler/judge"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/source"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// runner is one run.
type runner struct {
	o        Options
	source   source.Source
	lake     *lake.Lake
	progress Progress
	now      time.Time // when the run began

	reads sync.RWMutex // exclusive while an application is read whose reading ended an earlier process

	mu      sync.Mutex
	summary Summary
	fatal   error // the lake cannot be written
}

func (r *runner) run(ctx context.Context) error {
	found, err := r.source.Discover(ctx)
	interrupted := ctx.Err() != nil
	if interrupted {
		err = nil // the summary says so
	}
	if errors.Is(err, source.ErrNoLogs) { // what the tables have is kept, as in any run
		r.summary.add(Incomplete{Reason: err.Error()})
		err = nil
	}
	if interrupted || err != nil {
		return err
	}
	chosen := r.choose(ctx, found)
	line := fmt.Sprintf("%s found", clusters(len(found)))
	if done := r.summary.ClustersCurrent; done > 0 {
		line += fmt.Sprintf(", %d of them already complete", done)
	}
	if old := r.summary.ClustersExpired; old > 0 {
		line += fmt.Sprintf(", %d older than retention_days", old)
	}
	if cut := len(found) - r.summary.ClustersCurrent - r.summary.ClustersExpired; cut > len(chosen) {
		line += fmt.Sprintf("; reading %d of %s (max_clusters)", len(chosen), clusters(cut))
	}
	r.progress.Printf("%s", line)
	if wait := r.source.Estimate(len(chosen)); wait > 0 {
		r.progress.Printf("%s: at least %s at EMR's request quota", clusters(len(chosen)), wait)
	}
	r.progress.Clusters(len(chosen))
	for first := 0; first < len(chosen) && ctx.Err() == nil && r.writable(); first += r.o.BatchSize {
		if first > 0 && !pause(ctx, r.o.BatchDelay) {
			break
		}
		r.batch(ctx, chosen[first:min(first+r.o.BatchSize, len(chosen))])
	}
	if r.fatal == nil && ctx.Err() == nil {
		r.judge(ctx)
	}
	r.summary.finish()
	if r.fatal != nil || ctx.Err() != nil || r.o.ClusterID != "" {
		return r.fatal
	}
	if err := r.finish(ctx); ctx.Err() == nil {
		return err
	}
	return nil // the summary says that the run was interrupted
}

// finish removes what is too old and compacts what has changed.
func (r *runner) finish(ctx context.Context) error {
	if r.o.RetentionDays > 0 {
		removed, err := r.lake.Expire(ctx, r.o.Oldest(r.now), false)
		r.summary.Expired = len(removed)
		if err != nil {
			return err
		}
	}
	compacted, err := r.lake.IsCompacted(ctx)
	if err != nil || !compacted && !r.o.Compact {
		return err
	}
	done, err := compact(ctx, r.lake, r.progress.Printf)
	r.summary.Compaction = &done
	for _, day := range done.Failed {
		r.summary.add(Incomplete{Reason: DescribeUncompacted(day)})
	}
	return err
}

// judge judges what the run has read, and what was judged by other rules.
func (r *runner) judge(ctx context.Context) {
	judged, err := judge.Changed(ctx, r.lake)
	if err != nil && ctx.Err() == nil {
		r.fatal = err
	}
	s := &r.summary
	s.recordWrite(lake.Written{Objects: judged.Objects, Removed: judged.Removed, Bytes: judged.Bytes})
	s.Judged, s.Findings, s.CriticalFindings = judged.Judged, judged.Findings, judged.Critical
	for _, f := range judged.Failed {
		s.add(Incomplete{f.ClusterID, f.ApplicationID, f.AttemptID, fmt.Sprintf("not judged: %s; %s", f.Reason, damagedRemedy)})
	}
}

// Oldest is the day (UTC) before which nothing is kept; zero if everything is.
func (o Options) Oldest(now time.Time) time.Time {
	if o.RetentionDays == 0 {
		return time.Time{}
	}
	return now.UTC().AddDate(0, 0, -o.RetentionDays).Truncate(24 * time.Hour)
}

// expired reports whether a time is before the retention cutoff. An unknown time never is.
func (r *runner) expired(t time.Time) bool {
	return !t.IsZero() && t.Before(r.o.Oldest(r.now))
}

// choose selects the clusters to read: it drops complete and expired ones, and applies
// max_clusters.
func (r *runner) choose(ctx context.Context, found []source.Listed) (chosen []source.Listed) {
	r.summary.ClustersFound = len(found)
	current := make([]bool, len(found))
	each(lakeReads, found, func(i int, c source.Listed) {
		enough := r.enough(func(tasks bool) string { return clusterFingerprint(c, tasks) })
		current[i] = c.Settled && r.lake.IsClusterCurrent(c.ID, enough...)
	})
	for i, c := range found {
		switch {
		case current[i]:
			r.summary.ClustersCurrent++
		case r.expired(c.Ended):
			r.summary.ClustersExpired++
		default:
			chosen = append(chosen, c)
		}
	}
	if most := r.o.MaxClusters; most > 0 && len(chosen) > most {
		r.summary.add(Incomplete{Reason: fmt.Sprintf("only %d of %s read: limited by max_clusters", most, clusters(len(chosen)))})
		chosen = r.byNeed(ctx, chosen, most)
	}
	return chosen
}

// Needs of clusters, the most urgent first.
const (
	needNew = iota
	needEnded
	needRunning
)

// byNeed returns most of the clusters: first those that no run has read, then those that
// have ended and can be completed. The others may change with every run, and would take all
// its places; a quarter is theirs, since ended ones that cannot be completed yet would
// otherwise take all. The newest come first among equals.
func (r *runner) byNeed(ctx context.Context, found []source.Listed, most int) []source.Listed {
	needs := make([]int, len(found))
	each(lakeReads, found, func(i int, c source.Listed) {
		held, err := r.lake.Cluster(ctx, c.ID)
		switch {
		case err == nil && held == nil:
			needs[i] = needNew
		case c.Settled:
			needs[i] = needEnded
		default:
			needs[i] = needRunning
		}
	})
	need := map[tables.Cluster]int{}
	for i, c := range found {
		need[c.ID] = needs[i]
	}
	slices.SortStableFunc(found, func(a, b source.Listed) int { return cmp.Compare(need[a.ID], need[b.ID]) })
	first := slices.IndexFunc(found, func(c source.Listed) bool { return need[c.ID] == needRunning })
	if first < 0 {
		return found[:most]
	}
	running := found[first:]
	running = running[:min(len(running), max(most/4, most-first))]
	return slices.Concat(found[:most-len(running)], running)
}

// batch reads a batch of clusters concurrently.
func (r *runner) batch(ctx context.Context, batch []source.Listed) {
	each(r.o.ClusterThreads, batch, func(_ int, listed source.Listed) {
		if ctx.Err() == nil && r.writable() {
			r.cluster(ctx, listed)
		}
		r.progress.ClusterDone()
	})
}

// pause waits. It reports false if the context ended first.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// failLake records an error of the lake, which ends the run: nothing more could be stored.
func (r *runner) failLake(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fatal = cmp.Or(r.fatal, err)
}

func (r *runner) writable() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fatal == nil
}

func (r *runner) record(change func(*Summary)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.summary)
}

func clusters(n int) string {
	if n == 1 {
		return "1 cluster"
	}
	return fmt.Sprintf("%d clusters", n)
}
