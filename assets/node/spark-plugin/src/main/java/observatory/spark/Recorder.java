package observatory.spark;

import java.util.Properties;
import scala.collection.Iterator;

/**
 * What is known of one application: facts of events go in on the listener's thread, metrics come out
 * on the exporter's.
 */
final class Recorder {
  private final Settings settings;
  private final PhaseEngine engine;
  private final Tracer tracer;
  private Application application;
  private Phases result;

  Recorder(Settings settings, PhaseEngine engine, Tracer tracer) {
    this.settings = settings;
    this.engine = engine;
    this.tracer = tracer;
  }

  synchronized void applicationStart(String id, String attempt, String name, long time) {
    engine.applicationStart(time);
    if (id != null && settings != null) {
      application = new Application(settings, id, attempt, name);
      tracer.application(application);
    }
  }

  synchronized Application application() {
    return application;
  }

  synchronized void applicationEnd(long time) {
    engine.applicationEnd(time);
  }

  synchronized void blockManagerAdded(String executor, long time) {
    engine.blockManagerAdded(executor, time);
  }

  synchronized void executorAdded(String id, long time, Object info) {
    engine.executorAdded(id, time);
  }

  synchronized void executorRemoved(String id, long time, String reason) {
    engine.executorRemoved(id, time);
  }

  synchronized void jobStart(int id, long time, Properties properties, Iterator<?> stageInfos) {
    String property = properties == null ? null : properties.getProperty("spark.sql.execution.id");
    long execution = property == null ? PhaseEngine.NONE : Settings.number(property);
    engine.jobStart(id, time, execution);
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
    tracer.jobEnd(id, time, engine.executionOf(id), error);
  }

  private static String message(Throwable t) {
    return t.getMessage() == null ? t.getClass().getName() : t.getMessage();
  }

  synchronized void stageSubmitted(Object info) {
    int id = (int) Events.Stages.ID.number(info);
    int attempt = (int) Events.Stages.ATTEMPT.number(info);
    long submitted = Events.Stages.SUBMITTED.boxed(info);
    engine.stageSubmitted(id, attempt, submitted);
    tracer.stageSubmitted(id, attempt, submitted, Events.Stages.NAME.text(info));
  }

  synchronized void stageCompleted(Object info) {
    int id = (int) Events.Stages.ID.number(info);
    int attempt = (int) Events.Stages.ATTEMPT.number(info);
    long submitted = Events.Stages.SUBMITTED.boxed(info);
    long completed = Events.Stages.COMPLETED.boxed(info);
    String failure = Events.Stages.FAILURE.text(info);
    engine.stageCompleted(id, attempt, submitted, completed, failure != null, (int) Events.Stages.TASKS.number(info));
    tracer.stageCompleted(id, attempt, submitted, completed, failure);
  }

  synchronized void taskStart(Object event) {
    Object info = Events.Tasks.START_INFO.value(event);
    engine.taskStart(
        Events.Tasks.ID.number(info),
        (int) Events.Tasks.START_STAGE.number(event),
        Events.Tasks.LAUNCHED.number(info),
        Events.Tasks.EXECUTOR.text(info));
  }

  synchronized void taskEnd(Object event) {
    Object info = Events.Tasks.INFO.value(event);
    Object output = Events.Metrics.OUTPUT.value(Events.Tasks.METRICS.value(event));
    boolean wrote = Events.Metrics.RECORDS_WRITTEN.number(output) > 0 || Events.Metrics.BYTES_WRITTEN.number(output) > 0;
    engine.taskEnd(
        Events.Tasks.ID.number(info),
        (int) Events.Tasks.STAGE.number(event),
        (int) Events.Tasks.ATTEMPT.number(event),
        Events.Tasks.LAUNCHED.number(info),
        Events.Tasks.FINISHED.number(info),
        "ResultTask".equals(Events.Tasks.TYPE.text(event)),
        wrote,
        !Events.Tasks.FAILED.flag(info) && !Events.Tasks.KILLED.flag(info));
  }

  synchronized void sqlStart(Object event) {
    long id = Events.Sql.ID.number(event);
    Object root = Events.Sql.ROOT.value(event);
    long top = root instanceof Number ? ((Number) root).longValue() : id;
    long time = Events.Sql.TIME.number(event);
    engine.executionStart(id, top, time, PlanWrites.in(Events.Sql.STARTED_PLAN.value(event)));
    tracer.executionStart(id, top, time, Events.Sql.TEXT.text(event));
  }

  synchronized void sqlPlan(Object event) {
    engine.executionPlan(Events.Sql.PLAN_ID.number(event), PlanWrites.in(Events.Sql.NEW_PLAN.value(event)));
  }

  synchronized void sqlEnd(Object event) {
    long id = Events.Sql.ENDED_ID.number(event);
    long time = Events.Sql.END_TIME.number(event);
    engine.executionEnd(id, time);
    tracer.executionEnd(id, time, Events.Sql.ERROR.text(event));
  }

  /** The phases until now, or the final ones. */
  synchronized Phases phases(long now) {
    return result != null ? result : engine.phasesAt(now);
  }

  /** Ends the application: everything that its events said is known. */
  synchronized void end(long now) {
    if (result == null) {
      result = engine.phasesAt(now);
      tracer.end(result);
    }
  }
}
