package emr

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// idleInterval is the time between two checks for idle clusters. The shortest idle
// timeout is 60 s (API reference, AutoTerminationPolicy).
const idleInterval = 15 * time.Second

// busyFile is what programs that are busy outside YARN touch on the primary node
// (Management Guide, "Using an auto-termination policy").
const busyFile = "/emr/metricscollector/isbusy"

// idleState says since when a cluster has been idle, and what it had done by then.
type idleState struct {
	since    time.Time
	activity activity
}

// activity is what a cluster has done in its life. It differs after anything that
// the cluster does, however short.
type activity struct {
	steps, applications int       // how many
	uiRequests          int       // to the cluster's own pages
	busyFileTime        time.Time // modification time of busyFile
}

// WatchIdle terminates clusters by their auto-termination policies until ctx is done.
func (s *Service) WatchIdle(ctx context.Context) { repeat(ctx, idleInterval, s.TerminateIdle) }

// repeat calls f at an interval until ctx is done.
func repeat(ctx context.Context, interval time.Duration, f func(context.Context)) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			f(ctx)
		}
	}
}

// TerminateIdle checks every cluster once and terminates those that have been idle for
// longer than their policy allows: no application in YARN, no step, no page of the cluster
// in use, busyFile not touched (Management Guide, "Using an auto-termination policy",
// releases from 6.4). Unlike EMR it checks neither notebooks, which do not exist here, nor the use
// of HDFS. It does not terminate a cluster with termination protection.
func (s *Service) TerminateIdle(ctx context.Context) {
	for _, id := range s.Store.ClusterIDs() {
		timeout, enforced := s.idleTimeout(id)
		if !enforced {
			s.idle.Delete(id)
			continue
		}
		done, busy, err := s.readActivity(ctx, id)
		if err != nil {
			s.Log.Warn("check for idleness", "cluster", id, "error", err)
			s.idle.Delete(id)
			continue
		}
		if s.idleFor(id, done, busy) < timeout {
			continue
		}
		reason := types.ClusterStateChangeReason{
			Code:    types.ClusterStateChangeReasonCodeAllStepsCompleted,
			Message: aws.String("Auto-terminated: the cluster was idle for " + timeout.String()),
		}
		if err := s.Store.SetClusterState(id, types.ClusterStateTerminating, reason); err != nil {
			s.Log.Error("terminate idle cluster", "cluster", id, "error", err)
		}
	}
}

// idleTimeout returns a cluster's idle timeout, and whether its policy applies now.
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

// readActivity returns what a cluster has done so far, and whether it is busy now.
func (s *Service) readActivity(ctx context.Context, id string) (activity, bool, error) {
	nodes, err := s.clusterNodes(id)
	if err != nil {
		return activity{}, false, err
	}
	steps, err := s.Store.Steps(id)
	if err != nil {
		return activity{}, false, err
	}
	ctx, cancel := context.WithTimeout(ctx, idleInterval)
	defer cancel()
	metrics, err := readYARNMetrics(ctx, nodes[0])
	if err != nil {
		return activity{}, false, err
	}
	done := activity{steps: len(steps), applications: metrics.AppsSubmitted}
	if s.UIs != nil {
		done.uiRequests = s.UIs.Used(id)
	}
	if info, err := os.Stat(filepath.Join(nodes[0].machine.Root, busyFile)); err == nil {
		done.busyFileTime = info.ModTime()
	}
	return done, metrics.AppsRunning+metrics.AppsPending > 0, nil
}

// idleFor returns how long a cluster has been idle, given what it has done so far.
// Any activity since the last check restarts the time.
func (s *Service) idleFor(id string, done activity, busy bool) time.Duration {
	now := s.Clock.Now()
	state, _ := s.idle.Load(id)
	previous, known := state.(idleState)
	if busy || !known || previous.activity != done {
		s.idle.Store(id, idleState{since: now, activity: done})
		return 0
	}
	return now.Sub(previous.since)
}
