package phases_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/phases"
	"github.com/emr-observatory/emr-observatory/platform"
)

// divide divides the run's wall clock with the Go engine.
func (r *run) divide(t *testing.T) phases.Result {
	t.Helper()
	folder, name := filepath.Split(r.log(t))
	log, err := eventlog.Open(os.DirFS(folder), name)
	require.NoError(t, err)
	engine := phases.NewEngine()
	_, err = log.Read(t.Context(), func(event eventlog.Event) error {
		engine.Add(event)
		return nil
	})
	require.NoError(t, err)
	return engine.Result()
}

// requireClock compares the Go engine with the job's own clock, and the plugin with
// the Go engine. The clock ends with the call of stop, unless until is given.
func (r *run) requireClock(t *testing.T, until int64) {
	t.Helper()
	result := r.divide(t)
	requireAccount(t, r.account(t, until), result)
	require.False(t, result.Approximate)
	r.requirePlugin(t, result)
}

// The bars of a phase against the job's own clock.
const (
	tolerance      = 500 * time.Millisecond
	toleranceShare = 0.02
)

// requireAccount compares a division with the job's own account.
func requireAccount(t *testing.T, own account, got phases.Result) {
	t.Helper()
	t.Log(table(own, got))
	sum := int64(0)
	for _, millis := range got.Phases {
		sum += millis
	}
	require.InDelta(t, got.End-got.Begin, sum, 1, "the phases sum to the wall clock")
	sums := own.phases()
	for _, phase := range platform.Phases() {
		bar := max(float64(tolerance.Milliseconds()), toleranceShare*float64(sums[phase]))
		require.LessOrEqual(t, math.Abs(float64(got.Phases[phase]-sums[phase])), bar,
			"%s: %d ms by the engine, %d ms by the job's own clock", phase, got.Phases[phase], sums[phase])
	}
}

// table shows both divisions.
func table(own account, got phases.Result) string {
	lines := []string{fmt.Sprintf("%-14s %10s %10s %6s", "ms", "own clock", "engine", "off")}
	sums := own.phases()
	line := func(name string, own, engine int64) {
		lines = append(lines, fmt.Sprintf("%-14s %10d %10d %6d", name, own, engine, engine-own))
	}
	line("wall", own.end-own.begin, got.End-got.Begin)
	for _, phase := range platform.Phases() {
		if sums[phase] != 0 || got.Phases[phase] != 0 {
			line(string(phase), sums[phase], got.Phases[phase])
		}
	}
	return "\n" + strings.Join(lines, "\n")
}

// static makes a job ask for its only executor at its start, and never again. Its
// context waits for the executor however busy the machine is.
func static() map[string]string {
	return map[string]string{"spark.dynamicAllocation.enabled": "false", "spark.executor.instances": "1",
		"spark.scheduler.maxRegisteredResourcesWaitingTime": "5min"}
}

// magic makes a job commit with S3A's magic committer, as EMR does from 7.10 on.
func magic() map[string]string {
	return map[string]string{
		"spark.hadoop.fs.s3a.committer.name":            "magic",
		"spark.sql.sources.commitProtocolClass":         "org.apache.spark.internal.io.cloud.PathOutputCommitProtocol",
		"spark.sql.parquet.output.committer.class":      "org.apache.spark.internal.io.cloud.BindingParquetOutputCommitter",
		"spark.hadoop.fs.s3a.committer.magic.enabled":   "true",
		"spark.hadoop.fs.s3a.committer.threads":         "2",
		"spark.hadoop.fs.s3a.multipart.size":            "5M",
		"spark.hadoop.fs.s3a.fast.upload.buffer":        "bytebuffer",
		"spark.hadoop.fs.s3a.fast.upload.active.blocks": "2",
		// Hadoop 3.4 counts as throttled what the AWS SDK gave up on, and what S3 never answers, 429.
		"spark.hadoop.fs.s3a.attempts.maximum": "2",
	}
}

// exportedWithin is how long a JVM takes to export what it does, also on a busy machine.
const exportedWithin = platform.CollectionInterval + 5*time.Second

// jobs are the suite's jobs that need nothing around them: those that write; in the long form
// also those of whose logs phases/testdata has the like.
func (c *cluster) jobs() []job {
	pause := fmt.Sprint(exportedWithin.Seconds())
	jobs := []job{
		{name: "rename", mode: "write", args: []string{"s3a://slow-rename/out", "2", "12"}},
		// It pauses until the executors have exported what they wrote: at their end they may
		// not have the time.
		{name: everySignal, mode: "write", args: []string{"s3a://slow-magic/out", "4", "4", "3", pause}, conf: fromAirflow(magic())},
		{name: "rdd", mode: "rdd", args: []string{"file://" + c.path("rdd"), "4"}, inCluster: true},
	}
	if !testenv.Long() {
		return jobs
	}
	return append(jobs,
		job{name: "threads", mode: "threads", args: []string{"s3a://slow-threads/out"}},
		job{name: "client-static", mode: "compute", args: []string{"4", "no"}, conf: static()},
		job{name: "driver", mode: "driver", args: []string{"5"}},
		job{name: "cluster-static", mode: "compute", args: []string{"4", "no"}, conf: static(), inCluster: true},
		job{name: "client-dynamic", mode: "compute", args: []string{"4", "yes"}, conf: map[string]string{"spark.executor.cores": "1"}},
		job{name: "noop", mode: "noop", args: []string{"4"}})
}

func TestPhasesEqualTheJobsOwnClock(t *testing.T) {
	c := startCluster(t)
	for bucket, v := range map[string]speed{
		"slow-rename":  {latency: 50 * time.Millisecond},
		"slow-magic":   {bytesPerSecond: 1 << 20, latency: 200 * time.Millisecond, throttled: 8},
		"slow-threads": {bytesPerSecond: 2 << 20},
	} {
		require.NoError(t, c.store.bucket(t.Context(), bucket, v))
	}
	for _, j := range c.jobs() {
		t.Run(j.name, func(t *testing.T) {
			t.Parallel()
			r := c.submit(t, j)
			r.wait(t)
			r.requireClock(t, 0)
			if j.name == everySignal {
				r.requireContract(t)
			}
		})
	}
	t.Run("narrow queue", func(t *testing.T) { // which one test at a time can fill
		t.Parallel()
		t.Run("starved", func(t *testing.T) {
			testenv.RequireLong(t, "phases divides the log of such a job, starved.jsonl")
			c.testStarved(t)
		})
		t.Run("reference", c.testReference)
	})
}

// testStarved takes from a job, while it works in its driver, what it needs next.
func (c *cluster) testStarved(t *testing.T) {
	gate := c.path("starved.gate")
	starved := c.submit(t, job{name: "starved", queue: narrowQueue, mode: "starved", args: []string{"5", gate},
		conf: map[string]string{"spark.dynamicAllocation.executorIdleTimeout": "1s", "spark.dynamicAllocation.maxExecutors": "1"}})
	starved.await(t, "gate", 1)
	other := c.hold(t, "starving", nil)
	open(t, gate)
	starved.await(t, "begin", 2)
	time.Sleep(starvation())
	other.release(t)
	starved.wait(t)
	starved.requireClock(t, 0)
}

// testReference is the case that the platform was built for: a job that waits for a
// full queue, computes a little and writes to a slow store.
func (c *cluster) testReference(t *testing.T) {
	c.testFullQueue(t, "reference", starvation())
	if testenv.Long() {
		// Longer than the launcher once waited for the id of an application.
		c.testFullQueue(t, "eleven-minutes", 11*time.Minute)
	}
}

// visibleWithin is how soon after its submission the wait of a job is visible that
// YARN has not accepted yet.
const visibleWithin = testenv.Limit(45 * time.Second)

func (c *cluster) testFullQueue(t *testing.T, name string, wait time.Duration) {
	require.NoError(t, c.store.bucket(t.Context(), "slow-"+name, speed{bytesPerSecond: 1 << 20}))
	other := c.hold(t, name+"-holder", static())
	// It computes and writes for so long that each is the phase of the moment at an export.
	megabytes, seconds := fmt.Sprint(max(starvation(), exportedWithin).Seconds()), fmt.Sprint(exportedWithin.Seconds())
	args := []string{"s3a://slow-" + name + "/out", megabytes, "2", seconds}
	r := c.submit(t, job{name: name, queue: narrowQueue, mode: "write", args: args})
	r.await(t, "context", 1)
	released := time.Now().Add(wait)
	id := r.awaitVisibleWait(t)
	require.Negative(t, c.running(t, id), "it was visible before YARN accepted the application")
	time.Sleep(time.Until(released))
	other.release(t)
	r.wait(t)
	require.NotContains(t, r.printed(t), "Application ID is not initialized yet", "Spark warns whoever asks it too early")
	r.requireClock(t, 0)
	r.requirePanels(t, r.account(t, 0))
	r.requireStates(t, id, platform.PhaseResourceWait, platform.PhaseCompute, platform.PhaseWrite)
	require.Equal(t, id, r.application(t))
	c.received.mu.Lock()
	defer c.received.mu.Unlock()
	require.NotZero(t, c.received.logs[id])
	require.Empty(t, c.received.faults, "every signal is labelled")
}

// awaitVisibleWait waits until the job's metrics say that it waits, and returns the
// application's id.
func (r *run) awaitVisibleWait(t *testing.T) (id string) {
	t.Helper()
	err := testenv.Poll(t.Context(), visibleWithin, 100*time.Millisecond, func(context.Context) error {
		id = r.received.named(r.name)
		points := r.received.pointsOf(id, metricOf(platform.PhaseResourceWait))
		if len(points) == 0 || points[len(points)-1].value == 0 {
			return fmt.Errorf("%s shows no wait", r.name)
		}
		return nil
	})
	require.NoError(t, err)
	require.InDelta(t, stateOf(platform.PhaseResourceWait), r.finalGauge(t, id, metricOfState), 0)
	t.Logf("%s: the wait was visible %s after the submission", r.name, time.Since(r.submitted))
	return id
}

// starvation is how long jobs have to wait for others: a minute in the long form.
func starvation() time.Duration {
	if testenv.Long() {
		return time.Minute
	}
	return 8 * time.Second
}

// holder is a job that holds a part of the narrow queue.
type holder struct {
	*run
	gate string
}

// hold returns once a job holds the narrow queue: a container, or two with an executor.
func (c *cluster) hold(t *testing.T, name string, conf map[string]string) holder {
	t.Helper()
	h := holder{gate: c.path(name + ".gate")}
	h.run = c.submit(t, job{name: name, queue: narrowQueue, mode: "hold", args: []string{h.gate}, conf: conf})
	h.await(t, "holds", 1)
	return h
}

// release lets the job end.
func (h holder) release(t *testing.T) {
	t.Helper()
	open(t, h.gate)
	h.wait(t)
}

func open(t *testing.T, gate string) {
	t.Helper()
	require.NoError(t, os.WriteFile(gate, nil, 0o644))
}

// await waits until the job has noted something that many times.
func (r *run) await(t *testing.T, what string, times int) {
	t.Helper()
	err := testenv.Poll(t.Context(), testenv.Job, 20*time.Millisecond, func(context.Context) error {
		text, err := os.ReadFile(r.clock())
		if err == nil && strings.Count(string(text), `{"what": "`+what+`"`) < times {
			err = fmt.Errorf("%s has not noted %q %d times", r.name, what, times)
		}
		return err
	})
	require.NoError(t, err)
}
