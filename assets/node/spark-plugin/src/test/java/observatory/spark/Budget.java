package observatory.spark;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import observatory.launcher.Span;
import observatory.launcher.SpanFields;
import org.apache.spark.SparkConf;

/** Traces an application with far more jobs and phases than a trace may have spans. */
public final class Budget {
  private static final int JOBS = 15_000;
  private static final long T0 = 1_700_000_000_000L;

  private Budget() {}

  public static void main(String[] args) {
    Settings settings = Settings.ofDriver(new SparkConf(false).set(Platform.SAMPLING_RATIO, "1"));
    SpanBudget budget = new SpanBudget();
    List<Span> spans = new ArrayList<Span>();
    Tracer tracer = new Tracer(settings, budget, spans::add);
    PhaseEngine engine = new PhaseEngine();
    engine.applicationStart(T0);
    Application application = new Application(settings, "application_1_0001", null, "budget");
    tracer.application(application);
    int granted = 0;
    for (int job = 0; job < JOBS; job++) {
      long at = T0 + job * 100L;
      tracer.jobStart(job, at, Facts.NONE, new Properties());
      tracer.jobStage(job, job);
      tracer.stageSubmitted(job, 0, at, "count at Job.java:1");
      tracer.stageCompleted(job, 0, at, at + 50 + job % 40, null);
      tracer.jobEnd(job, at + 95, null);
      engine.taskEnd(job, job, 0, at, at + 50 + job % 40, true, false, true);
      granted += budget.grant(application.traceId, SpanBudget.GRANT, SpanBudget.RESERVE);
    }
    engine.applicationEnd(T0 + JOBS * 100L);
    tracer.end(engine.phases());
    Set<String> ids = new HashSet<String>();
    for (Span span : spans) {
      ids.add(SpanFields.id(span));
    }
    int orphans = 0;
    for (Span span : spans) {
      orphans += SpanFields.parent(span) == null || ids.contains(SpanFields.parent(span)) ? 0 : 1;
    }
    Object dropped = SpanFields.attribute(spans.get(spans.size() - 1), "observatory.spans.dropped");
    for (int batch = 0; batch < 100; batch++) {
      budget.take("trace of batch " + batch);
    }
    boolean spent = !budget.take(application.traceId);
    System.out.println(
        spans.size() + " " + granted + " " + ids.size() + " " + orphans + " " + dropped + " " + spent);
  }
}
