package observatory.spark;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import observatory.launcher.Signals;

/** The metrics of one application. They keep their last values until the JVM ends. */
final class DriverMetrics implements Signals.MetricSource {
  private final Settings settings;
  private final Recorder recorder;
  private final SpanBudget budget;
  private final String version;

  /** null once the application has ended. */
  private volatile SparkInternals internals;

  private volatile String applicationId;
  private final ListenerQueues queues = new ListenerQueues();
  private volatile long dropped;
  private long listenerNanos;

  DriverMetrics(Settings settings, Recorder recorder, SpanBudget budget, SparkInternals internals, String version) {
    this.settings = settings;
    this.recorder = recorder;
    this.budget = budget;
    this.internals = internals;
    this.version = version;
  }

  void identify(String id) {
    applicationId = id;
  }

  /**
   * Reads for the last time what the context knows. A context that fails before YARN runs its application
   * master never shows its id; in cluster mode the trace would need the attempt, too.
   */
  void end() {
    sample();
    if (!"cluster".equals(settings.deployMode)) {
      recorder.identify(applicationId(), "", settings.name);
    }
    internals = null;
    queues.end();
  }

  /** Tells whether the phases lack events, or the times of some. */
  boolean lost() {
    return dropped > 0 || !Events.haveTimes();
  }

  @Override
  public String applicationId() {
    SparkInternals inner = internals;
    if (applicationId == null && inner != null) {
      applicationId = inner.pendingApplicationId();
    }
    return applicationId;
  }

  private synchronized void sample() {
    SparkInternals inner = internals;
    if (inner != null) {
      dropped = Math.max(dropped, inner.dropped(SparkInternals.QUEUE));
      queues.sample(inner);
      long thread = recorder.thread();
      long nanos = thread < 0 ? -1 : ManagementFactory.getThreadMXBean().getThreadCpuTime(thread);
      listenerNanos = Math.max(listenerNanos, nanos);
    }
  }

  private long targetExecutors() {
    SparkInternals inner = internals;
    if (inner == null || settings.master.startsWith("local")) {
      return -1;
    }
    return settings.dynamicAllocation ? inner.targetExecutors() : settings.executors;
  }

  @Override
  public void write(Signals.MetricWriter out) {
    sample();
    long now = System.currentTimeMillis();
    boolean ended = recorder.ended(); // before the phases: 1 promises that they are final
    writePhases(out, recorder.phases(now, lost()));
    out.gauge("spark.application.ended", "");
    out.point(ended ? 1L : 0L);
    out.end();
    recorder.write(out, now, targetExecutors());
    writeInfo(out);
    out.sum("spark.listener.time", "s", true);
    out.point(listenerNanos / 1e9);
    out.end();
    out.sum("spark.listener.dropped", "{event}", true);
    out.point(dropped);
    out.end();
    queues.write(out);
    LostSpans.write(out, budget.dropped(), true);
  }

  private static void writePhases(Signals.MetricWriter out, Phases phases) {
    for (int phase = 0; phase < Phases.COUNT; phase++) {
      String name = Platform.PHASES[phase];
      gauge(out, phase == Phases.RESOURCE_WAIT ? "spark.resource_wait" : "spark.phase." + name, "s", phases.seconds(phase));
    }
    double wall = (phases.end - phases.begin) / 1000.0;
    if (wall > 0) {
      out.gauge("spark.phase.breakdown", "1");
      for (int phase = 0; phase < Phases.COUNT; phase++) {
        out.point(phases.seconds(phase) / wall, "phase", Platform.PHASES[phase]);
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

  /** One series for joins: what the other metrics do not repeat. */
  private void writeInfo(Signals.MetricWriter out) {
    Application application = recorder.application();
    if (application == null && "cluster".equals(settings.deployMode)) {
      return; // its trace depends on the attempt, which is not known yet
    }
    if (application == null) {
      application = new Application(settings, applicationId, "", settings.name);
    }
    List<Object> labels = new ArrayList<>();
    labels.add("application_name");
    labels.add(settings.redaction.text(application.name, Redaction.DESCRIPTION));
    labels.add("trace_id");
    labels.add(application.sampled ? application.traceId : "");
    labels.add("step_id");
    labels.add(settings.step());
    labels.add("deploy_mode");
    labels.add(settings.deployMode);
    labels.add("spark_version");
    labels.add(version);
    for (int i = 0; i < settings.airflow.length; i++) {
      labels.add(Platform.AIRFLOW[i][1]);
      labels.add(settings.airflow[i]);
    }
    out.gauge("spark.application.info", "");
    out.point(1L, labels.toArray());
    out.end();
  }

  private static void gauge(Signals.MetricWriter out, String name, String unit, double value) {
    out.gauge(name, unit);
    out.point(value);
    out.end();
  }
}
