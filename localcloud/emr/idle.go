package emr

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// idleInterval is how often idleness is looked at. The shortest idle timeout
// is 60 s (API reference, AutoTerminationPolicy).
const idleInterval = 15 * time.Second

// busyFile is touched on the primary node by what is busy without YARN
// (Management Guide, "Using an auto-termination policy").
const busyFile = "/emr/metricscollector/isbusy"

// idleness is since when nothing has happened on a cluster.
type idleness struct {
	since   time.Time
	history activity
}

// activity changes whenever a cluster did something, however short.
type activity struct {
	steps, applications int
	touched             time.Time
}

// WatchIdle ends clusters by their auto-termination policy until ctx ends.
func (s *Service) WatchIdle(ctx context.Context) {
	tick := time.NewTicker(idleInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.EndIdle(ctx)
		}
	}
}

// EndIdle looks once at every cluster and ends those that have been idle for as
// long as their policy allows: no application in YARN, no step, an untouched
// busyFile (Management Guide, "Using an auto-termination policy", releases from
// 6.4). Notebooks do not exist here and HDFS' use, a condition on EMR, is not
// looked at. A cluster that is protected from termination stays.
func (s *Service) EndIdle(ctx context.Context) {
	for _, id := range s.Store.ClusterIDs() {
		timeout, waits := s.idleTimeout(id)
		if !waits || !s.Running(id) {
			s.forgetIdle(id)
			continue
		}
		history, busy, err := s.activity(ctx, id)
		if err != nil {
			s.Log.Warn("look for idleness", "cluster", id, "error", err)
			s.forgetIdle(id)
			continue
		}
		if s.idleFor(id, history, busy) < timeout {
			continue
		}
		reason := types.ClusterStateChangeReason{
			Code:    types.ClusterStateChangeReasonCodeAllStepsCompleted,
			Message: aws.String("Auto-terminated: the cluster was idle for " + timeout.String()),
		}
		if err := s.Store.SetClusterState(id, types.ClusterStateTerminating, reason); err != nil {
			s.Log.Error("end idle cluster", "cluster", id, "error", err)
		}
	}
}

// idleTimeout gives a cluster's policy, if it has one and may end by it now.
func (s *Service) idleTimeout(id string) (time.Duration, bool) {
	c, err := s.Store.Cluster(id)
	if err != nil || c.Status.State != types.ClusterStateWaiting || aws.ToBool(c.TerminationProtected) {
		return 0, false
	}
	policy, err := s.Store.AutoTermination(id)
	if err != nil || policy == nil {
		return 0, false
	}
	return time.Duration(aws.ToInt64(policy.IdleTimeout)) * time.Second, true
}

func (s *Service) activity(ctx context.Context, id string) (activity, bool, error) {
	nodes, err := s.cluster(id)
	if err != nil {
		return activity{}, false, err
	}
	steps, err := s.Store.Steps(id)
	if err != nil {
		return activity{}, false, err
	}
	ctx, cancel := context.WithTimeout(ctx, idleInterval)
	defer cancel()
	metrics, err := yarn(ctx, nodes[0])
	if err != nil {
		return activity{}, false, err
	}
	history := activity{steps: len(steps), applications: metrics.AppsSubmitted}
	if info, err := os.Stat(filepath.Join(nodes[0].machine.Root, busyFile)); err == nil {
		history.touched = info.ModTime()
	}
	return history, metrics.AppsRunning+metrics.AppsPending > 0, nil
}

// idleFor tells how long a cluster has been idle. It begins anew when
// something happened since the last look.
func (s *Service) idleFor(id string, history activity, busy bool) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.Clock.Now()
	before, known := s.idle[id]
	if busy || !known || before.history != history {
		if s.idle == nil {
			s.idle = map[string]idleness{}
		}
		s.idle[id] = idleness{since: now, history: history}
		return 0
	}
	return now.Sub(before.since)
}

func (s *Service) forgetIdle(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.idle, id)
}
