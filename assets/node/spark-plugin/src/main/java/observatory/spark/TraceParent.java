package observatory.spark;

import java.io.File;
import java.util.Properties;

/**
 * A span of somebody else's that a span of ours belongs to (W3C Trace Context). This is the one place
 * that knows where such a parent is found.
 */
final class TraceParent {
  final String traceId;

  final String spanId;
  final boolean sampled;

  private TraceParent(String traceId, String spanId, boolean sampled) {
    this.traceId = traceId;
    this.spanId = spanId;
    this.sampled = sampled;
  }

  /** The parent of an application, or null. */
  static TraceParent ofApplication(String configured, String environment, boolean cluster, String directory, double ratio) {
    TraceParent parent = parse(configured);
    if (parent == null) {
      parent = parse(environment);
    }
    String step = parent != null || cluster ? "" : step(directory);
    if (!step.isEmpty()) {
      String trace = Ids.stepTrace(step);
      return new TraceParent(trace, Ids.stepSpan(step), samples(trace, ratio));
    }
    return parent;
  }

  /** The id of the EMR step that runs in a directory, "" if none does: /mnt/var/lib/hadoop/steps/s-…. */
  static String step(String directory) {
    String last = directory == null ? "" : new File(directory).getName();
    return last.matches("s-[A-Z0-9]+") ? last : "";
  }

  @Override
  public String toString() {
    return "00-" + traceId + "-" + spanId + (sampled ? "-01" : "-00");
  }

  /**
   * The parent of a job, or null: what its thread has, or the call of Spark Connect that started it, else
   * a tag, else what its session is configured with. Spark copies all kinds into the properties of the
   * job; what the application as a whole was given does not count again.
   */
  static TraceParent ofJob(Properties properties, String tag, String ofApplication) {
    if (properties == null) {
      return null;
    }
    TraceParent parent = parse(properties.getProperty("traceparent"));
    if (parent == null) {
      parent = parse(tag);
    }
    if (parent != null) {
      return parent;
    }
    String session = properties.getProperty(Platform.TRACEPARENT);
    return session == null || session.equals(ofApplication) ? null : parse(session);
  }

  /** Parses "00-<trace id>-<span id>-<flags>"; null if the text is not of that form. */
  static TraceParent parse(String text) {
    if (text == null || !text.trim().matches("(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?")) {
      return null;
    }
    String value = text.trim();
    boolean sampled = (Character.digit(value.charAt(54), 16) & 1) == 1;
    return new TraceParent(value.substring(3, 35), value.substring(36, 52), sampled);
  }

  /** Decides as OpenTelemetry's TraceIdRatioBased. */
  static boolean samples(String traceId, double ratio) {
    if (ratio >= 1) {
      return true;
    }
    long low = Long.parseUnsignedLong(traceId.substring(16), 16) & Long.MAX_VALUE;
    return low < (long) (ratio * 0x1p63);
  }
}
