package node_test

import (
	"archive/zip"
	"bytes"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
)

// The result and the exit code of a job do not depend on the collector, and it ends at
// most the launcher's timeout later, whether it stops its context or leaves that to the
// JVM's end.
func TestFailingCollectorDoesNotAffectAJob(t *testing.T) {
	home := sparkHome(t)
	if !onMachine(t) {
		return
	}
	installLauncher(t)
	startPyroscope(t, nil) // so that only the collector fails
	job := sparkJob(t, home)
	exits := map[string]time.Duration{} // by case
	turn := func(t *testing.T, name, arguments string, serve http.HandlerFunc) {
		t.Run(name, func(t *testing.T) {
			if serve != nil {
				serveTelemetry(t, serve)
			}
			out, exit := submit(t, home, job, "local[1]", arguments, agentOf("driver"), platform.SparkSamplingRatio+"=1")
			require.LessOrEqual(t, strings.Count(out, "observatory:"), 1, out)
			exits[name] = exit
		})
	}
	answers := func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }
	faults := map[string]http.HandlerFunc{"hanging": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }}
	contexts := map[string]string{"stopped": "2"} // arguments
	if testenv.Long() {                           // TestFailingCollectorDoesNotAffectApplication tries each fault without Spark
		faults["absent"] = nil // nobody listens
		faults["refusing"] = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) }
		faults["dying"] = func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
		contexts["left open"] = "1 left"
	}
	// Two waits, one after the other, would exceed the bar.
	bar := testenv.Limit(platform.LauncherExitTimeout * 3 / 2)
	for ending, arguments := range contexts {
		answering := "answering with contexts " + ending
		turn(t, answering, arguments, answers)
		for fault, serve := range faults {
			name := fault + " with contexts " + ending
			turn(t, name, arguments, serve)
			require.LessOrEqual(t, exits[name]-exits[answering], bar.Scaled(), name)
		}
	}
	t.Log(exits)
}

// throwingHalves are the plugin's two halves, which throw in the methods whose names
// are filled in. A task that fails would be tried again, and the job said to have failed.
const (
	throwingDriver = `implements org.apache.spark.api.plugin.DriverPlugin {
  static final String AT = "%";
  static void at(String method) { if (AT.contains(method)) throw new NoSuchMethodError("in " + method); }
  public DriverHalf() { at("new"); }
  public java.util.Map<String, String> init(org.apache.spark.SparkContext sc, org.apache.spark.api.plugin.PluginContext c) {
    at("init"); return java.util.Collections.emptyMap(); }
  public void registerMetrics(String id, org.apache.spark.api.plugin.PluginContext c) { at("registerMetrics"); }
  public void shutdown() { at("shutdown"); } }`
	throwingExecutor = `implements org.apache.spark.api.plugin.ExecutorPlugin {
  static void at(String method) { if ("%".contains(method)) throw new NoSuchMethodError("in " + method); }
  public ExecutorHalf() { at("new"); }
  public void init(org.apache.spark.api.plugin.PluginContext c, java.util.Map<String, String> extra) { at("init"); }
  public void onTaskStart() { at("onTaskStart"); }
  public void onTaskSucceeded() { at("onTaskSucceeded"); }
  public void shutdown() { at("shutdown"); } }`
)

// A half that throws is said once by its JVM and is heard of no more; the JVM's own
// metrics arrive.
func TestThrowingPluginDoesNotAffectAJob(t *testing.T) {
	home := sparkHome(t)
	if !onMachine(t) {
		return
	}
	installLauncher(t)
	startPyroscope(t, nil)
	job := sparkJob(t, home)
	for name, c := range map[string]struct {
		at, driver, executor string
		long                 bool
	}{
		"constructors": {"new", "plugin not started", "plugin not started", true},
		"at the start": {"init", "plugin stopped", "plugin stopped", true},
		"later":        {"registerMetrics onTaskStart", "plugin stopped", "plugin stopped", false},
		"at the end":   {"shutdown onTaskSucceeded", "plugin stopped", "plugin stopped", true},
	} {
		t.Run(name, func(t *testing.T) {
			if c.long {
				testenv.RequireLong(t, "the case \"later\" runs in every run, and TestPluginTakesBackWhatAFailedHalfRegistered fails a driver's start")
			}
			classes, sources := t.TempDir(), t.TempDir()
			for class, body := range map[string]string{"DriverHalf": throwingDriver, "ExecutorHalf": throwingExecutor} {
				write(t, filepath.Join(sources, class+".java"),
					"package observatory.spark;\npublic class "+class+" "+strings.Replace(body, "%", c.at, 1)+"\n")
			}
			require.NoError(t, javac(classes, filepath.Join(home, "jars", "*"), filepath.Join(sources, "*.java")))
			jar(t, platform.NodePluginJar, classes)
			got := collectText(t)
			services := []string{platform.ServiceSparkDriver, platform.ServiceSparkExecutor}
			out := runUntilSent(t, func() (out string) {
				out, _ = submit(t, home, job, twoProcesses, "1", agentOf("driver", sendsAll()), agentOf("executor", sendsAll()))
				return out
			}, func(string) bool { return got.containsAll(services) })
			methods := strings.Fields(c.at)
			driver := "observatory: " + c.driver + ": java.lang.NoSuchMethodError: in " + methods[0] + "\n"
			executor := "observatory: " + c.executor + ": java.lang.NoSuchMethodError: in " + methods[len(methods)-1] + "\n"
			require.Contains(t, out, driver)
			require.Contains(t, out, executor)
			require.Equal(t, 2, strings.Count(out, "observatory:"), out)
			require.NotContains(t, got.String(), `"spark.`+"wall", "no plugin")
			require.True(t, got.containsAll(services), got)
			require.Contains(t, got.String(), applicationsOf(out, 1)[0])
		})
	}
}

// EMR's builds of Spark change event classes. Here two methods have other names, in
// every class of Spark that has or calls them.
func TestSparkWithoutAnAccessorDoesNotAffectAJob(t *testing.T) {
	home := sparkHome(t)
	if !onMachine(t) {
		return
	}
	installLauncher(t)
	startPyroscope(t, nil)
	patched := t.TempDir()
	require.Greater(t, renameInSpark(t, home, patched, "gettingResultTime", "resultFetchedTime"), 1, "of an event")
	require.Positive(t, renameInSpark(t, home, patched, "requestTime", "requestedAt"), "of an executor")
	require.Positive(t, renameInSpark(t, home, patched, "completionTime", "completedAtTim"), "of a stage")
	got := collectText(t)
	job := sparkJob(t, home)
	metrics := []string{`"spark.wall"`, `"spark.phase.compute"`, `"spark.task.time"`, `"spark.task.duration"`,
		`"spark.executor.count"`, `"spark.executor.task.duration"`}
	out := runUntilSent(t, func() (out string) {
		out, _ = submit(t, home, job, twoProcesses, "1", agentOf("driver", sendsAll()), agentOf("executor", sendsAll()),
			"spark.driver.extraClassPath="+patched, "spark.executor.extraClassPath="+patched)
		return out
	}, func(string) bool { return got.containsAll(metrics) })
	require.Equal(t, 1, strings.Count(out, "observatory:"), out)
	require.Contains(t, out, "observatory: this Spark lacks what some metrics need: "+
		"[org.apache.spark.scheduler.StageInfo.completionTime, org.apache.spark.scheduler.TaskInfo.gettingResultTime, "+
		"org.apache.spark.scheduler.cluster.ExecutorInfo.requestTime]\n")
	require.Regexp(t, `"spark\.phase\.approximate"[^}]*"asInt":"1"`, got.String(), "without the end of stages")
	require.NotContains(t, got.String(), `"spark.executor.allocation.latency"`, "needs the request's time")
	require.True(t, got.containsAll(metrics), got)
}

// renameInSpark writes the classes of Spark's core that have a name, with another of
// the same length in its place, into a folder. It returns how many they are.
func renameInSpark(t *testing.T, home, folder, name, other string) (count int) {
	t.Helper()
	require.Len(t, other, len(name))
	jars, err := filepath.Glob(filepath.Join(home, "jars", "spark-core_*.jar"))
	require.NoError(t, err)
	require.Len(t, jars, 1)
	core, err := zip.OpenReader(jars[0])
	require.NoError(t, err)
	defer func() { _ = core.Close() }()
	constant := append([]byte{1, 0, byte(len(name))}, name...) // CONSTANT_Utf8 of the class's pool
	for _, file := range core.File {
		if !strings.HasSuffix(file.Name, ".class") {
			continue
		}
		content := readZipped(t, file)
		if bytes.Contains(content, constant) {
			count++
			changed := bytes.ReplaceAll(content, constant, append([]byte{1, 0, byte(len(other))}, other...))
			write(t, filepath.Join(folder, file.Name), string(changed))
		}
	}
	return count
}

func readZipped(t *testing.T, file *zip.File) []byte {
	t.Helper()
	r, err := file.Open()
	require.NoError(t, err)
	defer func() { _ = r.Close() }()
	content, err := io.ReadAll(r)
	require.NoError(t, err)
	return content
}
