package submit_test

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud/emrapi/emrapitest"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status/statustest"
	"github.com/emr-observatory/emr-observatory/submit"
)

// While nothing changes, submit says what a step waits for, and what its application does.
func TestSubmitTellsWhatItWaitsFor(t *testing.T) {
	w, page := newWorld(t), statustest.New(t)
	options := func(name string, react map[string]func()) (submit.Options, *progress) {
		o, log := w.options(t, name), &progress{react: react}
		o.Status = submit.StatusPage{URL: page.URL, Access: page.Access, Settle: time.Millisecond}
		o.PhasesWait, o.Silence, o.Progress = testTimeout.Scaled(), time.Millisecond, log
		return o, log
	}
	submitted := func(o submit.Options) {
		ctx, cancel := context.WithTimeout(t.Context(), testTimeout.Scaled())
		defer cancel()
		_, err := submit.Submit(ctx, o)
		require.NoError(t, err)
	}
	running, log := options("hold.py", nil)
	log.react = map[string]func(){
		"no application has sent its phases yet": func() {
			page.Send(t, w.cluster, *w.steps[0].Id, application, time.Second, map[platform.Phase]float64{platform.PhaseCompute: 3})
		},
		" so far: ": func() { close(w.releaseHold) },
	}
	submitted(running)
	require.Regexp(t, `step s-\w+ is RUNNING for \d+s: no application has sent its phases yet\n`, log.text.String())
	require.Regexp(t, `step s-\w+ is RUNNING for \d+s: `+application+` so far: wait 0 % · compute 100 % · `, log.text.String())

	w.releaseHold = make(chan struct{})
	running.Wait = false
	submitted(running)
	queued, log := options("job.py", map[string]func(){"1 of its cluster come first": func() { close(w.releaseHold) }})
	queued.PhasesWait = 0
	submitted(queued)
	require.Regexp(t, `step s-\w+ is PENDING for \d+s: 1 of its cluster come first; s-\w+ \(hold.py\) is RUNNING\n`, log.text.String())

	early, log := options("silent.py", nil)
	early.Cluster, early.PhasesWait = emrapitest.PutCluster(t, w.store), 0
	log.react = map[string]func(){"is STARTING": func() {
		for _, state := range []types.ClusterState{types.ClusterStateBootstrapping, types.ClusterStateRunning} {
			require.NoError(t, w.store.SetClusterState(early.Cluster, state, types.ClusterStateChangeReason{}))
		}
	}}
	submitted(early)
	require.Regexp(t, `step s-\w+ is PENDING for \d+s: cluster `+early.Cluster+` is STARTING\n`, log.text.String())
}
