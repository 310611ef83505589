package node_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
)

// sparkMain runs contexts one after the other, with a task that logs, and leaves the
// last one to the JVM's end if it is told to.
const sparkMain = `public static void main(String[] a) throws Exception {
  for (int i = 1; i <= Integer.parseInt(a[0]); i++) {
    org.apache.spark.api.java.JavaSparkContext spark =
       new org.apache.spark.api.java.JavaSparkContext(new org.apache.spark.SparkConf().setAppName("job " + i));
    java.util.List<Integer> numbers = new java.util.ArrayList<>();
    for (int n = 0; n < 1000; n++) numbers.add(n);
    int sum = spark.parallelize(numbers, 2).reduce((x, y) -> x + y);
    spark.parallelize(numbers.subList(0, 2), 2).foreach(x -> {
      awaitCapture();
      org.apache.logging.log4j.LogManager.getLogger("Job").warn("in a task");
    });
    System.out.println("sum " + sum + " of " + spark.sc().applicationId());
    System.out.println("job ends " + System.currentTimeMillis());
    if (a.length == 1) spark.stop();
  }
}
/** Waits until the launcher, where it is, takes log records: a moment after the start. */
static void awaitCapture() throws Exception {
  String arguments = java.lang.management.ManagementFactory.getRuntimeMXBean().getInputArguments().toString();
  boolean launched = arguments.contains("launcher.jar");
  org.apache.logging.log4j.core.LoggerContext log =
     (org.apache.logging.log4j.core.LoggerContext) org.apache.logging.log4j.LogManager.getContext(false);
  for (int i = 0; launched && i < 1500 && !log.getConfiguration().getRootLogger().getAppenders().containsKey("observatory"); i++) {
    Thread.sleep(20);
  }
}`

// ownPlugin is another's plugin, in the class of the job.
const ownPlugin = `
public static class Own implements org.apache.spark.api.plugin.SparkPlugin {
public org.apache.spark.api.plugin.DriverPlugin driverPlugin() {
  return new org.apache.spark.api.plugin.DriverPlugin() {
    public java.util.Map<String, String> init(org.apache.spark.SparkContext sc, org.apache.spark.api.plugin.PluginContext c) {
      System.out.println("own plugin"); return new java.util.HashMap<>(); } }; }
public org.apache.spark.api.plugin.ExecutorPlugin executorPlugin() { return null; } }`

// sparkJob is a jar with sparkMain and ownPlugin.
func sparkJob(t *testing.T, home string) string {
	t.Helper()
	classes := compileJavaAgainst(t, ":"+filepath.Join(home, "jars", "*"), map[string]string{"Job": sparkMain + ownPlugin})
	job := filepath.Join(t.TempDir(), "job.jar")
	jar(t, job, classes)
	return job
}

// agentOf returns the property that gives the launcher, and other options, to the JVM of
// the driver or of executors.
func agentOf(process string, options ...string) string {
	return "spark." + process + ".defaultJavaOptions=" + strings.Join(append([]string{"-javaagent:" + platform.NodeLauncherJar},
		options...), " ")
}

// submit runs the job with spark-submit and returns what it and its executors print,
// and how long the JVM took to exit after its last job.
func submit(t *testing.T, home, jar, master, arguments string, conf ...string) (out string, exit time.Duration) {
	t.Helper()
	line := []string{"--master", master, "--class", "Job", "--conf", "spark.ui.enabled=false", "--conf", "spark.executor.memory=512m"}
	for _, c := range conf {
		line = append(line, "--conf", c)
	}
	line = append(line, jar)
	cmd := exec.Command(filepath.Join(home, "bin", "spark-submit"), append(line, strings.Fields(arguments)...)...)
	work := t.TempDir()
	require.NotContains(t, work, ",", "Spark takes it for two folders: name the test without a comma")
	home = ownHome(t, home)
	cmd.Dir = work
	cmd.Env = append(os.Environ(), "SPARK_HOME="+home, "SPARK_LOCAL_IP=127.0.0.1", "SPARK_LOCAL_DIRS="+work, shortLived)
	printed, err := cmd.CombinedOutput()
	ended := time.Now()
	out = string(printed)
	require.NoError(t, err, out)
	for _, line := range strings.Split(out, "\n") {
		if millis, found := strings.CutPrefix(line, "job ends "); found {
			n, err := strconv.ParseInt(millis, 10, 64)
			require.NoError(t, err)
			exit = ended.Sub(time.UnixMilli(n))
		}
	}
	executors := outputOfExecutors(t, home)
	require.Equal(t, master == twoProcesses, executors != "", "output of executors")
	out += executors
	require.Contains(t, out, "sum 499500 of ", out)
	return out, exit
}

// ownHome returns a SPARK_HOME of the test's own: executors of a local cluster write
// there, in work.
func ownHome(t *testing.T, home string) string {
	t.Helper()
	own := t.TempDir()
	for _, folder := range []string{"bin", "jars"} {
		require.NoError(t, os.Symlink(filepath.Join(home, folder), filepath.Join(own, folder)))
	}
	return own
}

// shortLived keeps JVMs that live for seconds from spending most of their CPU on
// compiling themselves.
const shortLived = "JAVA_TOOL_OPTIONS=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

const twoProcesses = "local-cluster[1,1,512]" // a driver, and an executor in a JVM of its own

// receivedText is what a fake collector got, as text.
type receivedText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (r *receivedText) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

func (r *receivedText) containsAll(parts []string) bool {
	text := r.String()
	return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(text, part) })
}

// collectText serves in place of the node's collector and keeps what it gets.
func collectText(t *testing.T) *receivedText {
	t.Helper()
	r := &receivedText{}
	serveTelemetry(t, func(_ http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.text.WriteString(request.URL.Path + " " + string(body) + "\n")
	})
	return r
}

// Each application has its own labels, in the driver and in its executors; records of
// tasks have the trace of their application.
func TestContextsOfOneJVMKeepTheirLabels(t *testing.T) {
	home := sparkHome(t)
	if !onMachine(t) {
		return
	}
	s, _ := startNode(t)
	jar := sparkJob(t, home)
	out := runUntilSent(t, func() (out string) {
		out, _ = submit(t, home, jar, twoProcesses, "2", agentOf("driver", sendsAll()), agentOf("executor", sendsAll()),
			platform.SparkSamplingRatio+"=1")
		return out
	}, func(out string) bool {
		for _, app := range applicationsOf(out, 2) {
			if !s.hasMetric("spark.wall", platform.ServiceSparkDriver, app) ||
				!s.hasMetric("spark.executor.task.duration", platform.ServiceSparkExecutor, app) {
				return false
			}
		}
		return true
	})
	require.NotContains(t, out, "observatory:", "what was not started or sent")
	for i, app := range applicationsOf(out, 2) {
		of := func(r labels) bool {
			return r["spark.app.id"] == app && r["service.name"] == platform.ServiceSparkDriver
		}
		s.metric(t, "spark.wall", func(r metricRow) bool { return of(r.resource) })
		s.metric(t, "jvm.class.count", func(r metricRow) bool { return of(r.resource) })
		s.metric(t, "spark.executor.task.duration", func(r metricRow) bool {
			return r.resource["spark.app.id"] == app && r.resource["service.name"] == platform.ServiceSparkExecutor
		})
		span := s.span(t, "of the application "+app, func(r spanRow) bool {
			return r.attributes["spark.kind"] == "application" && of(r.resource)
		})
		require.Equal(t, fmt.Sprintf("application job %d", i+1), span.span.GetName())
		record := s.log(t, "of a task of "+app, func(r logRow) bool {
			return r.record.GetBody().GetStringValue() == "in a task" && r.resource["spark.app.id"] == app
		})
		require.Equal(t, platform.ServiceSparkExecutor, record.resource["service.name"])
		require.Equal(t, span.span.GetTraceId(), record.record.GetTraceId())
		require.Len(t, record.record.GetSpanId(), 8)
	}
}

// applicationsOf returns the ids of the applications, in their order.
func applicationsOf(out string, n int) []string {
	var ids []string
	for _, part := range strings.Split(out, "sum 499500 of ")[1:] {
		ids = append(ids, strings.Fields(part)[0])
	}
	return ids[:n]
}

// A job may take the launcher from its driver or its executors, and bring plugins of
// its own. Nobody is asked for a class that they do not have.
func TestReplacedSparkPropertiesDoNotBreakAJob(t *testing.T) {
	home := sparkHome(t)
	if !onMachine(t) {
		return
	}
	installLauncher(t)
	startPyroscope(t, nil)
	jar := sparkJob(t, home)
	for name, c := range map[string]struct {
		master           string
		conf             []string
		driver, executor bool // who has the plugin
		long             bool
	}{
		"executors without the launcher": {twoProcesses, []string{agentOf("driver", sendsAll()), "spark.plugins=Job$Own",
			"spark.driver.userClassPathFirst=true"}, true, false, false},
		"a driver without the launcher": {twoProcesses, []string{agentOf("executor", sendsAll()), "spark.plugins=Job$Own"}, false, true, true},
		"another's default plugins": {"local[1]", []string{agentOf("driver", sendsAll()), "spark.plugins.defaultList=Job$Own"}, false, false,
			true},
		"options of its own": {"local[1]", []string{agentOf("driver", sendsAll()), "spark.plugins=Job$Own", "spark.driver.extraJavaOptions=-Dx=y",
			"spark.executor.extraJavaOptions=-Dx=y", "spark.extraListeners=org.apache.spark.scheduler.StatsReportListener"}, true, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			if c.long {
				testenv.RequireLong(t, "every run tries executors without the launcher, and options of the job's own")
			}
			got := collectText(t)
			sends := func(metric string) bool { return strings.Contains(got.String(), `"`+metric+`"`) }
			out := runUntilSent(t, func() (out string) {
				out, _ = submit(t, home, jar, c.master, "1", c.conf...)
				return out
			}, func(string) bool {
				return sends("spark.wall") == c.driver && sends("spark.executor.task.duration") == c.executor
			})
			require.Contains(t, out, "own plugin\n")
			require.NotContains(t, out, "ClassNotFoundException")
			require.NotContains(t, out, "observatory:")
			require.Equal(t, c.driver, sends("spark.wall"), "metrics of the driver's half")
			require.Equal(t, c.executor, sends("spark.executor.task.duration"), "metrics of the executor's half")
		})
	}
}
