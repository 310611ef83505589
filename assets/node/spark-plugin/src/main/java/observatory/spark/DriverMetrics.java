package observatory.spark;

import observatory.launcher.Signals;

/** The metrics of one application. They keep their last values until the JVM ends. */
final class DriverMetrics implements Signals.MetricSource {
  private final Recorder recorder;
  private volatile String applicationId;

  DriverMetrics(Recorder recorder) {
    this.recorder = recorder;
  }

  void identify(String id) {
    applicationId = id;
  }

  @Override
  public String applicationId() {
    return applicationId;
  }

  @Override
  public void write(Signals.MetricWriter out) {
    Phases phases = recorder.phases(System.currentTimeMillis());
    gauge(out, "spark.resource_wait", "s", phases.millis[Phases.RESOURCE_WAIT] / 1000.0);
    for (int phase = 0; phase < Phases.COUNT; phase++) {
      if (phase != Phases.RESOURCE_WAIT) {
        gauge(out, "spark.phase." + Platform.PHASES[phase], "s", phases.millis[phase] / 1000.0);
      }
    }
    double wall = (phases.end - phases.begin) / 1000.0;
    if (wall > 0) {
      out.gauge("spark.phase.breakdown", "1");
      for (int phase = 0; phase < Phases.COUNT; phase++) {
        out.point(phases.millis[phase] / 1000.0 / wall, "phase", Platform.PHASES[phase]);
      }
      out.end();
    }
    gauge(out, "spark.wall", "s", wall);
    out.gauge("spark.phase.state", "");
    out.point((long) phases.last());
    out.end();
    out.gauge("spark.phase.approximate", "");
    out.point(phases.approximate ? 1L : 0L);
    out.end();
    if (phases.firstExecutorWait >= 0) {
      gauge(out, "spark.first_executor_wait", "s", phases.firstExecutorWait / 1000.0);
    }
  }

  private static void gauge(Signals.MetricWriter out, String name, String unit, double value) {
    out.gauge(name, unit);
    out.point(value);
    out.end();
  }
}
