package submit_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
	"github.com/emr-observatory/emr-observatory/status/statustest"
	"github.com/emr-observatory/emr-observatory/submit"
)

const application = "application_1700000000000_0007" // of the jobs in world

// The driver's last metrics arrive a moment after the step's end; until then there are
// those of an earlier interval. A store that does not respond once is read again.
func TestSubmitReportsPhasesAfterStepEnds(t *testing.T) {
	w, page := newWorld(t), statustest.New(t)
	final := map[platform.Phase]float64{platform.PhaseResourceWait: 60, platform.PhaseWrite: 40}
	o := w.options(t, "job.py")
	o.Status = submit.StatusPage{URL: page.URL + status.Path, Access: page.Access, Settle: time.Hour}
	o.PhasesWait = testTimeout.Scaled()
	o.Progress = &progress{react: map[string]func(){
		"added to cluster": func() {
			page.Send(t, w.cluster, "", application, 10*time.Second, map[platform.Phase]float64{platform.PhaseResourceWait: 50})
		},
		"is COMPLETED": func() {
			page.Failing.Store(1)
			page.Send(t, w.cluster, "", application, 0, final)
		},
	}}
	result, err := submit.Submit(t.Context(), o)
	require.NoError(t, err)
	require.Empty(t, result.Warnings)
	require.Len(t, result.Phases, 1)
	require.Contains(t, result.Phases[0].String(), "driver 0 %; waiting for resources cost up to 1 min (60 %), try ")
	result.Phases[0].Verdict = nil
	require.Equal(t, []status.ApplicationPhases{{
		ApplicationID: application, Line: "wait 60 % · compute 0 % · write 40 % · driver 0 %", Seconds: final, Ended: true,
		Page:     "https://10.0.0.4:3443/status/applications/" + application,
		Timeline: "https://10.0.0.4:3000/d/timeline?app=" + application + "&cluster=" + w.cluster,
	}}, result.Phases)
}

// A driver that is killed never says that its phases are final: what it sent last counts
// once everything that was sent has arrived.
func TestSubmitTellsThePhasesOfAKilledDriver(t *testing.T) {
	w, page := newWorld(t), statustest.New(t)
	o := w.options(t, "job.py")
	o.Status = submit.StatusPage{URL: page.URL + status.Path, Access: page.Access, Settle: 3 * time.Second}
	o.PhasesWait = testTimeout.Scaled()
	o.Progress = &progress{react: map[string]func(){
		"added to cluster": func() {
			page.Send(t, w.cluster, "", application, 10*time.Second, map[platform.Phase]float64{platform.PhaseCompute: 50})
		},
	}}
	result, err := submit.Submit(t.Context(), o)
	require.NoError(t, err)
	require.Len(t, result.Phases, 1)
	require.True(t, result.Phases[0].Approximate)
	require.False(t, result.Phases[0].Ended)
	require.Contains(t, result.Phases[0].Line, "(approximate)")
}

// A job's result does not depend on the status page, and what cannot help is not asked
// twice.
func TestSubmitWithoutPhases(t *testing.T) {
	w, page := newWorld(t), statustest.New(t)
	const hint = "where its time went"
	for name, c := range map[string]struct {
		job      string
		change   func(*submit.Options)
		says     string // "" = nothing of phases
		requests int64  // at most
	}{
		"no plugin":         {"job.py", func(o *submit.Options) { o.PhasesWait = 4 * time.Second }, "", 5},
		"not asked":         {"job.py", func(o *submit.Options) { o.PhasesWait = 0 }, "", 0},
		"not waited for":    {"job.py", func(o *submit.Options) { o.Wait = false }, "", 0},
		"without Spark":     {"mute.py", func(*submit.Options) {}, "", 1},
		"no page":           {"job.py", func(o *submit.Options) { o.Status.URL = "" }, "the status page (stack output statusUrl)", 0},
		"no server":         {"job.py", func(o *submit.Options) { o.Status.URL = "https://" + testenv.Address(t) }, "connection refused", 0},
		"wrong password":    {"job.py", func(o *submit.Options) { o.Status.Access.Password = "wrong" }, "401 Unauthorized", 1},
		"unknown authority": {"job.py", func(o *submit.Options) { o.Status.Access.CACertificate = nil }, "unknown authority", 0},
		"password in clear": {"job.py", func(o *submit.Options) { o.Status.URL = "http://127.0.0.1:1" }, "https:// only", 0},
	} {
		t.Run(name, func(t *testing.T) {
			o, log := w.options(t, c.job), &progress{}
			o.Status = submit.StatusPage{URL: page.URL, Access: page.Access, Settle: time.Millisecond}
			o.PhasesWait, o.Progress = testTimeout.Scaled(), log
			c.change(&o)
			before := page.Requests.Load()
			result, err := submit.Submit(t.Context(), o)
			require.Equal(t, c.job == "mute.py", err != nil)
			require.Empty(t, result.Phases)
			require.Empty(t, result.Warnings)
			require.Equal(t, c.says != "", strings.Contains(log.text.String(), hint), log.text.String())
			require.Contains(t, log.text.String(), c.says)
			require.LessOrEqual(t, page.Requests.Load()-before, c.requests)
		})
	}
}
