package observatory.spark;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import observatory.launcher.Span;

/**
 * Makes the driver's spans from its events: application, SQL, job, stage and phase. A span's place in
 * the budget is taken at its start, so that no span is sent whose parent is not.
 */
final class Tracer {
  /** Receives finished spans; false: dropped. */
  interface Sink {
    boolean span(Span span);
  }

  private final Settings settings;
  private final Sink sink;
  private final SpanBudget budget;
  private final SpanTexts texts;
  private final Batches batches = new Batches();
  private final Operations operations = new Operations();
  private final Map<Long, OpenSpan> executions = new HashMap<Long, OpenSpan>();
  private final Map<Long, Long> roots = new HashMap<Long, Long>();
  private final Map<Integer, OpenSpan> jobs = new HashMap<Integer, OpenSpan>();
  private final Map<Integer, Integer> stageJobs = new HashMap<Integer, Integer>();
  private final Map<Long, OpenSpan> stages = new HashMap<Long, OpenSpan>();
  private Application application;

  /** The latest job that has ended, and why it failed. */
  private int lastJob = -1;

  private String lastFailure;

  Tracer(Settings settings, SpanBudget budget, Sink sink) {
    this.settings = settings;
    this.budget = budget;
    texts = new SpanTexts(settings.redaction, budget);
    this.sink = sink;
  }

  void application(Application started) {
    application = started;
    budget.own(started.traceId);
  }

  private boolean off() {
    return application == null || !settings.tracing;
  }

  /** Tells whether there is no room for one more; its span is dropped then. */
  private boolean full(int size, int limit) {
    if (size >= limit && application.sampled) {
      budget.drop(1);
    }
    return size >= limit;
  }

  void sessionStart(String id, String user, long time) {
    if (off()) {
      return;
    }
    sessionEnd(id, time); // if the end of an earlier one is lost
    String surplus = operations.surplus();
    if (surplus != null) {
      sessionEnd(surplus, time);
    }
    operations.session(id, user, time);
  }

  /** Ends a session of Spark Connect, and what of its operations has not ended. Without any it has no span. */
  void sessionEnd(String id, long time) {
    for (String operation : operations.openOf(id)) {
      operationEnd(operation, time, null);
    }
    OpenSpan session = operations.endSession(id);
    if (session != null && session.kept) {
      Span span = begin(session, session.names.title(), time);
      session.names.put(texts, session.place.traceId, span);
      send(session, span, time, null);
    }
  }

  /** An operation of Spark Connect starts. properties are those that its jobs will have, as far as known. */
  void operationStart(Properties properties, String user, long time, String description) {
    ConnectTags tags = ConnectTags.of(properties);
    if (off() || tags.session == null || full(operations.size(), Limits.OPEN_SPANS)) {
      return;
    }
    operations.start(tags, properties, user, time, description);
  }

  /** Its number is that of ConnectTags. */
  void operationEnd(String number, long time, String error) {
    OpenSpan operation = operations.end(number);
    if (operation == null) {
      return;
    }
    settleOperation(operation, Place.ofJob(application, settings, operation.names.properties));
    operations.keep(operation);
    if (operation.kept) {
      Span span = begin(operation, operation.names.title(), time);
      operation.names.put(texts, operation.place.traceId, span);
      send(operation, texts.fail(operation.place.traceId, span, error), time, error);
    }
  }

  /** Ends the operation of an AnalyzePlan call, which there is if the call ran a job. */
  void analysisEnd(ConnectCalls.AnalysisEnded call) {
    OpenSpan operation = operations.open(call.number);
    if (operation != null) {
      operation.from = call.from;
      operation.names.user = call.user;
      operationEnd(call.number, call.to, null);
    }
  }

  private void settleOperation(OpenSpan operation, Place place) {
    if (operation.place == null && place.session != null) {
      OpenSpan session = operations.session(place.session, operation.names.user, operation.from);
      settle(session, place.root());
      operation.parent = session;
    }
    settle(operation, place);
  }

  /** properties are what its session is configured with, and its tags; more are added. */
  void executionStart(long id, long root, long time, String description, Properties properties) {
    if (off() || full(executions.size() + roots.size(), Limits.OPEN_SPANS)) {
      return;
    }
    ConnectTags tags = ConnectTags.of(properties);
    operations.learn(tags, properties);
    operations.configure(tags, properties);
    if (root != id && executions.containsKey(root)) {
      roots.put(id, root); // its jobs are the root's
      return;
    }
    OpenSpan execution = new OpenSpan("sql", Long.toString(id), time, description);
    OpenSpan operation = tags.session == null ? null : operations.open(tags.number());
    String caller = operation == null ? null : operation.names.properties.getProperty(ConnectCalls.THREAD_PARENT);
    if (caller != null) {
      properties.setProperty(ConnectCalls.THREAD_PARENT, caller); // as its jobs have it
    }
    execution.unused = Place.ofJob(application, settings, properties);
    executions.put(id, execution);
  }

  void executionEnd(long id, long time, String error) {
    roots.remove(id);
    OpenSpan open = executions.remove(id);
    if (off() || open == null) {
      return;
    }
    settleWithin(open, open.unused);
    if (!open.kept) {
      return;
    }
    Span span = begin(open, "sql " + id, time);
    span.put("spark.sql.execution.id", id);
    send(open, texts.fail(open.place.traceId, span, error), time, error);
  }

  void jobStart(int id, long time, long execution, Properties properties) {
    if (off() || full(jobs.size(), Limits.OPEN_SPANS)) {
      return;
    }
    String description = property(properties, "spark.job.description", "callSite.short");
    OpenSpan job = new OpenSpan("job", Integer.toString(id), time, description);
    Long root = roots.get(execution);
    job.parent = executions.get(root == null ? execution : root);
    Place place = Place.ofJob(application, settings, properties);
    if (properties != null && operations.of(place) == null && properties.containsKey(Platform.CONNECT_OPERATION)) {
      operationStart(properties, null, time, null);
    }
    if (properties != null) {
      operations.learn(ConnectTags.of(properties), properties);
    }
    if (job.parent == null) {
      settleWithin(job, place);
    } else {
      settleWithin(job.parent, place);
      settle(job, job.parent.place);
    }
    jobs.put(id, job);
  }

  /** Puts an execution, or a job outside SQL, below the operation that it is part of, if any. */
  private void settleWithin(OpenSpan open, Place place) {
    if (open.place != null) {
      return;
    }
    OpenSpan operation = operations.of(place);
    if (operation == null && place.session != null) {
      operation = operations.knownSession(place.session); // the operation's start is lost
      if (operation == null) {
        open.place = place;
        budget.drop(place.sampled ? 1 : 0); // with its parent
        return;
      }
      settle(operation, place.root());
    } else if (operation != null) {
      settleOperation(operation, place);
    }
    open.parent = operation;
    settle(open, operation == null ? place : operation.place);
  }

  private static String property(Properties properties, String first, String second) {
    String value = properties == null ? null : properties.getProperty(first);
    return value == null && properties != null ? properties.getProperty(second) : value;
  }

  void jobStage(int id, int stage) {
    OpenSpan job = jobs.get(id);
    if (job != null && !full(stageJobs.size(), Limits.STAGES)) {
      job.stages.add(stage);
      stageJobs.put(stage, id);
    }
  }

  /** Decides once where a span goes and whether it is kept. */
  private void settle(OpenSpan open, Place place) {
    if (open.place == null) {
      open.place = place;
      boolean wanted = open.parent == null ? place.sampled : open.parent.kept;
      if (place.sampled && !wanted) {
        budget.drop(1); // with its parent
      }
      if (wanted && place.batch != null && !batches.knows(place)) {
        wanted = budget.take(place.traceId); // its own
        send(batches.begin(place));
      }
      open.kept = wanted && budget.take(place.traceId);
      if (open.kept && open.parent == null && place.batch != null) {
        batches.part(place);
      }
    }
  }

  void jobEnd(int id, long time, String error) {
    if (id > lastJob) {
      lastJob = id;
      lastFailure = error;
    }
    OpenSpan job = jobs.remove(id);
    if (job == null) {
      return;
    }
    for (Integer stage : job.stages) {
      if (Integer.valueOf(id).equals(stageJobs.get(stage))) {
        stageJobs.remove(stage);
      }
    }
    if (!job.kept) {
      return;
    }
    Span span = begin(job, "job " + id, time);
    span.put("spark.job.id", (long) id);
    send(job, texts.fail(job.place.traceId, span, error), time, error);
  }

  void stageSubmitted(int id, int attempt, long time, String name) {
    if (off() || full(stages.size(), Limits.OPEN_SPANS)) {
      return;
    }
    Integer number = stageJobs.get(id);
    OpenSpan job = number == null ? null : jobs.get(number);
    if (job == null) {
      return;
    }
    OpenSpan stage = new OpenSpan("stage", id + "." + attempt, time, name);
    stage.parent = job;
    settle(stage, job.place);
    stages.put(key(id, attempt), stage);
  }

  void stageCompleted(int id, int attempt, long submitted, long completed, String error) {
    OpenSpan stage = stages.remove(key(id, attempt));
    if (stage == null || !stage.kept) {
      return;
    }
    Span span = begin(stage, "stage " + stage.number, completed);
    span.put("spark.job.id", Settings.number(stage.parent.number));
    span.put("spark.stage.id", (long) id).put("spark.stage.attempt", (long) attempt);
    send(stage, texts.fail(stage.place.traceId, span, error), completed, error);
  }

  /** A streaming query has completed a batch, or (null) has ended. */
  void batchEnd(String query, String number) {
    if (!off()) {
      send(batches.end(query, number));
    }
  }

  /** Sends what is still open, the phases, and last the application, the root. */
  void end(Phases phases) {
    if (off()) {
      return;
    }
    String failure = lastFailure; // of jobs that are still open no event says how they end
    for (Map.Entry<Long, OpenSpan> e : new HashMap<Long, OpenSpan>(stages).entrySet()) {
      stageCompleted((int) (e.getKey() >> 32), e.getKey().intValue(), 0, phases.end, null);
    }
    for (Integer id : new HashMap<Integer, OpenSpan>(jobs).keySet()) {
      jobEnd(id, phases.end, null);
    }
    for (Long id : new HashMap<Long, OpenSpan>(executions).keySet()) {
      executionEnd(id, phases.end, null);
    }
    for (String operation : operations.openOf(null)) {
      operationEnd(operation, phases.end, null);
    }
    for (String session : operations.openSessions()) {
      sessionEnd(session, phases.end);
    }
    send(batches.end());
    if (application.sampled) {
      new ApplicationSpans(settings, budget, texts, sink).send(application, phases, failure);
    }
  }

  private Span begin(OpenSpan open, String name, long to) {
    String trace = open.place.traceId;
    Span span = application.begin(trace, open.parentSpan(application), open.kind, open.number, name, open.from, to);
    return texts.describe(trace, span, open.description);
  }

  /** The topmost span of another trace links to the application; a micro-batch's own span is above it. */
  private void send(OpenSpan open, Span span, long to, String error) {
    boolean inBatch = open.parent == null && open.place.batch != null;
    if (!inBatch && open.parent == null && open.place.foreign) {
      span.link(application.traceId, application.spanId);
    }
    sink.span(span);
    if (inBatch) {
      send(batches.add(open.place, open.from, to, error));
    }
  }

  private void send(List<Batches.Batch> complete) {
    for (Batches.Batch batch : complete) {
      if (batch.to > 0) {
        String name = "batch " + batch.number;
        Span span = application.begin(batch.place.traceId, null, "batch", batch.place.batch, name, batch.from, batch.to);
        span.link(application.traceId, application.spanId);
        sink.span(texts.fail(batch.place.traceId, span, batch.failure));
      }
    }
  }

  private static long key(int stage, int attempt) {
    return (long) stage << 32 | attempt;
  }
}
