package steptelemetry

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/serve"
	"github.com/emr-observatory/emr-observatory/status"
)

// wakeAge is how old the end of a step may be for which the profiler is woken. Its runs have read
// older ones, or do.
const wakeAge = time.Hour

// toWake remembers the applications of steps that have ended, until the profiler knows of them.
func (r *Recorder) toWake(cluster string, done []status.Step, now time.Time) {
	for _, step := range done {
		if step.Ended != nil && step.Ended.After(now.Add(-wakeAge)) {
			r.addUnread(cluster, step.ApplicationIDs)
		}
	}
}

func (r *Recorder) addUnread(cluster string, applications []string) {
	for _, id := range applications {
		if platform.IsYARNApplicationID(id) && len(r.unread[cluster]) < serve.MaxWakeApplications {
			r.unread[cluster] = append(r.unread[cluster], id)
		}
	}
}

// addStepless remembers the applications without a step that have ended since the last round.
func (r *Recorder) addStepless(ctx context.Context) error {
	ended, err := r.source.EndedWithoutStep(ctx, wakeAge)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for cluster, ids := range ended {
		if !r.lists(cluster) {
			continue
		}
		for _, id := range ids {
			if seen[id] = true; !r.stepless[id] {
				r.addUnread(cluster, []string{id})
			}
		}
	}
	r.stepless = seen
	return nil
}

// wake wakes the profiler. What it does not accept is offered again in the next round. After a
// restart of this server nothing is, and the profiler's next run reads it.
func (r *Recorder) wake(ctx context.Context) error {
	for _, cluster := range slices.Sorted(maps.Keys(r.unread)) {
		if err := r.source.Wake(ctx, serve.Wake{Cluster: cluster, Applications: r.unread[cluster]}); err != nil {
			return err // names the profiler
		}
		delete(r.unread, cluster)
	}
	return nil
}
