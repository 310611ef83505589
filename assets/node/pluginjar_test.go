package node_test

import (
	"archive/zip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
)

// namesMain prints the plugins that Spark would load by default, and whether the class
// path has the plugin's jar.
const namesMain = `public static void main(String[] a) throws Exception {
  boolean found = ClassLoader.getSystemResource("observatory/spark/DriverHalf.class") != null;
  System.out.println(System.getProperty("spark.plugins.defaultList") + " " + found); }`

func TestPluginIsNamedOnlyWithItsJar(t *testing.T) {
	if !onMachine(t) {
		return
	}
	classes := compileJava(t, map[string]string{executorMain: namesMain, driverMain: namesMain, "Plain": namesMain})
	acceptTelemetry(t)
	startPyroscope(t, nil)
	installLauncher(t)
	named := func(main string, options []string, args ...string) string {
		out, errs := runJVM(t, classes, nil, main, options, args...)
		require.Empty(t, errs)
		for _, line := range strings.Split(out, "\n") {
			if strings.HasSuffix(line, " true") || strings.HasSuffix(line, " false") {
				return line
			}
		}
		return out
	}
	const ours = "observatory.launcher.SparkPlugin"
	require.Equal(t, ours+" true", named(executorMain, nil))
	require.Equal(t, ours+",a.B true", named(executorMain, []string{"-Dspark.plugins.defaultList=a.B"}))
	require.Equal(t, ours+" true", named(driverMain, nil, "--deploy-mode", "client", "--class", "Job"))
	require.Equal(t, "null false", named("Plain", nil))
	require.Equal(t, "null false", named(executorMain, []string{"-D" + platform.LauncherDisableProperty + "=true"}))
	for _, args := range []string{"--deploy-mode cluster", "--deploy-mode=cluster", "--conf spark.submit.deployMode=cluster"} {
		require.Equal(t, "null false", named(driverMain, nil, append(strings.Fields(args), "--class", "Job")...),
			"the driver, in another JVM, would get the name")
	}

	for fault, inject := range map[string]func(){
		"java.nio.file.NoSuchFileException": func() { require.NoError(t, os.Remove(platform.NodePluginJar)) },
		"java.util.zip.ZipException": func() {
			require.NoError(t, os.Truncate(platform.NodePluginJar, fileSize(t, platform.NodePluginJar)/2))
		},
		"java.io.IOException: /opt/observatory/spark-plugin.jar has no observatory.spark.DriverHalf": func() {
			classJar(t, platform.NodePluginJar, "another.Plugin", "")
		},
	} {
		installLauncher(t)
		inject()
		out, errs := runJVM(t, classes, nil, executorMain, nil)
		require.Contains(t, out, "null false\n", fault)
		require.Equal(t, 1, strings.Count(errs, "\n"), errs)
		require.Contains(t, errs, "observatory: plugin not started: "+fault)
	}
}

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.Size()
}

// waitsMain is in the launcher's package: it waits as a driver does, but 0.3 s where
// that waits ten minutes.
const waitsMain = `static void await(LoadedClasses c) {
   try { new DriverContext(c).awaitApplicationId(300); } catch (Exception e) { e.printStackTrace(); } }
public static void main(String[] a) throws Exception {
  Class<?>[] loaded = {org.apache.spark.SparkEnv.class};
  LoadedClasses c = new LoadedClasses((java.lang.instrument.Instrumentation) java.lang.reflect.Proxy.newProxyInstance(
     Waits.class.getClassLoader(), new Class<?>[] {java.lang.instrument.Instrumentation.class}, (p, m, x) -> loaded));
  await(c);
  System.out.println("without a context " + Signals.applicationId());
  org.apache.spark.SparkEnv.env = new org.apache.spark.SparkEnv();
  Thread waiting = new Thread(() -> await(c)); waiting.start(); waiting.join(1500);
  System.out.println("a context starts " + waiting.isAlive());
  org.apache.spark.SparkEnv.env.id = "application_1_0001";
  waiting.join();
  System.out.println("started " + Signals.applicationId());
  Signals.starting();
  System.out.println("another starts " + Signals.applicationId() + " " + Signals.identity().settled);
  waiting = new Thread(() -> await(c)); org.apache.spark.SparkEnv.env.id = null; waiting.start();
  Signals.identify("application_1_0002");
  waiting.join();
  System.out.println("accepted " + Signals.applicationId() + " " + Signals.identity().settled);
}`

// A context that waits for YARN waits longer than a JVM without one. tests/phases has
// a real one.
func TestDriverWaitsForItsIDWhileItsContextStarts(t *testing.T) {
	jar := lockedFile(t, platform.ArtifactLauncher)
	classes := compileJavaAgainst(t, ":"+jar, map[string]string{
		"org.apache.spark.SparkEnv": `public static volatile SparkEnv env; public volatile String id;
public static SparkEnv get() { return env; }
public SparkEnv conf() { return this; }
public String get(String k, String d) { return id == null ? d : id; }`,
		"observatory.launcher.Waits": waitsMain,
	})
	out, err := exec.Command("java", "-cp", classes+":"+jar, "observatory.launcher.Waits").CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, "without a context null\na context starts true\nstarted application_1_0001\nanother starts null false\n"+
		"accepted application_1_0002 true\n", string(out))
}

// endsMain looks for a class with an Instrumentation that says what the JVM's says while it ends.
const endsMain = `public static void main(String[] a) {
  Class<?> type = java.lang.instrument.Instrumentation.class;
  Object ended = java.lang.reflect.Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (p, m, args) -> null);
  System.out.println(new LoadedClasses((java.lang.instrument.Instrumentation) ended).find("a.B"));
}`

// A JVM may end while the launcher looks for classes, which is no failure.
func TestClassesOfAJVMThatEnds(t *testing.T) {
	jar := lockedFile(t, platform.ArtifactLauncher)
	classes := compileJavaAgainst(t, ":"+jar, map[string]string{"observatory.launcher.Ends": endsMain})
	out, err := exec.Command("java", "-cp", classes+":"+jar, "observatory.launcher.Ends").CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, "null\n", string(out))
}

// A library in the jar would be one that jobs did not choose.
func TestPluginJarHasItsOwnClassesAlone(t *testing.T) {
	jar, err := zip.OpenReader(lockedFile(t, platform.ArtifactPlugin))
	require.NoError(t, err)
	defer func() { require.NoError(t, jar.Close()) }()
	classes := 0
	for _, f := range jar.File {
		own := strings.HasPrefix(f.Name, "observatory/spark/") && strings.HasSuffix(f.Name, ".class")
		require.True(t, own || strings.HasPrefix(f.Name, "META-INF/") || f.FileInfo().IsDir(), f.Name)
		if own {
			classes++
		}
	}
	require.Positive(t, classes)
}

// Names that the launcher looks up at run time are in the Spark and the Hadoop of the
// local cloud: S3A's counters (metrics2 makes a counter of a duration, too), and where
// YARN's backend keeps the application id.
func TestSparkAndHadoopHaveWhatTheLauncherReads(t *testing.T) {
	jars := ":" + filepath.Join(sparkHome(t), "jars", "*")
	classes := compileJavaAgainst(t, jars, map[string]string{"Names": `public static void main(String[] a) throws Exception {
  for (org.apache.hadoop.fs.s3a.Statistic s : org.apache.hadoop.fs.s3a.Statistic.values())
    System.out.println(s.getSymbol() + " " + s.getType());
  Class<?> backend = Class.forName("org.apache.spark.scheduler.cluster.YarnClientSchedulerBackend");
  System.out.println(backend.getMethod("appId").getReturnType().getName());
}`})
	out, err := exec.Command("java", "-cp", classes+jars, "Names").CombinedOutput()
	require.NoError(t, err, string(out))
	lines := strings.Split(string(out), "\n")
	for _, c := range platform.S3ACounters() {
		require.True(t, slices.Contains(lines, c.Name+" TYPE_COUNTER") || slices.Contains(lines, c.Name+" TYPE_DURATION"), c.Name)
	}
	require.Contains(t, lines, "scala.Option")
}
