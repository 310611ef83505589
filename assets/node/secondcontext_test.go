package node_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
)

// driverMain is the main class of a driver in client mode.
const driverMain = "org.apache.spark.deploy.SparkSubmit"

// contextMain lets a test's driver, which is in another package, begin a context.
const contextMain = `public static void starting() { Signals.starting(); }`

// secondContextMain is a driver that is also its own collector. Its second context
// starts, and logs, while the collector has not yet answered a batch of the first.
const secondContextMain = `
static final org.apache.logging.log4j.Logger LOG = org.apache.logging.log4j.LogManager.getLogger("org.apache.spark.Job");
static volatile boolean second;
static void answer(com.sun.net.httpserver.HttpExchange e) throws java.io.IOException {
  String body = new String(e.getRequestBody().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
  if (e.getRequestURI().getPath().equals("/v1/logs") && !second) {
    observatory.launcher.Contexts.starting();
    LOG.info("of the second context");
    second = true;
  }
  System.out.println(body);
  e.sendResponseHeaders(200, -1);
  e.close();
}
public static void main(String[] a) throws Exception {
  com.sun.net.httpserver.HttpServer collector =
      com.sun.net.httpserver.HttpServer.create(new java.net.InetSocketAddress("127.0.0.1", Integer.parseInt(a[0])), 0);
  collector.createContext("/", e -> answer(e));
  collector.start();
  observatory.launcher.Signals.identify("application_1_0001");
  while (((org.apache.logging.log4j.core.LoggerContext) org.apache.logging.log4j.LogManager.getContext(false))
      .getConfiguration().getRootLogger().getAppenders().get("observatory") == null) Thread.sleep(5);
  while (!observatory.launcher.Signals.flush(1000)) Thread.sleep(5); // until the sender serves
  LOG.info("of the first context");
  observatory.launcher.Signals.flush(1000); // one round: logs, then metrics
  while (!second) Thread.sleep(5);
  observatory.launcher.Signals.identify("application_1_0002");
  while (!observatory.launcher.Signals.flush(1000)) Thread.sleep(5);
  System.exit(0);
}`

// slowContextMain is a driver whose second context waits for its id for longer than an
// interval of the profiler.
const slowContextMain = `
public static void main(String[] a) throws Exception {
  Thread launcher = Thread.getAllStackTraces().keySet().stream().filter(x -> x.getName().equals("observatory-launcher")).findFirst().get();
  observatory.launcher.Signals.identify("application_1_0001"); // for which the launcher waits
  launcher.join(30000);
  observatory.launcher.Contexts.starting();
  Thread.sleep(Long.parseLong(a[0]) * 5 / 4);
  observatory.launcher.Signals.identify("application_1_0002");
  Thread.sleep(Long.parseLong(a[0]) * 5 / 4); // another interval, whose profile is sent before the exit
}`

// A profile that is recorded while a context starts is sent once the context has its id.
func TestProfileWaitsForTheIDOfASecondContext(t *testing.T) {
	if !onMachine(t) {
		return
	}
	installLauncher(t)
	acceptTelemetry(t)
	profiles := startPyroscope(t, nil)
	classes := compileJavaAgainst(t, ":"+platform.NodeLauncherJar,
		map[string]string{"observatory.launcher.Contexts": contextMain, driverMain: slowContextMain})
	_, errs := runJVM(t, classes, nil, driverMain, nil, fmt.Sprint(platform.CollectionInterval.Milliseconds()))
	require.Empty(t, errs)
	for range 2 { // of two intervals
		require.Contains(t, nextProfile(t, profiles).name, "spark_app_id=application_1_0002")
	}
}

// A context that starts while a batch is being sent takes the launcher's application
// id away: what is left to send waits for the new id, or keeps the old one.
func TestSecondContextLeavesNoSignalUnlabelled(t *testing.T) {
	jars := log4jJars(t)
	if !onMachine(t) {
		return
	}
	installLauncher(t)
	classes := compileJavaAgainst(t, jars+":"+platform.NodeLauncherJar,
		map[string]string{"observatory.launcher.Contexts": contextMain, driverMain: secondContextMain})
	write(t, classes+"/log4j2.properties", "rootLogger.level=info\n")
	out, errs := runJVM(t, classes+jars, []string{"PYROSCOPE_AGENT_ENABLED=false"}, driverMain, nil, fmt.Sprint(platform.OTLPHTTP))
	require.Empty(t, errs)

	logs, metrics := map[string]string{}, map[string]bool{}
	for line := range strings.Lines(out) {
		var message otlp
		require.NoError(t, json.Unmarshal([]byte(line), &message), line)
		for _, resource := range message.ResourceLogs {
			for _, record := range resource.ScopeLogs[0].LogRecords {
				logs[record.Body.StringValue] = resource.Resource.labels()[string(platform.SparkAppID)]
			}
		}
		for _, resource := range message.ResourceMetrics {
			metrics[resource.Resource.labels()[string(platform.SparkAppID)]] = true
		}
	}
	require.Equal(t, map[string]string{"of the first context": "application_1_0001", "of the second context": "application_1_0002"}, logs)
	require.NotContains(t, metrics, "", "metrics without an application")
	require.Contains(t, metrics, "application_1_0002")
}
