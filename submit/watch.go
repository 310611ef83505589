package submit

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/status"
)

// silence measures how long nothing was said.
type silence struct {
	limit time.Duration
	since time.Time
}

// ends reports whether it is time to say something, and if so begins anew.
func (s *silence) ends() bool {
	if time.Since(s.since) < s.limit {
		return false
	}
	s.since = time.Now()
	return true
}

// watch tells how a step goes on while submit waits for its end: each change of its state,
// and at intervals what it waits for.
type watch struct {
	clients
	o       Options
	silence silence
	refused bool // the status page will not answer next time either
}

func newWatch(c clients, o Options) *watch {
	return &watch{clients: c, o: o, silence: silence{o.Silence, time.Now()}}
}

// tell says a step's new state, or after a silence what it waits for. What cannot be found
// out is left out: the wait for the step's end needs none of it.
func (w *watch) tell(ctx context.Context, before types.StepState, step *types.Step) {
	id, state, times := aws.ToString(step.Id), step.Status.State, step.Status.Timeline
	switch {
	case state != before:
		w.o.say("step %s is %s %s after it was added", id, state, age(created(times)))
		w.silence.since = time.Now()
	case status.IsFinal(state) || !w.silence.ends():
	case state == types.StepStatePending:
		w.o.say("step %s is %s for %s: %s", id, state, age(created(times)), w.before(ctx, step))
	default:
		w.o.say("step %s is %s for %s: %s", id, state, age(started(times)), w.applications(ctx, step))
	}
}

// before names what comes before a pending step: the start of its cluster, or other steps.
func (w *watch) before(ctx context.Context, step *types.Step) string {
	cluster, err := w.describeCluster(ctx, w.o.Cluster)
	if err != nil {
		return err.Error()
	}
	state := cluster.Status.State
	if state != types.ClusterStateRunning && state != types.ClusterStateWaiting {
		return fmt.Sprintf("cluster %s is %s", w.o.Cluster, state)
	}
	out, err := w.emr.ListSteps(ctx, &emr.ListStepsInput{
		ClusterId: aws.String(w.o.Cluster), StepStates: []types.StepState{types.StepStatePending, types.StepStateRunning},
	})
	if err != nil {
		return fmt.Sprintf("list steps of cluster %s: %v", w.o.Cluster, err)
	}
	var ahead []string
	for _, other := range out.Steps { // newest first
		if created(other.Status.Timeline).Before(created(step.Status.Timeline)) {
			ahead = append(ahead, fmt.Sprintf("%s (%s) is %s", aws.ToString(other.Id), aws.ToString(other.Name), other.Status.State))
		}
	}
	if len(ahead) == 0 {
		return fmt.Sprintf("cluster %s is %s and takes it next", w.o.Cluster, state)
	}
	return fmt.Sprintf("%d of its cluster come first; %s", len(ahead), strings.Join(ahead, ", "))
}

// applications says where the time of a running step's applications went so far.
func (w *watch) applications(ctx context.Context, step *types.Step) string {
	if w.o.PhasesWait <= 0 || w.o.Status.URL == "" || w.refused || started(step.Status.Timeline).IsZero() {
		return "waiting for its end"
	}
	found, err := status.FetchPhases(ctx, w.o.Status.URL, w.o.Status.Access, status.Step{
		Cluster: w.o.Cluster, ID: aws.ToString(step.Id), Started: step.Status.Timeline.StartDateTime,
	})
	switch {
	case err != nil:
		w.refused = ctx.Err() == nil && !status.Temporary(err)
		return err.Error()
	case len(found) == 0:
		return "no application has sent its phases yet"
	}
	lines := make([]string, 0, len(found))
	for _, of := range found {
		lines = append(lines, of.ApplicationID+" so far: "+of.Line)
	}
	return strings.Join(lines, "; ")
}

func created(times *types.StepTimeline) time.Time {
	if times == nil {
		return time.Time{}
	}
	return aws.ToTime(times.CreationDateTime)
}

func started(times *types.StepTimeline) time.Time {
	if times == nil {
		return time.Time{}
	}
	return aws.ToTime(times.StartDateTime)
}

// age is how long ago EMR says something was. Its clock may be ahead of this machine's.
func age(at time.Time) time.Duration {
	if at.IsZero() {
		return 0
	}
	return max(0, time.Since(at)).Round(time.Second)
}
