package observatory.launcher;

import java.io.File;
import java.lang.instrument.Instrumentation;

/**
 * The only Java agent that the platform adds to Spark's JVMs. It decides in a few milliseconds
 * whether this JVM is a Spark driver or executor, and if so starts telemetry and the profiler in the
 * background, once the main method runs. No failure of the agent affects that method.
 */
public final class Launcher {
  private Launcher() {}

  /** Called by the JVM before main, three times on an executor (SPARK-49984). */
  public static void premain(String args, Instrumentation instrumentation) {
    try {
      launch(instrumentation);
    } catch (Throwable t) {
      Notice.failed("launcher", t);
    }
  }

  private static void launch(Instrumentation instrumentation) {
    if (System.getProperty(Platform.GUARD_PROPERTY) != null) {
      return;
    }
    System.setProperty(Platform.GUARD_PROPERTY, "seen");
    SparkProcess process =
        SparkProcess.of(System.getProperty("sun.java.command", ""), System.getenv("CONTAINER_ID"));
    if (process == null || disabled()) {
      return;
    }
    try {
      PluginJar.install(instrumentation);
    } catch (Throwable t) {
      Notice.failed("plugin", t);
    }
    MainMethod main = new MainMethod(Thread.currentThread(), process.mainClass);
    Thread thread = new Thread(new Startup(process, main, instrumentation), "observatory-launcher");
    thread.setDaemon(true);
    thread.start();
  }

  private static boolean disabled() {
    return "true".equalsIgnoreCase(System.getProperty(Platform.DISABLE_PROPERTY))
        || "true".equalsIgnoreCase(System.getenv(Platform.DISABLE_VARIABLE))
        || new File(Platform.KILL_SWITCH).exists();
  }
}
