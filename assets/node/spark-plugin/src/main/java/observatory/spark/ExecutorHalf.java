package observatory.spark;

import java.util.Collections;
import java.util.Map;
import observatory.launcher.Signals;
import observatory.launcher.Span;
import org.apache.spark.SparkConf;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskFailedReason;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;

/** The plugin's half in an executor: spans and durations of tasks, and their time in S3. */
public final class ExecutorHalf implements ExecutorPlugin {
  /** The key under which the driver's half sends the application's parent. */
  static final String PARENT = "parent";

  private static final EndedSources ENDED = new EndedSources();

  /** A task of this thread. Spark has taken its context away before it says that the task has ended. */
  private static final class Running {
    final TaskContext context;
    final TaskSpans.Stage stage;
    final long began = System.currentTimeMillis();
    final long nanos = System.nanoTime();
    final Object s3;
    final Map<String, Long> s3Before;

    Running(TaskContext context, TaskSpans.Stage stage, Object s3, Map<String, Long> s3Before) {
      this.context = context;
      this.stage = stage;
      this.s3 = s3;
      this.s3Before = s3Before;
    }
  }

  private final ThreadLocal<Running> running = new ThreadLocal<Running>();
  private final TaskSpans spans = new TaskSpans();
  private SparkConf conf;
  private Settings settings;
  private ExecutorMetrics metrics;
  private SpanGrants grants;
  private volatile S3Time s3;
  private volatile Application application;

  @Override
  public void init(PluginContext plugin, Map<String, String> extraConf) {
    conf = plugin.conf();
    settings = Settings.ofExecutor(conf, extraConf == null ? null : extraConf.get(PARENT));
    grants = new SpanGrants(plugin);
    metrics = new ExecutorMetrics(Platform.DRIVER_ID.equals(plugin.executorID()) ? null : grants);
    try {
      s3 = new S3Time();
    } catch (ReflectiveOperationException | LinkageError e) {
      s3 = null; // a Hadoop before 3.3.5
    }
    Signals.add(metrics);
  }

  /** In a local master the id comes after init. */
  private Application application() {
    Application known = application;
    if (known == null) {
      String id = conf.get("spark.app.id", null);
      if (id == null) {
        return null;
      }
      known = new Application(settings, id, attempt(), settings.name);
      metrics.identify(id);
      application = known;
    }
    return known;
  }

  /** The application's attempt, as the driver has it: only in cluster mode. */
  private String attempt() {
    return "cluster".equals(settings.deployMode)
        ? conf.get("spark.app.attempt.id", attemptOf(System.getenv("CONTAINER_ID")))
        : "";
  }

  /** container_e17_1700000000000_0042_01_000001 is of attempt 1. */
  static String attemptOf(String container) {
    String[] parts = container == null ? new String[0] : container.split("_");
    return parts.length < 5 ? "" : Long.toString(Settings.number(parts[parts.length - 2]));
  }

  @Override
  public void onTaskStart() {
    TaskContext context = TaskContext.get();
    Application known = application();
    if (context == null || known == null) {
      return;
    }
    TaskSpans.Stage stage = spans.stage(known, settings, context);
    if (stage.place.sampled) {
      grants.prepare(stage.place.traceId);
      Signals.enterTask(stage.place.traceId, stage.spanId);
    }
    Object statistics = statistics();
    running.set(new Running(context, stage, statistics, s3Of(statistics)));
  }

  private Object statistics() {
    S3Time reader = s3;
    try {
      return reader == null ? null : reader.ofThread();
    } catch (Throwable t) {
      s3 = null; // another build of Hadoop
      return null;
    }
  }

  private Map<String, Long> s3Of(Object statistics) {
    S3Time reader = s3;
    try {
      return reader == null || statistics == null ? Collections.<String, Long>emptyMap() : reader.read(statistics);
    } catch (Throwable t) {
      s3 = null; // likewise; the rest of this half goes on
      return Collections.emptyMap();
    }
  }

  @Override
  public void onTaskSucceeded() {
    end(null, null);
  }

  @Override
  public void onTaskFailed(TaskFailedReason reason) {
    end(reason.getClass().getName(), reason.toErrorString());
  }

  private void end(String outcome, String failure) {
    Running task = running.get();
    if (task == null) {
      return;
    }
    running.remove();
    Signals.leaveTask();
    Object measured = task.context.taskMetrics();
    Object output = Events.Metrics.OUTPUT.value(measured);
    boolean wrote = Events.Metrics.RECORDS_WRITTEN.number(output) > 0 || Events.Metrics.BYTES_WRITTEN.number(output) > 0;
    double seconds = (System.nanoTime() - task.nanos) / 1e9;
    metrics.add(seconds, wrote);
    Map<String, Double> inS3 = S3Time.between(task.s3Before, s3Of(task.s3));
    if (!inS3.isEmpty()) {
      metrics.addS3(inS3);
    }
    if (!task.stage.place.sampled) {
      return;
    }
    boolean killed = outcome != null && outcome.endsWith(".TaskKilled");
    String reason = failure == null ? spans.reason(task.stage, seconds) : killed ? null : "failed";
    if (reason != null && grants.take(task.stage.place.traceId, failure != null)) {
      send(task, reason, failure, seconds, inS3);
    }
  }

  private void send(Running task, String reason, String failure, double seconds, Map<String, Double> inS3) {
    TaskContext context = task.context;
    long id = context.taskAttemptId();
    long end = task.began + Math.round(seconds * 1000);
    Span span =
        application.begin(
            task.stage.place.traceId, task.stage.spanId, "task", Long.toString(id), "task " + id, task.began, end);
    span.put("spark.task.id", id)
        .put("spark.task.attempt", (long) context.attemptNumber())
        .put("spark.task.partition", (long) context.partitionId())
        .put("spark.task.kept", reason)
        .put("spark.stage.id", (long) context.stageId())
        .put("spark.stage.attempt", (long) context.stageAttemptNumber());
    double s3Seconds = 0;
    for (Double value : inS3.values()) {
      s3Seconds += value;
    }
    if (s3Seconds > 0) {
      span.put("spark.task.s3.seconds", s3Seconds);
    }
    if (failure != null) {
      span.error(settings.redaction.text(Causes.first(failure), Redaction.TASK_MESSAGE));
    }
    Signals.span(span);
  }

  @Override
  public void shutdown() {
    ENDED.add(metrics); // in local mode the JVM goes on, and may have another context
  }
}
