package observatory.spark;

import observatory.launcher.Span;

/** Makes the spans of an application as a whole: its phases and, last, its own, the root. */
final class ApplicationSpans {
  private final Settings settings;
  private final SpanBudget budget;
  private final SpanTexts texts;
  private final Tracer.Sink sink;

  ApplicationSpans(Settings settings, SpanBudget budget, SpanTexts texts, Tracer.Sink sink) {
    this.settings = settings;
    this.budget = budget;
    this.texts = texts;
    this.sink = sink;
  }

  /** failure: of the latest job, null if it succeeded. */
  void send(Application application, Phases phases, String failure) {
    sendPhases(application, phases);
    sendApplication(application, phases, failure);
  }

  private void sendPhases(final Application application, Phases phases) {
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

  private void sendApplication(Application application, Phases phases, String failure) {
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
    sink.span(texts.fail(application.traceId, span, session ? null : failure));
  }
}
