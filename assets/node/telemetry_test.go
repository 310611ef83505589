package node_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"

	"github.com/emr-observatory/emr-observatory/dashboards/contract"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
)

// acceptTelemetry serves in place of the node's collector and accepts everything.
func acceptTelemetry(t *testing.T) {
	t.Helper()
	serveTelemetry(t, func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
}

func serveTelemetry(t *testing.T, handler http.HandlerFunc) {
	t.Helper()
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", platform.OTLPHTTP))
	require.NoError(t, err)
	server := &http.Server{Handler: handler}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
}

// runningJVM is an executor that runs until end is called.
type runningJVM struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	out   *strings.Builder
}

// startJVM runs executorMain of the class path with the launcher, which sends all unless
// the options say otherwise.
func startJVM(t *testing.T, classes, jars string, options ...string) runningJVM {
	t.Helper()
	line := append([]string{"-javaagent:" + platform.NodeLauncherJar, sendsAll()}, options...)
	line = append(line, "-cp", classes+jars, executorMain, "--executor-id", "3", "--app-id", "application_1_0001")
	j := runningJVM{cmd: exec.Command("java", line...), out: &strings.Builder{}}
	var err error
	j.stdin, err = j.cmd.StdinPipe()
	require.NoError(t, err)
	j.cmd.Stdout, j.cmd.Stderr = j.out, j.out
	require.NoError(t, j.cmd.Start())
	t.Cleanup(func() { _ = j.cmd.Process.Kill() })
	return j
}

// exitBound bounds the life of a JVM whose server does not answer. The launcher delays
// the exit by platform.LauncherExitTimeout at most.
const exitBound = testenv.Answer

// sendsAll returns the option with which the launcher delays the end of a JVM until all
// is sent. Without it, a busy machine loses telemetry (docs/reference/outages.md).
func sendsAll() string { return exitTimeout(testenv.Start.Scaled()) }

// exitsSoon returns the option with which a JVM ends as on a node, where its server never
// answers.
func exitsSoon() string { return exitTimeout(platform.LauncherExitTimeout) }

func exitTimeout(d time.Duration) string {
	return fmt.Sprintf("-D%s=%d", platform.LauncherExitProperty, d.Milliseconds())
}

// end lets main return. It returns the JVM's output and how long it took to exit.
func (j runningJVM) end(t *testing.T) (string, time.Duration) {
	t.Helper()
	start := time.Now()
	_, _ = io.WriteString(j.stdin, "end\n")
	require.NoError(t, j.cmd.Wait(), j.out.String())
	t.Log(j.out.String())
	return j.out.String(), time.Since(start)
}

// log4jJars returns the class path of Spark's logging library. The outer process
// fetches it, since the namespaces have no network.
func log4jJars(t *testing.T) (classPath string) {
	t.Helper()
	for _, jar := range log4j() {
		classPath += ":" + jar.file(t)
	}
	return classPath
}

var executorLabels = hostLabels.with("service.name", "spark-executor").with("spark.app.id",
	"application_1_0001").with("spark.executor.id", "3")

// busyMain produces every metric of the contract: it collects garbage, and has beans
// of S3A, one of which is replaced by another of the same bucket.
const busyMain = beanOfS3A + `
public static void main(String[] a) throws Exception {
  server.registerMBean(new Bean("lake", 5), name("S3AMetrics1-lake"));
  server.registerMBean(new Bean("lake", 7), name("S3AMetrics2-lake"));
  boolean closed = false;
  while (System.in.available() == 0) {
    byte[] garbage = new byte[1 << 20]; System.gc(); Thread.sleep(100);
    if (!closed && new java.io.File("/opt/close").exists()) {
      closed = true;
      server.unregisterMBean(name("S3AMetrics1-lake")); server.registerMBean(new Bean("lake", 2), name("S3AMetrics3-lake"));
    } } }`

func TestEveryJVMMetricArrives(t *testing.T) {
	if !onMachine(t) {
		return
	}
	installLauncher(t)
	s := startSink(t, fmt.Sprintf("%s:%d", controlIP, platform.OTLPGRPC))
	startCollector(t)
	java := startJVM(t, compileJava(t, map[string]string{executorMain: busyMain}), "")
	checked := 0
	for _, m := range contract.Metrics() {
		if m.Source != contract.SourceJVM && m.Source != contract.SourceS3A {
			continue
		}
		row := s.metric(t, m.Emitted, nil)
		require.Equal(t, executorLabels, row.resource, m.Name)
		require.Equal(t, m.Unit, row.metric.GetUnit(), m.Name)
		requireShape(t, m, row.metric)
		checked++
	}
	require.Equal(t, 12+len(platform.S3ACounters()), checked)

	lake := func(sum int64) func(metricRow) bool {
		return func(r metricRow) bool { return r.metric.GetSum().GetDataPoints()[0].GetAsInt() == sum }
	}
	s.metric(t, "hadoop.s3a.object_put_bytes", lake(5+7))
	write(t, "/opt/close", "")
	s.metric(t, "hadoop.s3a.object_put_bytes", lake(5+7+2))
	out, _ := java.end(t)
	require.NotContains(t, out, "telemetry")
}

// requireShape compares type and labels of a point with the table.
func requireShape(t *testing.T, m contract.Metric, got *metrics.Metric) {
	t.Helper()
	var points [][]*common.KeyValue
	switch {
	case m.Type == contract.Histogram:
		for _, p := range got.GetHistogram().GetDataPoints() {
			require.Positive(t, p.GetCount())
			require.Len(t, p.GetBucketCounts(), len(p.GetExplicitBounds())+1)
			points = append(points, p.GetAttributes())
		}
	case m.Type == contract.Gauge && got.GetGauge() != nil:
		for _, p := range got.GetGauge().GetDataPoints() {
			points = append(points, p.GetAttributes())
		}
	default:
		require.Equal(t, m.Type == contract.Counter, got.GetSum().GetIsMonotonic(), m.Name)
		require.Equal(t, metrics.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE, got.GetSum().GetAggregationTemporality())
		for _, p := range got.GetSum().GetDataPoints() {
			require.NotZero(t, p.GetStartTimeUnixNano())
			points = append(points, p.GetAttributes())
		}
	}
	require.NotEmpty(t, points, m.Name)
	for _, point := range points {
		var names []string
		for _, a := range point {
			names = append(names, platform.Label(a.GetKey()).Metric())
		}
		require.Equal(t, m.Labels, names, m.Name)
	}
}

const log4jConfig = `status=error
appender.c.type=Console
appender.c.name=c
appender.c.layout.type=PatternLayout
appender.c.layout.pattern=%p %m%n
rootLogger.level=info
rootLogger.appenderRef.c.ref=c
logger.own.name=own
logger.own.level=warn
logger.own.additivity=false
logger.own.appenderRef.c.ref=c
`

// loggingMain logs and exits at once: everything must be sent by then.
const loggingMain = `public static void main(String[] a) throws Exception {
  org.apache.logging.log4j.Logger l = org.apache.logging.log4j.LogManager.getLogger("org.apache.spark.Job");
  org.apache.logging.log4j.core.LoggerContext context =
     (org.apache.logging.log4j.core.LoggerContext) org.apache.logging.log4j.LogManager.getContext(false);
  while (context.getConfiguration().getRootLogger().getAppenders().get("observatory") == null) Thread.sleep(5);
  l.info("said {} \"quoted\" \u00fc \ud83d\ude00 \u0001", 1);
  l.debug("below the level");
  org.apache.logging.log4j.LogManager.getLogger("own").warn("not additive");
  org.apache.logging.log4j.ThreadContext.put("mdc.taskName", "task 1.0 in stage 2.0 (TID 3)");
  l.error("failed", new IllegalStateException("why", new RuntimeException("cause")));
  org.apache.logging.log4j.ThreadContext.clearAll();
  context.reconfigure();
  while (context.getConfiguration().getRootLogger().getAppenders().get("observatory") == null) Thread.sleep(5);
  l.warn("after a new configuration");
  l.fatal("last");
}`

func TestExecutorLogsArrive(t *testing.T) {
	jars := log4jJars(t)
	if !onMachine(t) {
		return
	}
	s, _ := startNode(t)
	classes := compileJavaAgainst(t, jars, map[string]string{executorMain: loggingMain})
	write(t, filepath.Join(classes, "log4j2.properties"), log4jConfig)
	out := runUntilSent(t, func() (out string) {
		out, _ = startJVM(t, classes, jars).end(t)
		return out
	}, func(string) bool {
		return s.hasLog("last") && s.hasMetric("jvm.class.count", platform.ServiceSparkExecutor, "")
	})
	require.NotContains(t, out, "observatory:")

	find := func(body string) logRow {
		return s.log(t, body, func(r logRow) bool { return r.record.GetBody().GetStringValue() == body })
	}
	first := find("said 1 \"quoted\" ü 😀 \x01")
	require.Equal(t, executorLabels, first.resource)
	require.Equal(t, "INFO", first.record.GetSeverityText())
	require.EqualValues(t, 9, first.record.GetSeverityNumber())
	require.WithinDuration(t, time.Now(), time.Unix(0, int64(first.record.GetTimeUnixNano())), time.Minute)
	require.Empty(t, first.attributes)
	failed := find("failed")
	require.Equal(t, "task 1.0 in stage 2.0 (TID 3)", failed.attributes["mdc.taskName"])
	require.Equal(t, "java.lang.IllegalStateException", failed.attributes["exception.type"])
	require.Equal(t, "why", failed.attributes["exception.message"])
	require.Contains(t, failed.attributes["exception.stacktrace"], "Caused by: java.lang.RuntimeException: cause")
	require.EqualValues(t, 13, find("not additive").record.GetSeverityNumber())
	find("after a new configuration")
	require.EqualValues(t, 21, find("last").record.GetSeverityNumber())
	s.metric(t, "jvm.class.count", nil) // also of a JVM that lives for less than an interval
	s.mu.Lock()
	defer s.mu.Unlock()
	require.Len(t, s.logs, 5, "each record once, none below its logger's level")
}

// unconfiguredMain finds no configuration of log4j and sets one a moment later, as Spark
// does. The moment is several of the launcher's looks at log4j.
const unconfiguredMain = `public static void main(String[] a) throws Exception {
  org.apache.logging.log4j.core.LoggerContext context =
     (org.apache.logging.log4j.core.LoggerContext) org.apache.logging.log4j.LogManager.getContext(false);
  for (boolean up = false; !up; Thread.sleep(5)) {
    for (Thread t : Thread.getAllStackTraces().keySet()) up |= t.getName().equals("observatory-telemetry");
  }
  Thread.sleep(1000);
  System.out.println("appenders " + context.getConfiguration().getRootLogger().getAppenders().size());
  context.setConfigLocation(new java.io.File(System.getProperty("configuration")).toURI());
  while (context.getConfiguration().getRootLogger().getAppenders().get("observatory") == null) Thread.sleep(5);
  org.apache.logging.log4j.LogManager.getLogger("org.apache.spark.Job").info("configured");
}`

// Spark replaces log4j's own configuration only while it is as log4j made it.
func TestLogsOfAProcessWithoutAConfigurationArrive(t *testing.T) {
	jars := log4jJars(t)
	if !onMachine(t) {
		return
	}
	s, _ := startNode(t)
	configuration := filepath.Join(t.TempDir(), "spark.properties")
	write(t, configuration, log4jConfig)
	classes := compileJavaAgainst(t, jars, map[string]string{executorMain: unconfiguredMain})
	out := runUntilSent(t, func() (out string) {
		out, _ = startJVM(t, classes, jars, "-Dconfiguration="+configuration).end(t)
		return out
	}, func(string) bool { return s.hasLog("configured") })
	require.Contains(t, out, "appenders 1\n")
	require.NotContains(t, out, "observatory:")
	s.log(t, "after the configuration", func(r logRow) bool { return r.record.GetBody().GetStringValue() == "configured" })
}

func TestFailingCollectorDoesNotAffectApplication(t *testing.T) {
	if !onMachine(t) {
		return
	}
	const waitForStdin = `public static void main(String[] a) throws Exception {
  boolean up = false;
   while (!up) { for (Thread t : Thread.getAllStackTraces().keySet()) up |= t.getName().equals("observatory-telemetry"); Thread.sleep(5); }
  while (System.in.available() == 0) Thread.sleep(5); System.out.println("main ran"); }`
	classes := compileJava(t, map[string]string{executorMain: waitForStdin})
	installLauncher(t)
	startPyroscope(t, nil) // so that only the collector fails
	for name, c := range map[string]struct {
		serve http.HandlerFunc // nil: nobody listens
		line  string
	}{
		"absent":   {nil, "java.net.ConnectException"},
		"hanging":  {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, ""},
		"refusing": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) }, "/v1/metrics answered 400"},
		"broken":   {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, "/v1/metrics answered 503"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.serve != nil {
				serveTelemetry(t, c.serve)
			}
			var options []string
			if c.line == "" {
				options = []string{exitsSoon()}
			}
			out, took := startJVM(t, classes, "", options...).end(t)
			require.Contains(t, out, "main ran\n")
			require.LessOrEqual(t, strings.Count(out, "observatory:"), 1, out)
			if c.line != "" {
				require.Contains(t, out, "observatory: telemetry not sent: ")
				require.Contains(t, out, c.line)
			}
			require.Less(t, took, exitBound.Scaled())
		})
	}
}
