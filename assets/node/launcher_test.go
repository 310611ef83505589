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

func TestLauncherKnowsPlatformsNames(t *testing.T) {
	const path = "launcher/src/main/java/observatory/launcher/Platform.java"
	want := node.LauncherConstants()
	if *update {
		require.NoError(t, os.WriteFile(path, want, 0o644))
	}
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "run: go test ./assets/node -update, then make artifacts-lock")
}

const executorMain = "org.apache.spark.executor.YarnCoarseGrainedExecutorBackend"

// javaClasses compiles sources by class name into a folder.
func javaClasses(t *testing.T, sources map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	args := []string{"-d", dir}
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

// agentJar packs an agent class that prints what it is started with.
func agentJar(t *testing.T, target, class, body string) {
	t.Helper()
	dir := javaClasses(t, map[string]string{class: "public static void premain(String a, java.lang.instrument.Instrumentation i) throws Exception {" + body + "}"})
	require.NoError(t, os.MkdirAll(filepath.Dir(target), 0o755))
	out, err := exec.Command("jar", "cf", target, "-C", dir, strings.Split(class, ".")[0]).CombinedOutput()
	require.NoError(t, err, string(out))
}

const (
	otelClass      = "io.opentelemetry.javaagent.OpenTelemetryAgent"
	pyroscopeClass = "io.pyroscope.javaagent.PyroscopeAgent"
	printOTel      = `System.out.println("otel " + System.getProperty("otel.service.name") + " " + System.getProperty("otel.resource.attributes"));`
	printPyroscope = `System.out.println("pyroscope " + System.getProperty("pyroscope.server.address") + " " + System.getProperty("pyroscope.labels"));`
	// A main that ends once the launcher is done, or at once if it never began.
	waitMain = `public static void main(String[] a) throws Exception {
  long end = System.currentTimeMillis() + 60000;
  while ("seen".equals(System.getProperty("observatory.launcher")) && Thread.getAllStackTraces().keySet().stream().anyMatch(x -> x.getName().equals("observatory-launcher")) && System.currentTimeMillis() < end) Thread.sleep(5);
  System.out.println("main ran");
}`
)

// layNode puts what the bootstrap action leaves, with agents that only print.
func layNode(t *testing.T) {
	t.Helper()
	jar, err := os.ReadFile(lockedFile(t, platform.ArtifactLauncher))
	require.NoError(t, err)
	write(t, platform.NodeLauncherJar, string(jar))
	write(t, platform.NodeFactsFile, "cluster=j-ABC123\nnode.role=core\nhost.name="+nodeHost+"\ncontrol.address="+controlIP+"\n")
	agentJar(t, platform.NodeOTelAgentJar, otelClass, printOTel)
	agentJar(t, platform.NodePyroscopeJar, pyroscopeClass, printPyroscope)
}

// jvm runs a main class with the launcher and gives both output streams.
func jvm(t *testing.T, classes string, env []string, main string, options []string, args ...string) (stdout, stderr string) {
	t.Helper()
	line := append([]string{"-javaagent:" + platform.NodeLauncherJar}, options...)
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
	classes := javaClasses(t, map[string]string{
		"Plain": waitMain, executorMain: waitMain, "org.apache.spark.deploy.yarn.ApplicationMaster": waitMain,
		"org.apache.spark.deploy.yarn.ExecutorLauncher": waitMain, "org.apache.spark.deploy.history.HistoryServer": waitMain,
	})
	const application = "application_1700000000000_0042"
	executor := []string{"--driver-url", "spark://x", "--executor-id", "7", "--app-id", application}
	const identity = "cluster=j-ABC123,node.role=core,host.name=" + nodeHost + ",spark.app.id=" + application + ",spark.executor.id=7"
	layNode(t)

	t.Run("other JVMs are left alone", func(t *testing.T) {
		for _, main := range []string{"Plain", "org.apache.spark.deploy.yarn.ExecutorLauncher", "org.apache.spark.deploy.history.HistoryServer"} {
			out, errs := jvm(t, classes, nil, main, nil)
			require.Equal(t, "main ran\n", out, main)
			require.Empty(t, errs, main)
		}
	})
	t.Run("an executor is labelled and its three copies start one of each", func(t *testing.T) {
		copies := []string{"-javaagent:" + platform.NodeLauncherJar, "-javaagent:" + platform.NodeLauncherJar}
		out, errs := jvm(t, classes, nil, executorMain, copies, executor...)
		require.Empty(t, errs)
		require.Equal(t, fmt.Sprintf("pyroscope http://%s:%d %s\notel spark-executor %s\nmain ran\n",
			controlIP, platform.Pyroscope, strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(identity,
				"node.role", "node_role"), "host.name", "host_name"), "spark.app.id", "spark_app_id"), "spark.executor.id", "spark_executor_id"), identity), out)
	})
	t.Run("a driver in cluster mode has its application from the container", func(t *testing.T) {
		out, _ := jvm(t, classes, []string{"CONTAINER_ID=container_e17_1700000000000_0042_01_000001"}, "org.apache.spark.deploy.yarn.ApplicationMaster", nil)
		require.Contains(t, out, "otel spark-driver cluster=j-ABC123,node.role=core,host.name="+nodeHost+",spark.app.id="+application+",spark.executor.id=driver\n")
	})
	t.Run("the user's settings stay and identity is added", func(t *testing.T) {
		out, _ := jvm(t, classes, []string{"PYROSCOPE_SERVER_ADDRESS=http://elsewhere:1"}, executorMain,
			[]string{"-Dotel.resource.attributes=team=a,cluster=wrong", "-Dotel.service.name=mine"}, executor...)
		require.Contains(t, out, "otel mine team=a,"+identity+"\n")
		require.Contains(t, out, "pyroscope null ", "the environment variable is the agent's to read")
	})
	t.Run("switches", func(t *testing.T) {
		out, _ := jvm(t, classes, nil, executorMain, []string{"-D" + platform.LauncherDisableProperty + "=true"}, executor...)
		require.Equal(t, "main ran\n", out)
		out, _ = jvm(t, classes, []string{platform.LauncherDisableVariable + "=true"}, executorMain, nil, executor...)
		require.Equal(t, "main ran\n", out)
		write(t, platform.NodeKillSwitch, "")
		out, _ = jvm(t, classes, nil, executorMain, nil, executor...)
		require.Equal(t, "main ran\n", out)
		require.NoError(t, os.Remove(platform.NodeKillSwitch))
	})
	faults := map[string]struct {
		spoil func(t *testing.T)
		line  string
	}{
		"missing": {func(t *testing.T) { require.NoError(t, os.Remove(platform.NodePyroscopeJar)) }, "observatory: pyroscope.jar not started: java.io.FileNotFoundException"},
		"broken":  {func(t *testing.T) { write(t, platform.NodePyroscopeJar, "not a jar") }, "observatory: pyroscope.jar not started: java.util.zip.ZipException"},
		"empty":   {func(t *testing.T) { agentJar(t, platform.NodePyroscopeJar, "io.Other", "") }, "observatory: pyroscope.jar not started: java.lang.ClassNotFoundException"},
		"throwing": {func(t *testing.T) {
			agentJar(t, platform.NodePyroscopeJar, pyroscopeClass, `throw new NoSuchMethodError("old\nnews");`)
		}, "observatory: pyroscope.jar not started: java.lang.NoSuchMethodError: old news"},
	}
	for name, f := range faults {
		t.Run("a "+name+" agent costs one line", func(t *testing.T) {
			layNode(t)
			f.spoil(t)
			out, errs := jvm(t, classes, nil, executorMain, nil, executor...)
			require.Contains(t, out, "main ran\n")
			require.Contains(t, out, "otel spark-executor "+identity, "the other agent starts")
			require.Equal(t, 1, strings.Count(errs, "\n"), errs)
			require.Contains(t, errs, f.line)
		})
	}
	t.Run("no facts, no agents", func(t *testing.T) {
		layNode(t)
		require.NoError(t, os.Remove(platform.NodeFactsFile))
		out, errs := jvm(t, classes, nil, executorMain, nil, executor...)
		require.Equal(t, "main ran\n", out)
		require.Contains(t, errs, "observatory: agents not started: java.io.FileNotFoundException")
	})
}

// The double has the shape of Spark 3.x's SparkEnv; the whole path is also run
// on a real driver by the local cloud.
func TestLauncherWaitsForTheDriversApplicationID(t *testing.T) {
	if !onMachine(t) {
		return
	}
	layNode(t)
	classes := javaClasses(t, map[string]string{
		"org.apache.spark.SparkConf": `final java.util.Map<String, String> m = new java.util.concurrent.ConcurrentHashMap<>();
public String get(String k, String d) { return m.getOrDefault(k, d); }`,
		"org.apache.spark.SparkEnv": `static volatile SparkEnv env; final SparkConf conf = new SparkConf();
public static SparkEnv get() { return env; }
public SparkConf conf() { return conf; }
public static SparkConf begin() { env = new SparkEnv(); return env.conf; }
public static void id() { env.conf.m.put("spark.app.id", "application_1_0001"); }`,
		"org.apache.spark.deploy.SparkSubmit": `public static void main(String[] a) throws Exception {
  Thread launcher = Thread.getAllStackTraces().keySet().stream().filter(x -> x.getName().equals("observatory-launcher")).findFirst().get();
  org.apache.spark.SparkEnv.begin();
  launcher.join(1000);
  System.out.println(launcher.isAlive() ? "waiting" : "too early");
  org.apache.spark.SparkEnv.id();
  launcher.join(30000);
}`,
	})
	out, errs := jvm(t, classes, nil, "org.apache.spark.deploy.SparkSubmit", nil, "--class", "Job")
	require.Empty(t, errs)
	require.True(t, strings.HasPrefix(out, "waiting\n"), out)
	require.Contains(t, out, "otel spark-driver cluster=j-ABC123,node.role=core,host.name="+nodeHost+",spark.app.id=application_1_0001,spark.executor.id=driver\n")
}

func TestRealAgentsReportThroughTheNodesPath(t *testing.T) {
	if !onMachine(t) {
		return
	}
	layNode(t)
	for target, name := range map[string]string{platform.NodeOTelAgentJar: platform.ArtifactOTelAgent, platform.NodePyroscopeJar: platform.ArtifactPyroscope} {
		content, err := os.ReadFile(lockedFile(t, name))
		require.NoError(t, err)
		write(t, target, string(content))
	}
	rules, err := os.ReadFile("jmx-s3a.yaml")
	require.NoError(t, err)
	write(t, platform.NodeJMXRules, string(rules))
	classes := javaClasses(t, map[string]string{executorMain: `public static void main(String[] a) throws Exception {
  System.out.println("main ran"); double x = 0; while (System.in.available() == 0) { x += Math.sqrt(x + 1); if (x > 1e9) x = 0; } }`})
	s := startSink(t, fmt.Sprintf("%s:%d", controlIP, platform.OTLPGRPC))
	profiles := startProfiles(t)
	startCollector(t)
	cmd := exec.Command("java", "-javaagent:"+platform.NodeLauncherJar, "-cp", classes, executorMain, "--executor-id", "3", "--app-id", "application_1_0001")
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	defer func() {
		_, _ = stdin.Write([]byte("end\n"))
		_ = cmd.Wait()
		t.Log(out.String())
	}()
	want := stamped.with("service.name", "spark-executor").with("spark.app.id", "application_1_0001").with("spark.executor.id", "3")
	require.Equal(t, want, s.metric(t, "jvm.memory.used", nil).resource)
	name := <-profiles.names
	require.True(t, strings.HasPrefix(name, "spark-executor"), name)
	for _, label := range []string{"spark_app_id=application_1_0001", "spark_executor_id=3", "host_name=" + nodeHost, "node_role=core", "cluster=j-ABC123"} {
		require.Contains(t, name, label)
	}
}
