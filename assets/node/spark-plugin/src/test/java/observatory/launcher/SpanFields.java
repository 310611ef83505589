package observatory.launcher;

/** Shows tests what a span holds. */
public final class SpanFields {
  private SpanFields() {}

  public static String id(Span span) {
    return span.traceId + span.spanId;
  }

  /** The parent's id, or null. */
  public static String parent(Span span) {
    return span.parentSpanId == null ? null : span.traceId + span.parentSpanId;
  }

  public static Object attribute(Span span, String name) {
    int i = span.attributes.indexOf(name);
    return i < 0 ? null : span.attributes.get(i + 1);
  }
}
