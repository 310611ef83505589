package phases_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
)

func TestHostileJobs(t *testing.T) {
	c := startCluster(t)
	tests := map[string]func(*testing.T, *cluster){
		"an executor is killed":    testKilledExecutor,
		"the driver is killed":     testKilledDriver,
		"two contexts in a driver": testTwoContexts,
	}
	if testenv.Long() { // otherwise phases divides logs of such applications
		tests["the application master is killed"] = testKilledMaster
		tests["nobody calls stop"] = testForgottenStop
		tests["another's listener sleeps"] = testSleepingListener
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, c)
		})
	}
}

// one makes a job use one executor.
func one() map[string]string { return map[string]string{"spark.dynamicAllocation.maxExecutors": "1"} }

// awaitTasks waits until tasks of the run have begun, by their executor's clock.
func (r *run) awaitTasks(t *testing.T) {
	t.Helper()
	require.NoError(t, testenv.Poll(t.Context(), testenv.Job, 50*time.Millisecond, func(context.Context) error {
		if log, _ := os.ReadFile(r.clock()); !strings.Contains(string(log), `"begin"`) {
			return fmt.Errorf("%s has begun nothing", r.name)
		}
		if len(r.notes(t).tasks) < 2 {
			return fmt.Errorf("no task of %s runs", r.name)
		}
		return nil
	}))
}

// kill kills the JVM whose command line contains both words.
func kill(t *testing.T, words ...string) {
	t.Helper()
	out, err := exec.Command("ps", "-eo", "pid,ppid,args", "-ww").Output()
	require.NoError(t, err)
	parents := map[int]int{} // of the JVMs found
	for line := range strings.Lines(string(out)) {
		var pid, parent int
		var program string
		_, _ = fmt.Sscan(line, &pid, &parent, &program)
		found := strings.Contains(program, "java")
		for _, w := range words {
			found = found && strings.Contains(line, w)
		}
		if found {
			parents[pid] = parent
		}
	}
	// A process that a JVM starts has the JVM's command line for a moment.
	maps.DeleteFunc(parents, func(_, parent int) bool { _, started := parents[parent]; return started })
	require.Len(t, parents, 1, "%v\n%s", words, out)
	for pid := range parents {
		require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	}
}

// The tasks begin again in another executor, for which the job has to wait.
func testKilledExecutor(t *testing.T, c *cluster) {
	r := c.submit(t, job{name: "killed-executor", mode: "killed", args: []string{"60"}, conf: one()})
	r.awaitTasks(t)
	kill(t, "CoarseGrainedExecutorBackend", r.application(t))
	r.wait(t)
	require.Equal(t, 1, r.count(t, "counted"), "the job's result")
	result := r.divide(t)
	own := r.account(t, 0)
	n := r.notes(t)
	lost := n.logged(t, logLost, 0)
	other := n.logged(t, logExecutor, lost)
	own.paint(lost, other, platform.PhaseResourceWait)
	own.paint(other, n.logged(t, logTask, other), platform.PhaseDriver)
	requireAccount(t, own, result)
	r.requirePlugin(t, result)
	removed := r.received.largest(r.application(t), "spark.executor.removed", "reason")
	require.InDelta(t, 1, removed["killed"], 0, "YARN names the signal: %v", removed)
	require.Positive(t, r.received.largest(r.application(t), "spark.task.count", "outcome")["failed"])
}

// count returns how often the job has noted something.
func (r *run) count(t *testing.T, what string) int {
	t.Helper()
	count := 0
	for _, l := range r.notes(t).lines {
		if l.What == what {
			count++
		}
	}
	return count
}

// What its log holds is divided; the rest is lost, and the result says so.
func testKilledDriver(t *testing.T, c *cluster) {
	r := c.submit(t, job{name: "killed-driver", mode: "killed", args: []string{"600"}, conf: one(), fails: true})
	r.awaitTasks(t)
	testenv.Eventually(t, func() bool { return len(r.received.pointsOf(r.application(t), "spark.application.ended")) > 0 },
		testenv.Arrival, 100*time.Millisecond, "the first export")
	kill(t, "org.apache.spark.deploy.SparkSubmit", "spark.yarn.tags=killed-driver")
	r.wait(t)
	result := r.divide(t)
	require.True(t, result.Approximate)
	requireAccount(t, r.account(t, result.End), result)
	require.Zero(t, r.finalGauge(t, r.application(t), "spark.application.ended"), "nobody says that it ended")
}

// In cluster mode the driver is in the application master: YARN runs another, whose
// events are an account of their own.
func testKilledMaster(t *testing.T, c *cluster) {
	r := c.submit(t, job{name: "killed-master", mode: "killed", args: []string{"8"}, conf: one(), inCluster: true})
	r.awaitTasks(t)
	kill(t, "org.apache.spark.deploy.yarn.ApplicationMaster", r.application(t))
	r.wait(t)
	require.Equal(t, 1, r.count(t, "counted"), "the job's result")
	require.True(t, r.divide(t).Approximate)
	r.nth++
	r.requirePlugin(t, r.divide(t))
}

// Spark's exit hook stops the context, and the launcher's sends what that produces.
func testForgottenStop(t *testing.T, c *cluster) {
	r := c.submit(t, job{name: "forgets", mode: "forgets"})
	r.wait(t)
	r.requireClock(t, r.notes(t).logged(t, logStop, 0))
}

func testTwoContexts(t *testing.T, c *cluster) {
	r := c.submit(t, job{name: "twice", mode: "twice"})
	r.wait(t)
	for r.nth = range 2 {
		r.requirePlugin(t, r.divide(t))
	}
}

// The listeners of others share a queue, which loses events here. The platform's has its own.
func testSleepingListener(t *testing.T, c *cluster) {
	r := c.submit(t, job{name: "sleeper", mode: "compute", args: []string{"2", "yes"},
		conf: map[string]string{"spark.extraListeners": "suite.Sleeper", "spark.scheduler.listenerbus.eventqueue.shared.capacity": "1"}})
	r.wait(t)
	require.Contains(t, r.printed(t), "Dropping event from queue shared.")
	r.requireClock(t, 0)
	require.Zero(t, r.finalGauge(t, r.application(t), "spark.listener.dropped"))
}
