package observatory.spark;

import java.util.ArrayList;
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

  private static final class Open {
    final String number;
    final long from;
    final String description;
    Place place;
    Open parent;
    boolean kept;

    /** The stages that a job lists. */
    final List<Integer> stages = new ArrayList<Integer>(0);

    Open(String number, long from, String description) {
      this.number = number;
      this.from = from;
      this.description = description;
    }
  }

  private final Settings settings;
  private final Sink sink;
  private final SpanBudget budget;
  private final Batches batches = new Batches();
  private final Map<Long, Open> executions = new HashMap<Long, Open>();
  private final Map<Long, Long> roots = new HashMap<Long, Long>();
  private final Map<Integer, Open> jobs = new HashMap<Integer, Open>();
  private final Map<Integer, Integer> stageJobs = new HashMap<Integer, Integer>();
  private final Map<Long, Open> stages = new HashMap<Long, Open>();
  private Application application;

  /** The latest job that has ended, and why it failed. */
  private int lastJob = -1;

  private String lastFailure;

  Tracer(Settings settings, SpanBudget budget, Sink sink) {
    this.settings = settings;
    this.budget = budget;
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

  void executionStart(long id, long root, long time, String description) {
    if (off() || full(executions.size() + roots.size(), Limits.OPEN_SPANS)) {
      return;
    }
    if (root != id && executions.containsKey(root)) {
      roots.put(id, root); // its jobs are the root's
      return;
    }
    executions.put(id, new Open(Long.toString(id), time, description));
  }

  void executionEnd(long id, long time, String error) {
    roots.remove(id);
    Open open = executions.remove(id);
    if (off() || open == null) {
      return;
    }
    settle(open, Place.ofJob(application, settings, null));
    if (!open.kept) {
      return;
    }
    Span span = begin(open, open.place.parentSpanId, "sql", open.number, "sql " + id, time);
    span.put("spark.sql.execution.id", id);
    send(open, fail(open.place, span, error), time, error);
  }

  void jobStart(int id, long time, long execution, Properties properties) {
    if (off() || full(jobs.size(), Limits.OPEN_SPANS)) {
      return;
    }
    Open job = new Open(Integer.toString(id), time, property(properties, "spark.job.description", "callSite.short"));
    Long root = roots.get(execution);
    job.parent = executions.get(root == null ? execution : root);
    Place place = Place.ofJob(application, settings, properties);
    if (job.parent != null) {
      settle(job.parent, place);
      place = job.parent.place;
    }
    settle(job, place);
    jobs.put(id, job);
  }

  private static String property(Properties properties, String first, String second) {
    String value = properties == null ? null : properties.getProperty(first);
    return value == null && properties != null ? properties.getProperty(second) : value;
  }

  void jobStage(int id, int stage) {
    Open job = jobs.get(id);
    if (job != null && !full(stageJobs.size(), Limits.STAGES)) {
      job.stages.add(stage);
      stageJobs.put(stage, id);
    }
  }

  /** Decides once where a span goes and whether it is kept. */
  private void settle(Open open, Place place) {
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
    Open job = jobs.remove(id);
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
    String parent = job.parent == null ? job.place.parentSpanId : application.span("sql", job.parent.number);
    Span span = begin(job, parent, "job", Integer.toString(id), "job " + id, time);
    span.put("spark.job.id", (long) id);
    send(job, fail(job.place, span, error), time, error);
  }

  void stageSubmitted(int id, int attempt, long time, String name) {
    if (off() || full(stages.size(), Limits.OPEN_SPANS)) {
      return;
    }
    Integer number = stageJobs.get(id);
    Open job = number == null ? null : jobs.get(number);
    if (job == null) {
      return;
    }
    Open stage = new Open(id + "." + attempt, time, name);
    stage.parent = job;
    settle(stage, job.place);
    stages.put(key(id, attempt), stage);
  }

  void stageCompleted(int id, int attempt, long submitted, long completed, String error) {
    Open stage = stages.remove(key(id, attempt));
    if (stage == null || !stage.kept) {
      return;
    }
    String job = stage.parent.number;
    Span span = begin(stage, application.span("job", job), "stage", stage.number, "stage " + stage.number, completed);
    span.put("spark.job.id", Settings.number(job)).put("spark.stage.id", (long) id).put("spark.stage.attempt", (long) attempt);
    send(stage, fail(stage.place, span, error), completed, error);
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
    for (Map.Entry<Long, Open> e : new HashMap<Long, Open>(stages).entrySet()) {
      stageCompleted((int) (e.getKey() >> 32), e.getKey().intValue(), 0, phases.end, null);
    }
    for (Integer id : new HashMap<Integer, Open>(jobs).keySet()) {
      jobEnd(id, phases.end, null);
    }
    for (Long id : new HashMap<Long, Open>(executions).keySet()) {
      executionEnd(id, phases.end, null);
    }
    send(batches.end());
    if (application.sampled) {
      sendPhases(phases);
      sendApplication(phases, failure);
    }
  }

  private void sendPhases(Phases phases) {
    final long shortest = phases.lengthOfLongest(Limits.PHASE_SPANS);
    budget.drop(phases.forgotten());
    phases.visit(
        new Phases.Visitor() {
          private int sent;

          @Override
          public void segment(int phase, long from, long to) {
            if (to - from < shortest || sent == Limits.PHASE_SPANS) {
              budget.drop(1);
              return;
            }
            sent++;
            String name = Platform.PHASES[phase];
            sink.span(
                application
                    .begin(application.traceId, application.spanId, "phase", name + "." + from, "phase " + name, from, to)
                    .put("spark.phase", name));
          }
        });
  }

  private void sendApplication(Phases phases, String failure) {
    String name = settings.redaction.text(application.name, Redaction.DESCRIPTION);
    String title = "application " + name;
    Span span =
        application.begin(
            application.traceId, application.parentSpanId, "application", "0", title, phases.begin, phases.end);
    span.put("spark.application.name", name);
    for (int phase = 0; phase < Phases.COUNT; phase++) {
      span.put("spark.phase." + Platform.PHASES[phase] + ".seconds", phases.millis[phase] / 1000.0);
    }
    span.put("spark.phases.approximate", phases.approximate);
    span.put("observatory.spans.dropped", budget.droppedByAll());
    boolean session = phases.millis[Phases.IDLE] > 0; // whose jobs are the users' own
    sink.span(fail(Place.ofJob(application, settings, null), span, session ? null : failure));
  }

  private Span begin(Open open, String parent, String kind, String number, String name, long to) {
    String text = settings.redaction.text(open.description, Redaction.DESCRIPTION);
    return application
        .begin(open.place.traceId, parent, kind, number, name, open.from, to)
        .put("spark.description", budget.text(open.place.traceId, text) ? text : null);
  }

  private Span fail(Place place, Span span, String error) {
    if (error == null || error.isEmpty()) {
      return span;
    }
    String text = settings.redaction.text(Causes.first(error), Redaction.MESSAGE);
    return span.error(budget.text(place.traceId, text) ? text : null);
  }

  /** The topmost span of another trace links to the application; a micro-batch's own span is above it. */
  private void send(Open open, Span span, long to, String error) {
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
        sink.span(fail(batch.place, span, batch.failure));
      }
    }
  }

  private static long key(int stage, int attempt) {
    return (long) stage << 32 | attempt;
  }
}
