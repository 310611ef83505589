package observatory.launcher;

import java.util.ArrayList;
import java.util.List;

/** A finished span. Complete it before it is given to Signals, which does not copy it. */
public final class Span {
  // Heap in bytes, on Java 8: a string has 2 bytes per character.
  private static final int OVERHEAD = 600; // the span with its ids
  private static final int VALUE_OVERHEAD = 100;

  final String applicationId;
  final String traceId;
  final String spanId;
  final String parentSpanId;
  final String name;
  final long startNanos;
  final long endNanos;
  final List<Object> attributes = new ArrayList<Object>(16); // names and values alternate
  final List<String> links = new ArrayList<String>(0); // trace and span ids alternate
  boolean failed;
  private String message;
  private int size;

  /** Ids are in lower-case hex; a root has no parent (null). Times are since the epoch. */
  public Span(
      String applicationId,
      String traceId,
      String spanId,
      String parentSpanId,
      String name,
      long startNanos,
      long endNanos) {
    this.applicationId = applicationId;
    this.traceId = traceId;
    this.spanId = spanId;
    this.parentSpanId = parentSpanId;
    this.name = name;
    this.startNanos = startNanos;
    this.endNanos = Math.max(startNanos, endNanos);
    size = OVERHEAD + 2 * name.length();
  }

  /** Adds an attribute: a String, Long, Integer, Double or Boolean; null adds nothing. */
  public Span put(String key, Object value) {
    if (value != null) {
      attributes.add(key);
      attributes.add(value);
      size += VALUE_OVERHEAD + (value instanceof String ? 2 * ((String) value).length() : 0);
    }
    return this;
  }

  /** Marks the span as failed; the message may be null. */
  public Span error(String text) {
    failed = true;
    message = text;
    return put("exception.message", text);
  }

  public Span link(String toTraceId, String toSpanId) {
    links.add(toTraceId);
    links.add(toSpanId);
    size += 2 * VALUE_OVERHEAD;
    return this;
  }

  String message() {
    return message;
  }

  /** Approximate heap size in bytes. */
  int size() {
    return size;
  }
}
