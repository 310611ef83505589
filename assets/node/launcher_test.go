package node_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/assets/node"
	"github.com/emr-observatory/emr-observatory/platform"
)

var update = flag.Bool("update", false, "rewrite committed files that are rendered from package platform")

func TestJavaConstantsAreUpToDate(t *testing.T) {
	for path, want := range map[string][]byte{
		"launcher/src/main/java/observatory/launcher/Platform.java":  node.LauncherConstants(),
		"spark-plugin/src/main/java/observatory/spark/Platform.java": node.PluginConstants(),
	} {
		if *update {
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.WriteFile(path, want, 0o644))
		}
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(want), string(got), "run: go test ./assets/node -update, then make artifacts-lock")
	}
}

const executorMain = "org.apache.spark.executor.YarnCoarseGrainedExecutorBackend"

// compileJava compiles sources by class name and returns the folder of the classes.
func compileJava(t *testing.T, sources map[string]string) string {
	t.Helper()
	return compileJavaAgainst(t, "", sources)
}

// compileJavaAgainst is like compileJava, with further entries of the class path.
func compileJavaAgainst(t *testing.T, jars string, sources map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	args := []string{"-J-XX:TieredStopAtLevel=1", "-d", dir, "-cp", dir + jars}
	for name, body := range sources {
		path := filepath.Join(dir, "src", strings.ReplaceAll(name, ".", "/")+".java")
		dot := strings.LastIndex(name, ".")
		header := ""
		if dot > 0 {
			header = "package " + name[:dot] + ";\n"
		}
		write(t, path, header+"public class "+name[dot+1:]+" {\n"+body+"\n}\n")
		args = append(args, path)
	}
	out, err := exec.Command("javac", args...).CombinedOutput()
	require.NoError(t, err, string(out))
	return dir
}

// classJar compiles a class into a jar.
func classJar(t *testing.T, target, class, body string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(target), 0o755))
	jar(t, target, compileJava(t, map[string]string{class: body}))
}

// jar writes a folder of classes into a jar.
func jar(t *testing.T, target, classes string) {
	t.Helper()
	out, err := exec.Command("jar", "--create", "--file", target, "-C", classes, ".").CombinedOutput()
	require.NoError(t, err, string(out))
}

// waitMain returns once the launcher has finished, or at once if it did not start.
const waitMain = `public static void main(String[] a) throws Exception {
  long end = System.currentTimeMillis() + 60000;
  while ("seen".equals(System.getProperty("observatory.launcher")) && Thread.getAllStackTraces().keySet().stream()
     .anyMatch(x -> x.getName().equals("observatory-launcher")) && System.currentTimeMillis() < end) Thread.sleep(5);
  System.out.println("main ran");
}`

// installLauncher installs what the bootstrap action does, with a profiler that
// counts its recordings.
func installLauncher(t *testing.T) {
	t.Helper()
	for artifact, path := range map[string]string{
		platform.ArtifactLauncher: platform.NodeLauncherJar, platform.ArtifactPlugin: platform.NodePluginJar,
		platform.ArtifactConnect: platform.NodeConnectJar,
	} {
		jar, err := os.ReadFile(lockedFile(t, artifact))
		require.NoError(t, err)
		write(t, path, string(jar))
	}
	write(t, platform.NodeFactsFile, "cluster=j-ABC123\nnode.role=core\nhost.name="+nodeHost+"\ncontrol.address="+controlIP+"\n")
	classJar(t, platform.NodeProfilerJar, profilerClass, countingProfiler)
}

// runJVM runs a main class with the launcher and returns both output streams.
func runJVM(t *testing.T, classes string, env []string, main string, options []string, args ...string) (stdout, stderr string) {
	t.Helper()
	line := append([]string{"-javaagent:" + platform.NodeLauncherJar, sendsAll()}, options...)
	line = append(line, "-Xshare:auto", "-cp", classes, main)
	cmd := exec.Command("java", append(line, args...)...)
	cmd.Env = append(os.Environ(), env...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	require.NoError(t, cmd.Run(), errs.String())
	return out.String(), errs.String()
}

func TestLauncherOnRealJVMs(t *testing.T) {
	if !onMachine(t) {
		return
	}
	classes := compileJava(t, map[string]string{
		"Plain": waitMain, executorMain: waitMain, "org.apache.spark.deploy.yarn.ApplicationMaster": waitMain,
		"org.apache.spark.deploy.yarn.ExecutorLauncher": waitMain, "org.apache.spark.deploy.history.HistoryServer": waitMain,
	})
	const application = "application_1700000000000_0042"
	executor := []string{"--driver-url", "spark://x", "--executor-id", "7", "--app-id", application}
	const host = "cluster=j-ABC123,node_role=core,host_name=" + nodeHost
	const identity = host + ",spark_app_id=" + application + ",spark_executor_id=7"
	installLauncher(t)
	acceptTelemetry(t)
	profiles := startPyroscope(t, nil)

	t.Run("the launcher does nothing in other JVMs", func(t *testing.T) {
		for _, main := range []string{"Plain", "org.apache.spark.deploy.yarn.ExecutorLauncher", "org.apache.spark.deploy.history.HistoryServer"} {
			out, errs := runJVM(t, classes, nil, main, nil)
			require.Equal(t, "main ran\n", out, main)
			require.Empty(t, errs, main)
		}
		require.Empty(t, profiles)
	})
	t.Run("three copies of the launcher in an executor start one profiler", func(t *testing.T) {
		copies := []string{"-javaagent:" + platform.NodeLauncherJar, "-javaagent:" + platform.NodeLauncherJar}
		profile, out, errs := profileAtExit(t, profiles, func() (stdout, stderr string) {
			return runJVM(t, classes, nil, executorMain, copies, executor...)
		})
		require.Empty(t, errs)
		require.Equal(t, fmt.Sprintf("start,event=itimer,interval=10ms,lock=10ms,alloc=%dm,loglevel=none,jfr,"+
			"jfropts=0x1f\nmain ran\nstop,loglevel=none\n", platform.AllocationSampleMiB), out)
		require.Equal(t, "spark-executor{"+identity+"}", profile.name)
		require.Empty(t, profiles)
	})
	t.Run("a driver in cluster mode takes the application's id from its container's", func(t *testing.T) {
		profile, _, _ := profileAtExit(t, profiles, func() (stdout, stderr string) {
			return runJVM(t, classes, []string{"CONTAINER_ID=container_e17_1700000000000_0042_01_000001"},
				"org.apache.spark.deploy.yarn.ApplicationMaster", nil)
		})
		require.Equal(t, "spark-driver{"+host+",spark_app_id="+application+",spark_executor_id=driver}", profile.name)
	})
	t.Run("the user's settings take precedence, and the labels are added", func(t *testing.T) {
		profile, out, _ := profileAtExit(t, profiles, func() (stdout, stderr string) {
			return runJVM(t, classes, []string{"PYROSCOPE_PROFILER_EVENT=wall"}, executorMain,
				[]string{"-Dpyroscope.labels=team=a,cluster=wrong", "-Dpyroscope.application.name=mine", "-Dpyroscope.profiler.alloc=",
					"-Dpyroscope.profiler.lock=1ms"}, executor...)
		})
		require.Contains(t, out, "start,event=wall,interval=10ms,lock=1ms,loglevel=none,jfr,")
		require.Equal(t, "mine{team=a,"+identity+"}", profile.name)
		out, errs := runJVM(t, classes, []string{fmt.Sprintf("PYROSCOPE_SERVER_ADDRESS=http://127.0.0.1:%d", platform.OTLPHTTP)}, executorMain,
			nil, executor...)
		require.Contains(t, out, "stop,loglevel=none\n", "sent elsewhere")
		require.Empty(t, errs)
		require.Empty(t, profiles)
		out, errs = runJVM(t, classes, []string{"PYROSCOPE_AGENT_ENABLED=false"}, executorMain, nil, executor...)
		require.Equal(t, "main ran\n", out)
		require.Empty(t, errs)
	})
	t.Run("switches", func(t *testing.T) {
		out, _ := runJVM(t, classes, nil, executorMain, []string{"-D" + platform.LauncherDisableProperty + "=true"}, executor...)
		require.Equal(t, "main ran\n", out)
		out, _ = runJVM(t, classes, []string{platform.LauncherDisableVariable + "=true"}, executorMain, nil, executor...)
		require.Equal(t, "main ran\n", out)
		write(t, platform.NodeKillSwitch, "")
		out, _ = runJVM(t, classes, nil, executorMain, nil, executor...)
		require.Equal(t, "main ran\n", out)
		require.NoError(t, os.Remove(platform.NodeKillSwitch))
	})
	faults := map[string]struct {
		inject func(t *testing.T)
		line   string
	}{
		"missing": {func(t *testing.T) { require.NoError(t, os.Remove(platform.NodeProfilerJar)) },
			"observatory: profiler not started: java.io.FileNotFoundException"},
		"broken": {func(t *testing.T) { write(t, platform.NodeProfilerJar, "not a jar") },
			"observatory: profiler not started: java.util.zip.ZipException"},
		"empty": {func(t *testing.T) { classJar(t, platform.NodeProfilerJar, "one.Other", "") },
			"observatory: profiler not started: java.lang.ClassNotFoundException"},
		"throwing": {func(t *testing.T) {
			classJar(t, platform.NodeProfilerJar, profilerClass, `public static Object getInstance() { throw new NoSuchMethodError("old\nnews"); }`)
		}, "observatory: profiler not started: java.lang.NoSuchMethodError: old news"},
	}
	for name, f := range faults {
		t.Run("a "+name+" profiler is reported in one line", func(t *testing.T) {
			installLauncher(t)
			f.inject(t)
			out, errs := runJVM(t, classes, nil, executorMain, nil, executor...)
			require.Contains(t, out, "main ran\n")
			require.Equal(t, 1, strings.Count(errs, "\n"), errs)
			require.Contains(t, errs, f.line)
		})
	}
	t.Run("without facts there is no profiler", func(t *testing.T) {
		installLauncher(t)
		require.NoError(t, os.Remove(platform.NodeFactsFile))
		out, errs := runJVM(t, classes, nil, executorMain, nil, executor...)
		require.Equal(t, "main ran\n", out)
		require.Contains(t, errs, "observatory: profiler not started: java.io.FileNotFoundException")
	})
}

// The fake SparkEnv has the methods that the launcher calls in Spark 3.x. The local
// cloud tests a real driver.
func TestLauncherWaitsForDriverApplicationID(t *testing.T) {
	if !onMachine(t) {
		return
	}
	installLauncher(t)
	acceptTelemetry(t)
	profiles := startPyroscope(t, nil)
	classes := compileJava(t, map[string]string{
		"org.apache.spark.SparkConf": `final java.util.Map<String, String> m = new java.util.concurrent.ConcurrentHashMap<>();
public String get(String k, String d) { return m.getOrDefault(k, d); }`,
		"org.apache.spark.SparkEnv": `static volatile SparkEnv env; final SparkConf conf = new SparkConf();
public static SparkEnv get() { return env; }
public SparkConf conf() { return conf; }
public static SparkConf begin() { env = new SparkEnv(); return env.conf; }
public static void id() { env.conf.m.put("spark.app.id", "application_1_0001"); }`,
		driverMain: `public static void main(String[] a) throws Exception {
  Thread launcher = Thread.getAllStackTraces().keySet().stream().filter(x -> x.getName().equals("observatory-launcher")).findFirst().get();
  org.apache.spark.SparkEnv.begin();
  launcher.join(1000);
  System.out.println(launcher.isAlive() ? "waiting" : "too early");
  org.apache.spark.SparkEnv.id();
  launcher.join(30000);
}`,
	})
	profile, out, errs := profileAtExit(t, profiles, func() (stdout, stderr string) {
		return runJVM(t, classes, nil, driverMain, nil, "--class", "Job")
	})
	require.Empty(t, errs)
	require.True(t, strings.HasPrefix(out, "waiting\n"), out)
	require.Equal(t, "spark-driver{cluster=j-ABC123,node_role=core,host_name="+nodeHost+",spark_app_id=application_1_0001,"+
		"spark_executor_id=driver}", profile.name)
}
