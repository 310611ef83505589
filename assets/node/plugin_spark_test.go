package node_test

import (
	"bytes"
	"encoding/hex"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
)

// submission is how the test's job is submitted.
type submission struct {
	master   string
	folder   string   // name of the working folder
	env      []string // beside the test's own
	args     []string
	conf     []string
	complete func(*received) bool // whether the last telemetry of all JVMs has arrived
}

// submitJob runs the test's job and returns what it sent.
func submitJob(t *testing.T, s submission) *received {
	t.Helper()
	home := sparkHome(t)
	installLauncher(t)
	startPyroscope(t, nil)
	classes, job := t.TempDir(), filepath.Join(t.TempDir(), "job.jar")
	require.NoError(t, javac(classes, filepath.Join(home, "jars", "*"), "spark-plugin/src/test/java/job/*.java"))
	jar(t, job, classes)
	r := receiveTelemetry(t)
	r.output = submitOnce(t, ownHome(t, home), job, filepath.Join(t.TempDir(), s.folder), s)
	require.NotContains(t, r.output, "observatory:", "what the plugin could not do")
	testenv.Eventually(t, func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return s.complete(r)
	}, testenv.Answer, 100*time.Millisecond, "the last telemetry of all JVMs")
	r.mu.Lock()
	t.Cleanup(r.mu.Unlock)
	return r
}

// submitOnce submits the job and returns what it prints.
func submitOnce(t *testing.T, home, job, work string, s submission) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Join(work, "conf"), 0o755))
	line := []string{"--master", s.master, "--driver-memory", "512m", "--class", "job.Job"}
	for _, setting := range append(s.conf, "spark.ui.enabled=false", "spark.executor.memory=512m", "spark.task.maxFailures=2",
		agentOf("driver", sendsAll()), agentOf("executor", sendsAll()), "spark.sql.shuffle.partitions=4") {
		line = append(line, "--conf", setting)
	}
	cmd := exec.Command(filepath.Join(home, "bin", "spark-submit"), append(append(line, job, work), s.args...)...)
	cmd.Dir = work
	cmd.Env = append(append(os.Environ(), "SPARK_HOME="+home, "SPARK_CONF_DIR="+filepath.Join(work, "conf"), "SPARK_LOCAL_IP=127.0.0.1",
		"SPARK_LOCAL_HOSTNAME=localhost", shortLived), s.env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return string(out) + outputOfExecutors(t, home)
}

// outputOfExecutors returns what the executors of a local cluster have printed by their
// end. home is the test's own.
func outputOfExecutors(t *testing.T, home string) (out string) {
	t.Helper()
	awaitExecutors(t)
	files, err := filepath.Glob(filepath.Join(home, "work", "app-*", "*", "std*"))
	require.NoError(t, err)
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		out += string(content)
	}
	return out
}

// awaitExecutors waits until the executors of a local cluster have ended, and have thus
// sent and printed everything: spark-submit does not wait for them.
func awaitExecutors(t *testing.T) {
	t.Helper()
	testenv.Eventually(t, func() bool {
		lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
		return err == nil && !slices.ContainsFunc(lines, func(file string) bool {
			line, _ := os.ReadFile(file) // of a process that has ended it is absent
			return bytes.Contains(line, []byte("CoarseGrainedExecutorBackend"))
		})
	}, testenv.Arrival, 50*time.Millisecond, "executors are still running")
}

const traced = platform.SparkSamplingRatio + "=1"

const s3Seconds = 0.3 // 60 tasks of 5 ms

// The parents that the job gives two of its jobs.
const threadParent, sessionParent = "bbbbbbbbbbbbbbbb", "dddddddddddddddd"

func TestPluginInLocalSpark(t *testing.T) {
	testenv.RequireLong(t, "TestPluginInSparkWithExecutors runs the same job; TestPluginFindsParentsAndReasons has the environment")
	sparkHome(t)
	if !onMachine(t) {
		return
	}
	parent := "00-" + strings.Repeat("e", 32) + "-" + strings.Repeat("f", 16) + "-01"
	r := submitJob(t, submission{master: "local[2,2]", env: []string{"TRACEPARENT=" + parent},
		conf: []string{traced, platform.SparkAirflowDAG + "=nightly"}, complete: (*received).final})
	require.Contains(t, r.output, "the last job failed: true")
	r.requirePhases(t)
	r.requireTree(t, threadParent, sessionParent, strings.Repeat("f", 16))
	application := r.named(t, "application job.Job")
	require.Equal(t, strings.Repeat("e", 32), application.TraceID, "the environment gives the parent")
	require.Equal(t, strings.Repeat("f", 16), application.ParentSpanID)
	require.Equal(t, "0", application.labels()["observatory.spans.dropped"])
	requireJobSpans(t, r)
	require.InDelta(t, s3Seconds, r.sum("spark.task.s3.time"), 1e-6)
	require.LessOrEqual(t, seriesOf(r, "driver"), 320, "of driver and executor")
	info := slices.Collect(maps.Keys(r.metrics))
	require.True(t, slices.ContainsFunc(info, func(key string) bool {
		return strings.HasPrefix(key, "driver spark.application.info ") && strings.Contains(key, "nightly")
	}))
}

func seriesOf(r *received, jvm string) (count int) {
	for _, n := range r.series[jvm] {
		count += n
	}
	return count
}

func requireJobSpans(t *testing.T, r *received) {
	t.Helper()
	application := r.named(t, "application job.Job")
	thread, session := r.named(t, "job 2"), r.named(t, "sql 1")
	require.Equal(t, threadParent, thread.ParentSpanID)
	require.Equal(t, strings.Repeat("a", 32), thread.TraceID)
	require.Equal(t, "read with password=*********(redacted)", thread.labels()["spark.description"])
	require.Equal(t, sessionParent, session.ParentSpanID)
	require.Equal(t, strings.Repeat("c", 32), session.TraceID)
	require.Equal(t, session.SpanID, r.named(t, "job 3").ParentSpanID)
	for _, linked := range []otlpSpan{thread, session, r.named(t, "batch 0"), r.named(t, "batch 2")} {
		require.Len(t, linked.Links, 1, linked.Name)
		require.Equal(t, application.SpanID, linked.Links[0].SpanID)
	}
	require.Empty(t, r.named(t, "batch 1").ParentSpanID)
	after := slices.IndexFunc(r.spans, func(s otlpSpan) bool { return s.labels()["spark.description"] == "after the stream" })
	require.Positive(t, after)
	last := slices.IndexFunc(r.spans, func(s otlpSpan) bool { return s.Name == "batch 2" })
	require.Less(t, last, after, "the last batch has its root when the query reports it, not at the application's end")
	kept := map[string]otlpSpan{}
	for _, span := range r.spans {
		if span.labels()["spark.kind"] == "task" {
			kept[span.labels()["spark.task.kept"]] = span
		}
	}
	require.Contains(t, kept["failed"].Status.Message, "IllegalStateException")
	require.NotContains(t, kept["failed"].Status.Message, "hunter2")
	require.Contains(t, kept, "slow")
	require.Contains(t, kept, "sample")
	require.Contains(t, r.named(t, "job 6").Status.Message, "Job aborted")
	require.Positive(t, r.traced, "a log record of a task has its stage's span")
}

// Executors are JVMs of their own, as on YARN.
func TestPluginInSparkWithExecutors(t *testing.T) {
	sparkHome(t)
	if !onMachine(t) {
		return
	}
	r := submitJob(t, submission{master: "local-cluster[2,1,512]", folder: "s-ABC123", conf: []string{traced},
		complete: (*received).finalOfExecutors})
	require.Contains(t, r.output, "the last job failed: true")
	r.requirePhases(t)
	step := platform.StepSpanID("s-ABC123")
	r.requireTree(t, threadParent, sessionParent, hex.EncodeToString(step[:]))
	application := r.named(t, "application job.Job")
	trace := platform.TraceID("s-ABC123")
	require.Equal(t, hex.EncodeToString(trace[:]), application.TraceID, "the folder is the step's")
	require.Equal(t, hex.EncodeToString(step[:]), application.ParentSpanID)
	requireJobSpans(t, r)
	require.Equal(t, platform.ServiceSparkExecutor, r.named(t, "task 0").resource[string(platform.ServiceName)])
	require.InDelta(t, s3Seconds, r.sum("spark.task.s3.time"), 1e-6)
	require.Positive(t, r.metrics["driver spark.first_executor_wait"])
	require.InDelta(t, 2, r.sum("spark.executor.count"), 0)
	for _, executor := range []string{"0", "1"} {
		require.LessOrEqual(t, seriesOf(r, executor), 20)
		require.Positive(t, seriesOf(r, executor))
		require.Equal(t, 3, r.series[executor][executor+" spark.executor.task.duration compute"], "its sum, count and one bucket")
	}
	require.LessOrEqual(t, seriesOf(r, "driver"), 300)
}

// Without the ratio there are no spans, and the metrics are final although nobody
// stops the context.
func TestPluginWithoutTracingAndStop(t *testing.T) {
	sparkHome(t)
	if !onMachine(t) {
		return
	}
	r := submitJob(t, submission{master: "local[2,2]", args: []string{"no stop"}, complete: (*received).final})
	require.Empty(t, r.spans)
	require.Contains(t, r.output, "the last job failed: true")
	r.requirePhases(t)
	require.False(t, math.IsNaN(r.sum("spark.task.skew")))
}

// The plugin's queue holds 10,000 events. Real Spark sends 200,000 of 100,000 tasks in 5,000
// stages, and the listener keeps up with it. The short form has a tenth of them. Either sends less than
// a twentieth of what its cluster may have stored in an hour.
func TestPluginLosesNoEventOfALargeJob(t *testing.T) {
	sparkHome(t)
	if !onMachine(t) {
		return
	}
	stages := 500
	if testenv.Long() {
		stages = 5_000
	}
	r := submitJob(t, submission{master: "local[2]", args: []string{"large", strconv.Itoa(stages)}, complete: (*received).final,
		conf: []string{traced}})
	require.InDelta(t, stages, r.metrics["driver spark.stage.count success"], 0)
	require.InDelta(t, 20*stages, r.metrics["driver spark.task.count success"], 0)
	require.Contains(t, r.metrics, "driver spark.listener.dropped")
	require.Zero(t, r.metrics["driver spark.listener.dropped"])
	require.Zero(t, r.metrics["driver spark.phase.approximate"])

	var limits schema.Limits
	limits.SetDefaults()
	t.Logf("%d spans, %d series, %d bytes of logs", len(r.spans), seriesOf(r, "driver"), r.logged)
	require.Less(t, len(r.spans), limits.SpansPerHour/20)
	require.Less(t, seriesOf(r, "driver"), limits.SeriesPerHour/20)
	require.Less(t, r.logged, limits.LogMiBPerHour<<20/20)
}

// A queue for one event loses most of them: the job does not notice, and the metrics
// say so. The second context has an identity of its own.
func TestPluginCountsLostEventsAndSeparatesContexts(t *testing.T) {
	sparkHome(t)
	if !onMachine(t) {
		return
	}
	r := submitJob(t, submission{master: "local[2]", args: []string{"twice"}, complete: (*received).finalOfTwo,
		conf: []string{traced, "spark.scheduler.listenerbus.eventqueue.observatory.capacity=1"}})
	require.Contains(t, r.output, "counted 1000\n")
	require.Contains(t, r.output, "counted 500\n")
	require.Positive(t, r.metrics["driver spark.listener.dropped"])
	require.InDelta(t, 1, r.metrics["driver spark.phase.approximate"], 0)
	require.InDelta(t, 1, r.sum("spark.phase.breakdown"), 1e-9)
	applications := map[string]string{}
	for _, span := range r.spans {
		if span.labels()["spark.kind"] == "application" {
			applications[span.resource[string(platform.SparkAppID)]] = span.TraceID
			require.Equal(t, "true", span.labels()["spark.phases.approximate"])
		}
	}
	require.Len(t, applications, 2)
	for _, span := range r.spans {
		require.Equal(t, applications[span.resource[string(platform.SparkAppID)]], span.TraceID, span.Name)
	}
}
