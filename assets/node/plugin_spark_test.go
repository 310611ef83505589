package node_test

import (
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
)

// otlp are the parts of OTLP's JSON that the plugin's test reads. The real collector
// reads the launcher's encoding elsewhere.
type otlp struct {
	ResourceSpans []struct {
		Resource   otlpAttributes
		ScopeSpans []struct{ Spans []otlpSpan }
	}
	ResourceMetrics []struct {
		Resource     otlpAttributes
		ScopeMetrics []struct {
			Metrics []struct {
				Name                  string
				Gauge, Sum, Histogram struct{ DataPoints []otlpPoint }
			}
		}
	}
	ResourceLogs []struct {
		Resource  otlpAttributes
		ScopeLogs []struct {
			LogRecords []struct {
				TraceID, SpanID string
				Body            struct{ StringValue string }
			}
		}
	}
}

type otlpAttributes struct{ Attributes []otlpAttribute }

type otlpAttribute struct {
	Key   string
	Value map[string]any
}

type otlpSpan struct {
	otlpAttributes
	TraceID, SpanID, ParentSpanID, Name string
	StartTimeUnixNano, EndTimeUnixNano  string
	Status                              struct{ Message string }
	Links                               []struct{ TraceID, SpanID string }
	resource                            map[string]string
}

type otlpPoint struct {
	otlpAttributes
	AsInt, Count  string
	AsDouble, Sum float64
	BucketCounts  []string
}

func (a otlpAttributes) labels() map[string]string {
	labels := map[string]string{}
	for _, attribute := range a.Attributes {
		for _, value := range attribute.Value {
			switch v := value.(type) {
			case string:
				labels[attribute.Key] = v
			case float64:
				labels[attribute.Key] = strconv.FormatFloat(v, 'g', -1, 64)
			case bool:
				labels[attribute.Key] = strconv.FormatBool(v)
			}
		}
	}
	return labels
}

// received is what the JVMs of one application sent.
type received struct {
	mu      sync.Mutex
	spans   []otlpSpan
	metrics map[string]float64 // the last value by JVM, name and labels
	series  map[string]map[string]int
	traced  int // log records with a span
	output  string
}

func receiveTelemetry(t *testing.T) *received {
	t.Helper()
	r := &received{metrics: map[string]float64{}, series: map[string]map[string]int{}}
	serveTelemetry(t, func(_ http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return
		}
		var message otlp
		if err := json.Unmarshal(body, &message); err != nil {
			t.Errorf("%s: %v", request.URL.Path, err)
		}
		r.add(message)
	})
	return r
}

func (r *received) add(message otlp) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, resource := range message.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			for _, span := range scope.Spans {
				span.resource = resource.Resource.labels()
				r.spans = append(r.spans, span)
			}
		}
	}
	for _, resource := range message.ResourceMetrics {
		jvm := resource.Resource.labels()[string(platform.SparkExecutorID)]
		for _, scope := range resource.ScopeMetrics {
			for _, metric := range scope.Metrics {
				for _, point := range slices.Concat(metric.Gauge.DataPoints, metric.Sum.DataPoints, metric.Histogram.DataPoints) {
					r.point(jvm, metric.Name, point)
				}
			}
		}
	}
	for _, resource := range message.ResourceLogs {
		for _, scope := range resource.ScopeLogs {
			for _, record := range scope.LogRecords {
				if record.SpanID != "" && strings.Contains(record.Body.StringValue, "Exception in task") {
					r.traced++
				}
			}
		}
	}
}

func (r *received) point(jvm, name string, point otlpPoint) {
	if !strings.HasPrefix(name, "spark.") {
		return
	}
	key := jvm + " " + name
	labels := point.labels()
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		key += " " + labels[label]
	}
	value := point.AsDouble + point.Sum
	if point.AsInt != "" {
		value, _ = strconv.ParseFloat(point.AsInt, 64)
	}
	r.metrics[key] = value
	if r.series[jvm] == nil {
		r.series[jvm] = map[string]int{}
	}
	r.series[jvm][key] = 1
	if len(point.BucketCounts) > 0 {
		r.series[jvm][key] = len(point.BucketCounts) + 2
	}
}

// sum adds up the series of a metric whose labels begin so, over all JVMs.
func (r *received) sum(metric string) (sum float64) {
	for key, value := range r.metrics {
		_, rest, _ := strings.Cut(key, " ")
		if rest == metric || strings.HasPrefix(rest, metric+" ") {
			sum += value
		}
	}
	return sum
}

func (r *received) named(t *testing.T, name string) otlpSpan {
	t.Helper()
	i := slices.IndexFunc(r.spans, func(s otlpSpan) bool { return s.Name == name })
	require.GreaterOrEqual(t, i, 0, "no span %s", name)
	return r.spans[i]
}

// requireTree checks that each span has its parent in its trace, except for the given
// ones, and that no span came twice.
func (r *received) requireTree(t *testing.T, others ...string) {
	t.Helper()
	known := map[string]bool{}
	for _, span := range r.spans {
		require.False(t, known[span.TraceID+span.SpanID], "%s came twice", span.Name)
		known[span.TraceID+span.SpanID] = true
	}
	for _, span := range r.spans {
		if span.ParentSpanID != "" && !slices.Contains(others, span.ParentSpanID) {
			require.True(t, known[span.TraceID+span.ParentSpanID], "the parent of %s is not in its trace", span.Name)
		}
	}
}

// requirePhases checks the final phases: the sum is the wall clock.
func (r *received) requirePhases(t *testing.T) {
	t.Helper()
	wall := r.metrics["driver spark.wall"]
	sum := r.metrics["driver spark.resource_wait"]
	for _, phase := range platform.Phases() {
		sum += r.metrics["driver spark.phase."+string(phase)]
	}
	require.Positive(t, wall)
	require.InDelta(t, wall, sum, 0.001)
	require.InDelta(t, 1, r.sum("spark.phase.breakdown"), 1e-9)
	require.Zero(t, r.metrics["driver spark.phase.approximate"])
	require.InDelta(t, 1, r.metrics["driver spark.application.ended"], 0)
	require.Greater(t, r.metrics["driver spark.phase.compute"], 2.5, "a task sleeps so long")
	require.Positive(t, r.metrics["driver spark.phase.io_write"])
}

// installPlugin installs launcher and plugin as they are in the sources.
func installPlugin(t *testing.T, home string) (job string) {
	t.Helper()
	launcher, plugin := sparkModules(t, home)
	require.NoError(t, os.MkdirAll(platform.NodeInstallDir, 0o755))
	manifest := filepath.Join(t.TempDir(), "manifest")
	write(t, manifest, "Premain-Class: observatory.launcher.Launcher\n")
	jar(t, platform.NodeLauncherJar, launcher, "-m", manifest)
	jar(t, platform.NodePluginJar, plugin)
	classes := t.TempDir()
	javac(t, classes, filepath.Join(home, "jars", "*"), "spark-plugin/src/test/java/job/*.java")
	job = filepath.Join(t.TempDir(), "job.jar")
	jar(t, job, classes)
	return job
}

func jar(t *testing.T, target, classes string, options ...string) {
	t.Helper()
	args := []string{"--create", "--file", target}
	if len(options) > 1 {
		args = append(args, "--manifest", options[1])
	}
	out, err := exec.Command("jar", append(args, "-C", classes, ".")...).CombinedOutput()
	require.NoError(t, err, string(out))
}

// submitJob runs the test's job and returns what it sent.
func submitJob(t *testing.T, master, folder string, env []string, args []string, conf ...string) *received {
	t.Helper()
	home := sparkHome(t)
	job := installPlugin(t, home)
	r := receiveTelemetry(t)
	work := filepath.Join(t.TempDir(), folder)
	require.NoError(t, os.MkdirAll(filepath.Join(work, "conf"), 0o755))
	line := []string{"--master", master, "--driver-memory", "512m", "--class", "job.Job"}
	for _, setting := range append(conf, "spark.ui.enabled=false", "spark.executor.memory=512m", "spark.task.maxFailures=2",
		"spark.driver.defaultJavaOptions=-javaagent:"+platform.NodeLauncherJar,
		"spark.executor.defaultJavaOptions=-javaagent:"+platform.NodeLauncherJar, "spark.sql.shuffle.partitions=4") {
		line = append(line, "--conf", setting)
	}
	cmd := exec.Command(filepath.Join(home, "bin", "spark-submit"), append(append(line, job, work), args...)...)
	cmd.Dir = work
	cmd.Env = append(append(os.Environ(), "SPARK_HOME="+home, "SPARK_CONF_DIR="+filepath.Join(work, "conf"), "SPARK_LOCAL_IP=127.0.0.1",
		"SPARK_LOCAL_HOSTNAME=localhost"), env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	r.output = string(out)
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "observatory: ") && !strings.HasPrefix(line, "observatory: profiler not started") {
			require.Fail(t, "the plugin complains", line)
		}
	}
	r.mu.Lock()
	t.Cleanup(r.mu.Unlock)
	return r
}

const traced = platform.SparkSamplingRatio + "=1"

// The parents that the job gives two of its jobs.
const threadParent, sessionParent = "bbbbbbbbbbbbbbbb", "dddddddddddddddd"

func TestPluginInLocalSpark(t *testing.T) {
	sparkHome(t)
	if !onMachine(t) {
		return
	}
	parent := "00-" + strings.Repeat("e", 32) + "-" + strings.Repeat("f", 16) + "-01"
	r := submitJob(t, "local[2,2]", "", []string{"TRACEPARENT=" + parent}, nil, traced, platform.SparkAirflowDAG+"=nightly")
	require.Contains(t, r.output, "the last job failed: true")
	r.requirePhases(t)
	r.requireTree(t, threadParent, sessionParent, strings.Repeat("f", 16))
	application := r.named(t, "application job.Job")
	require.Equal(t, strings.Repeat("e", 32), application.TraceID, "the environment gives the parent")
	require.Equal(t, strings.Repeat("f", 16), application.ParentSpanID)
	require.Equal(t, "0", application.labels()["observatory.spans.dropped"])
	requireJobSpans(t, r)
	require.InDelta(t, 0.1, r.sum("spark.task.s3.time"), 1e-6, "20 tasks of 5 ms")
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
	r := submitJob(t, "local-cluster[2,1,512]", "s-ABC123", nil, nil, traced)
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
	require.InDelta(t, 0.1, r.sum("spark.task.s3.time"), 1e-6)
	require.Positive(t, r.metrics["driver spark.first_executor_wait"])
	require.InDelta(t, 2, r.sum("spark.executor.count"), 0)
	for _, executor := range []string{"0", "1"} {
		require.LessOrEqual(t, seriesOf(r, executor), 20)
		require.Positive(t, seriesOf(r, executor))
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
	r := submitJob(t, "local[2,2]", "", nil, []string{"no stop"})
	require.Empty(t, r.spans)
	require.Contains(t, r.output, "the last job failed: true")
	r.requirePhases(t)
	require.False(t, math.IsNaN(r.sum("spark.task.skew")))
}

// A queue for one event loses most of them: the job does not notice, and the metrics
// say so. The second context has an identity of its own.
func TestPluginCountsLostEventsAndSeparatesContexts(t *testing.T) {
	sparkHome(t)
	if !onMachine(t) {
		return
	}
	r := submitJob(t, "local[2]", "", nil, []string{"twice"}, traced, "spark.scheduler.listenerbus.eventqueue.observatory.capacity=1")
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
