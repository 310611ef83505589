package observatory.launcher;

import java.io.File;
import java.lang.instrument.Instrumentation;
import java.util.jar.JarFile;

/** Settles who this JVM is, then starts each agent; one that fails does not stop the other. */
final class AgentStart implements Runnable {
  private static final long APPLICATION_ID_TIMEOUT_MILLIS = 600_000;

  private final SparkProcess process;
  private final Instrumentation instrumentation;

  AgentStart(SparkProcess process, Instrumentation instrumentation) {
    this.process = process;
    this.instrumentation = instrumentation;
  }

  @Override
  public void run() {
    try {
      Settings settings = new Settings(NodeFacts.read(Platform.FACTS_FILE), process, applicationId());
      settings.apply();
    } catch (Throwable t) {
      // Without identity every signal would be unattributable, so nothing is started.
      Notice.failed("agents", t);
      return;
    }
    start(Platform.PYROSCOPE_JAR, "io.pyroscope.javaagent.PyroscopeAgent");
    start(Platform.OTEL_JAR, "io.opentelemetry.javaagent.OpenTelemetryAgent");
    System.setProperty(Platform.GUARD_PROPERTY, "done");
  }

  private String applicationId() throws Exception {
    if (process.applicationId != null || !process.isDriver()) {
      return process.applicationId;
    }
    return new DriverContext(instrumentation).awaitApplicationId(APPLICATION_ID_TIMEOUT_MILLIS);
  }

  private void start(String jar, String premainClass) {
    try {
      File file = new File(jar);
      if (!file.isFile()) {
        throw new java.io.FileNotFoundException(jar);
      }
      instrumentation.appendToSystemClassLoaderSearch(new JarFile(file));
      Class.forName(premainClass, true, ClassLoader.getSystemClassLoader())
          .getMethod("premain", String.class, Instrumentation.class)
          .invoke(null, "", instrumentation);
    } catch (Throwable t) {
      Notice.failed(new File(jar).getName(), t);
    }
  }
}
