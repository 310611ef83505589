package observatory.launcher;

import java.lang.instrument.Instrumentation;

/**
 * Starts telemetry, determines the application id, then starts the profiler. Each runs even if the
 * other fails.
 */
final class Startup implements Runnable {
  private static final long MAIN_TIMEOUT_MILLIS = 2000;

  private final SparkProcess process;
  private final MainMethod main;
  private final LoadedClasses classes;

  Startup(SparkProcess process, MainMethod main, Instrumentation instrumentation) {
    this.process = process;
    this.main = main;
    this.classes = new LoadedClasses(instrumentation);
  }

  @Override
  public void run() {
    main.awaitMain(MAIN_TIMEOUT_MILLIS);
    Telemetry telemetry = telemetry();
    DriverContext context = new DriverContext(classes);
    identify(context, DriverContext.UNLABELLED_MILLIS);
    if (telemetry != null) {
      telemetry.send();
    }
    profile();
    System.setProperty(Platform.GUARD_PROPERTY, "done");
    identify(context, Long.MAX_VALUE);
  }

  private void profile() {
    try {
      if (OtherProfiler.isHere(classes)) {
        Notice.say("profiler not started: this JVM has Pyroscope's agent");
        return;
      }
      NodeFacts facts = NodeFacts.read(Platform.FACTS_FILE);
      Profiler.start(new ProfilerSettings(process, facts));
    } catch (Throwable t) {
      Notice.failed("profiler", t);
    }
  }

  private Telemetry telemetry() {
    try {
      Telemetry telemetry = new Telemetry(process, classes);
      telemetry.start();
      return telemetry;
    } catch (Throwable t) {
      Signals.close();
      Notice.failed("telemetry", t);
      return null;
    }
  }

  private void identify(DriverContext context, long timeoutMillis) {
    if (process.applicationId != null) {
      Signals.identifyFirst(process.applicationId);
    } else if (process.isDriver() && Signals.applicationId() == null) {
      try {
        context.awaitApplicationId(timeoutMillis);
      } catch (Throwable t) {
        Notice.failed("application id", t);
      }
    }
  }
}
