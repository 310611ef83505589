package observatory.launcher;

import java.lang.instrument.Instrumentation;

/**
 * Starts telemetry, determines the application id, then starts the profiler. Each runs even if the
 * other fails.
 */
final class Startup implements Runnable {
  private static final long MAIN_TIMEOUT_MILLIS = 2000;
  private static final long APPLICATION_ID_TIMEOUT_MILLIS = 600_000;

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
    String applicationId = applicationId();
    if (telemetry != null) {
      telemetry.identify(applicationId);
    }
    try {
      NodeFacts facts = NodeFacts.read(Platform.FACTS_FILE);
      Profiler.start(new ProfilerSettings(process, applicationId, facts));
    } catch (Throwable t) {
      Notice.failed("profiler", t);
    }
    System.setProperty(Platform.GUARD_PROPERTY, "done");
  }

  private Telemetry telemetry() {
    try {
      Telemetry telemetry = new Telemetry(process, classes);
      telemetry.start();
      return telemetry;
    } catch (Throwable t) {
      Notice.failed("telemetry", t);
      return null;
    }
  }

  private String applicationId() {
    if (process.applicationId != null || !process.isDriver()) {
      return process.applicationId;
    }
    try {
      return new DriverContext(classes).awaitApplicationId(APPLICATION_ID_TIMEOUT_MILLIS);
    } catch (Throwable t) {
      Notice.failed("application id", t);
      return null;
    }
  }
}
