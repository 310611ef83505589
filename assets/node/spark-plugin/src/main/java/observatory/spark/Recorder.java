package observatory.spark;

import java.util.Properties;
import observatory.launcher.Signals;
import scala.Option;
import scala.collection.Iterator;

/**
 * What is known of one application: facts of events go in on the listener's thread, metrics come out
 * on the exporter's.
 */
final class Recorder {
  private final Settings settings;
  private final ExecutorStatistics executors;
  private final TaskKinds kinds = new TaskKinds();
  private final TaskStatistics tasks = new TaskStatistics(kinds);
  private PhaseEngine engine;
  private Tracer tracer;
  private Application application;
  private Phases result;
  private long thread = -1;

  Recorder(Settings settings, PhaseEngine engine, Tracer tracer) {
    this.settings = settings;
    this.engine = engine;
    this.tracer = tracer;
    executors = new ExecutorStatistics(settings);
  }

  synchronized void applicationStart(String id, String attempt, String name, long time) {
    thread = Thread.currentThread().getId();
    engine.applicationStart(time);
    identify(id, attempt, name);
  }

  /** The context says it as well as its first event, which may be lost. */
  synchronized void identify(String id, String attempt, String name) {
    if (id == null || application != null) {
      return;
    }
    application = new Application(settings, id, attempt, name);
    tracer.application(application);
    if (application.sampled) {
      Signals.traceApplication(application.traceId, application.spanId);
    }
  }

  /** null before the application has started. */
  synchronized Application application() {
    return application;
  }

  /** The id of the listener's thread, -1 before an event. */
  synchronized long thread() {
    return thread;
  }

  synchronized void applicationEnd(long time) {
    engine.applicationEnd(time);
  }

  synchronized void blockManagerAdded(String executor, long time) {
    engine.blockManagerAdded(executor, time);
  }

  synchronized void executorAdded(String id, long time, Object info) {
    engine.executorAdded(id, time, Events.Executors.HOST.text(info), Events.Executors.PROFILE.number(info));
    executors.added(id, time, info);
  }

  synchronized void executorRemoved(String id, long time, String reason) {
    engine.executorRemoved(id, time);
    executors.removed(id, time, reason);
  }

  synchronized void excluded(Events.Exclusion kind, Object event) {
    String who = kind.who.text(event);
    if (who != null) {
      Long attempt = null;
      if (kind.stage != null) {
        attempt = PhaseEngine.key((int) kind.stage.number(event), (int) kind.attempt.number(event));
      }
      String whose = kind.host ? Exclusions.host(who) : Exclusions.executor(who);
      engine.excluded(whose, attempt, kind.time.number(event), kind.undo);
    }
  }

  synchronized void jobStart(int id, long time, Properties properties, Iterator<?> stageInfos) {
    thread = Thread.currentThread().getId();
    String property = properties == null ? null : properties.getProperty("spark.sql.execution.id");
    long execution = property == null ? Facts.NONE : Settings.number(property);
    engine.jobStart(id, time, execution);
    kinds.settle(engine, false);
    tracer.jobStart(id, time, execution, properties);
    while (stageInfos != null && stageInfos.hasNext()) {
      int stage = (int) Events.Stages.ID.number(stageInfos.next());
      engine.jobStage(id, stage);
      tracer.jobStage(id, stage);
    }
  }

  synchronized void jobEnd(int id, long time, Object outcome) {
    engine.jobEnd(id, time);
    Object failure = Events.Jobs.FAILURE.isOf(outcome) ? Events.Jobs.FAILURE.value(outcome) : null;
    String error = failure instanceof Throwable ? message((Throwable) failure) : null;
    tracer.jobEnd(id, time, error);
  }

  private static String message(Throwable t) {
    return t.getMessage() == null ? t.getClass().getName() : t.getMessage();
  }

  synchronized void stageSubmitted(Object info) {
    int id = (int) Events.Stages.ID.number(info);
    int attempt = (int) Events.Stages.ATTEMPT.number(info);
    long submitted = Events.Stages.SUBMITTED.boxed(info);
    engine.stageSubmitted(id, attempt, submitted);
    engine.attempt(id, attempt).profile = Events.Stages.PROFILE.number(info);
    if (Events.Stages.SHUFFLE.value(info) != null) {
      engine.stage(id).shuffles = true;
    }
    tracer.stageSubmitted(id, attempt, submitted, Events.Stages.NAME.text(info));
    tasks.stageSubmitted(PhaseEngine.key(id, attempt), executors.offered(submitted), executors.ran(submitted));
  }

  synchronized void stageCompleted(Object info) {
    int id = (int) Events.Stages.ID.number(info);
    int attempt = (int) Events.Stages.ATTEMPT.number(info);
    long submitted = Events.Stages.SUBMITTED.boxed(info);
    long completed = Events.Stages.COMPLETED.boxed(info);
    String failure = Events.Stages.FAILURE.text(info);
    TaskStatistics.Attempt ended = new TaskStatistics.Attempt();
    ended.stage = PhaseEngine.key(id, attempt);
    ended.failed = failure != null;
    ended.again = attempt > 0;
    ended.tasks = (int) Events.Stages.TASKS.number(info);
    ended.submitted = submitted;
    ended.completed = completed;
    engine.stageCompleted(id, attempt, submitted, completed, ended.failed, ended.tasks);
    engine.attempt(id, attempt).profile = Events.Stages.PROFILE.number(info);
    tracer.stageCompleted(id, attempt, submitted, completed, failure);
    tasks.stageCompleted(
        ended, executors.cores(), executors.offered(completed), executors.ran(completed), executors.warmed());
  }

  synchronized void taskStart(Object event) {
    Object info = Events.Tasks.START_INFO.value(event);
    String executor = Events.Tasks.EXECUTOR.text(info);
    long launched = Events.Tasks.LAUNCHED.number(info);
    engine.taskStart(Events.Tasks.ID.number(info), (int) Events.Tasks.START_STAGE.number(event), launched, executor);
    executors.taskStarted(executor, launched);
  }

  synchronized void taskEnd(Object event) {
    Object info = Events.Tasks.INFO.value(event);
    Object metrics = Events.Tasks.METRICS.value(event);
    Object output = Events.Metrics.OUTPUT.value(metrics);
    boolean wrote = Events.Metrics.RECORDS_WRITTEN.number(output) > 0 || Events.Metrics.BYTES_WRITTEN.number(output) > 0;
    boolean result = "ResultTask".equals(Events.Tasks.TYPE.text(event));
    boolean killed = Events.Tasks.KILLED.flag(info);
    int outcome =
        killed ? TaskStatistics.KILLED : Events.Tasks.FAILED.flag(info) ? TaskStatistics.FAILED : TaskStatistics.SUCCESS;
    int stage = (int) Events.Tasks.STAGE.number(event);
    int attempt = (int) Events.Tasks.ATTEMPT.number(event);
    long launched = Events.Tasks.LAUNCHED.number(info);
    long finished = Events.Tasks.FINISHED.number(info);
    boolean ran =
        engine.taskEnd(
            Events.Tasks.ID.number(info), stage, attempt, launched, finished, result, wrote, outcome == TaskStatistics.SUCCESS);
    if (!result && !Events.Stages.SHUFFLE.exists()) {
      engine.stage(stage).shuffles = true; // all tasks of a stage are of one type
    }
    executors.taskEnded(Events.Tasks.EXECUTOR.text(info), launched, finished, ran);
    tasks.taskEnd(PhaseEngine.key(stage, attempt), info, metrics, outcome, wrote, kinds.of(engine, stage, result, wrote));
  }

  synchronized void sqlStart(Object event) {
    long id = Events.Sql.ID.number(event);
    Object root = Events.Sql.ROOT.value(event);
    long top = root instanceof Number ? ((Number) root).longValue() : id;
    long time = Events.Sql.TIME.number(event);
    engine.executionStart(id, top, time, PlanWrites.in(Events.Sql.STARTED_PLAN.value(event)));
    tracer.executionStart(id, top, time, Events.Sql.TEXT.text(event), configured(event));
  }

  /** What the session of a SQL execution is configured with, as far as it decides on a place in a trace. */
  private static Properties configured(Object event) {
    Properties properties = new Properties();
    Iterator<?> tags = (Iterator<?>) Events.ITERATOR.value(Events.Sql.TAGS.value(event));
    StringBuilder list = new StringBuilder();
    while (tags != null && tags.hasNext()) {
      list.append(list.length() == 0 ? "" : ",").append(tags.next());
    }
    properties.setProperty(ConnectTags.PROPERTY, list.toString());
    Object modified = Events.Sql.MODIFIED.value(event);
    for (String name : Operations.CONFIGURED) {
      Option<?> value = modified == null ? Option.empty() : map(modified).get(name);
      if (!value.isEmpty()) {
        properties.setProperty(name, value.get().toString());
      }
    }
    return properties;
  }

  @SuppressWarnings("unchecked")
  private static scala.collection.Map<String, Object> map(Object value) {
    return (scala.collection.Map<String, Object>) value;
  }

  synchronized void sessionStart(String id, String user, long time) {
    engine.sessionStart(time);
    tracer.sessionStart(id, user, time);
  }

  synchronized void sessionEnd(String id, long time) {
    engine.sessionEnd(id, time);
    tracer.sessionEnd(id, time);
  }

  /** See Tracer.operationStart. */
  synchronized void operationStart(Properties properties, String user, long time, String description) {
    String number = ConnectTags.of(properties).number();
    if (number != null) {
      engine.operationStart(number, time);
      tracer.operationStart(properties, user, time, description);
    }
  }

  synchronized void analysisEnded(ConnectCalls.AnalysisEnded call) {
    tracer.analysisEnd(call);
  }

  synchronized void operationEnd(String number, long time, String error) {
    if (number == null) {
      return;
    }
    engine.operationEnd(number, time);
    tracer.operationEnd(number, time, error);
  }

  synchronized void sqlPlan(Object event) {
    engine.executionPlan(Events.Sql.PLAN_ID.number(event), PlanWrites.in(Events.Sql.NEW_PLAN.value(event)));
  }

  synchronized void sqlEnd(Object event) {
    long id = Events.Sql.ENDED_ID.number(event);
    long time = Events.Sql.END_TIME.number(event);
    engine.executionEnd(id, time);
    kinds.settle(engine, false);
    tracer.executionEnd(id, time, Events.Sql.ERROR.text(event));
  }

  synchronized void batchEnd(Object event) {
    Object report = Events.Streams.REPORT.value(event);
    tracer.batchEnd(Events.Streams.ID.text(report), Long.toString(Events.Streams.BATCH.number(report)));
  }

  synchronized void queryEnd(Object event) {
    tracer.batchEnd(Events.Streams.ENDED_ID.text(event), null);
  }

  /** The phases until now, or the final ones. lost: some events never came. */
  synchronized Phases phases(long now, boolean lost) {
    if (result == null && lost) {
      for (Facts.RunningTask task : Forgetting.reconcile(engine)) {
        executors.taskEnded(task.executor, task.launched, task.launched, true);
      }
    }
    if (result != null) {
      return result;
    }
    engine.fold(now);
    return engine.phasesAt(now, lost);
  }

  synchronized void write(Signals.MetricWriter out, long now, long targetExecutors) {
    tasks.write(out);
    executors.write(out, result == null ? now : result.end, targetExecutors);
  }

  /** Tells whether the phases are final. */
  synchronized boolean ended() {
    return result != null;
  }

  /** Ends the application: everything that its events said is known. */
  synchronized void end(long now, boolean lost) {
    if (result == null) {
      result = phases(now, lost);
      kinds.settle(engine, true);
      tracer.end(result);
      engine = new PhaseEngine();
      tracer = new Tracer(settings, new SpanBudget(), null);
      Signals.traceApplication(null, null);
    }
  }
}
