package observatory.spark;

import observatory.launcher.Span;

/** An application's names and its place in a trace. */
final class Application {
  final String id;
  final String attempt;
  final String name;
  final String traceId;
  final String spanId;

  /** null: the application's span is the root. */
  final String parentSpanId;

  /** false: the application has no spans. */
  final boolean sampled;

  Application(Settings settings, String id, String attempt, String name) {
    this.id = id;
    this.attempt = attempt == null ? "" : attempt;
    this.name = name;
    TraceParent parent = settings.parent;
    traceId = parent == null ? Ids.trace(id, this.attempt) : parent.traceId;
    parentSpanId = parent == null ? null : parent.spanId;
    spanId = Ids.span(id, this.attempt, "application", "0");
    boolean wanted = parent == null ? TraceParent.samples(traceId, settings.samplingRatio) : parent.sampled;
    sampled = settings.tracing && wanted;
  }

  String span(String kind, String number) {
    return Ids.span(id, attempt, kind, number);
  }

  /** Begins a span of this application; times are epoch milliseconds. */
  Span begin(String trace, String parent, String kind, String number, String name, long from, long to) {
    return new Span(id, trace, span(kind, number), parent, name, from * 1_000_000L, Math.max(from, to) * 1_000_000L)
        .put("spark.kind", kind);
  }
}
