package observatory.launcher;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * What the Spark plugin hands to the launcher: metrics, spans and the identity of contexts. It works
 * before telemetry has started, and drops what it gets if telemetry never starts.
 */
public final class Signals {
  private static final List<MetricSource> SOURCES = new CopyOnWriteArrayList<MetricSource>();
  private static final SpanBuffer SPANS = new SpanBuffer();
  private static final ThreadLocal<Trace> TASK = new ThreadLocal<Trace>();
  private static final Object IDENTITY = new Object();

  private static volatile Trace application;
  private static volatile Telemetry telemetry;
  private static volatile Identity identity = new Identity(null, true);
  private static volatile boolean stopping;

  private Signals() {}

  /** A source of metrics of one application. */
  public interface MetricSource extends Otlp.Source {
    /** Returns the id of the application that the metrics are of; nothing is sent while it is null. */
    String applicationId();
  }

  /** Writes metrics: each begins with its type, has points, and ends. One without points is left out. */
  public interface MetricWriter {
    void gauge(String name, String unit);

    /** Starts a cumulative sum since JVM start. Stores treat a non-monotonic sum as a gauge. */
    void sum(String name, String unit, boolean monotonic);

    void histogram(String name, String unit);

    void end();

    /** Writes a data point; attributes alternates names and values. */
    void point(long value, Object... attributes);

    /** A value that is not finite has no point. */
    void point(double value, Object... attributes);

    /** Writes a histogram's point: there is one count more than bounds. */
    void point(long[] counts, double[] bounds, double sum, Object... attributes);
  }

  public static void add(MetricSource source) {
    SOURCES.add(source);
  }

  public static void remove(MetricSource source) {
    SOURCES.remove(source);
  }

  /** Queues a span; false if it was dropped, which is counted. */
  public static boolean span(Span span) {
    boolean added = SPANS.add(span);
    Telemetry sender = telemetry;
    if (added && sender != null && SPANS.endsBatch()) {
      sender.wake();
    }
    return added;
  }

  /** Returns the number of spans that the full queue did not take. */
  public static long spansDropped() {
    return SPANS.dropped();
  }

  /** Returns the number of spans that the collector refused for good. */
  public static long spansRefused() {
    return SPANS.refused();
  }

  /** Sends what is there; false if that did not end within the time. */
  public static boolean flush(long timeoutMillis) {
    Telemetry sender = telemetry;
    return sender != null && sender.flush(timeoutMillis);
  }

  /** Sets the application id of what is not of a particular application: the newest context's. */
  public static void identify(String id) {
    synchronized (IDENTITY) {
      identity = new Identity(id, true);
      IDENTITY.notifyAll();
    }
  }

  /** A context starts whose id is not known: what follows is its, and waits for the id. */
  static void starting() {
    synchronized (IDENTITY) {
      identity = new Identity(null, false);
    }
  }

  /**
   * Returns the application id together with whether it is settled: a context may start between two
   * separate reads.
   */
  static Identity identity() {
    return identity;
  }

  /** Sets the id unless there is one, which is of the same context or of a newer one. */
  static void identifyFirst(String id) {
    synchronized (IDENTITY) {
      if (applicationId() == null) {
        identify(id);
      }
    }
  }

  /** The application of what names no other. */
  static final class Identity {
    /** Null if there is no context, or if the context that is starting has no id yet. */
    final String applicationId;

    /** False while a context is starting: its id is still to come. */
    final boolean settled;

    private Identity(String applicationId, boolean settled) {
      this.applicationId = applicationId;
      this.settled = settled;
    }
  }

  /** Sets the span of log records outside tasks; null once the application has ended. */
  public static void traceApplication(String traceId, String spanId) {
    application = Trace.of(traceId, spanId);
  }

  /** Sets the span of this thread's log records. */
  public static void enterTask(String traceId, String spanId) {
    TASK.set(Trace.of(traceId, spanId));
  }

  public static void leaveTask() {
    TASK.remove();
  }

  /** While true, the end of the JVM waits a short time: its shutdown hooks also stop the context. */
  public static void contextStopping(boolean waits) {
    stopping = waits;
  }

  /** The span that a log record belongs to. */
  static final class Trace {
    final String traceId;
    final String spanId;

    private Trace(String traceId, String spanId) {
      this.traceId = traceId;
      this.spanId = spanId;
    }

    static Trace of(String traceId, String spanId) {
      return traceId == null || spanId == null ? null : new Trace(traceId, spanId);
    }
  }

  static Trace trace() {
    Trace task = TASK.get();
    return task == null ? application : task;
  }

  static List<MetricSource> sources() {
    return SOURCES;
  }

  static SpanBuffer spans() {
    return SPANS;
  }

  static boolean stopping() {
    return stopping;
  }

  static String applicationId() {
    return identity.applicationId;
  }

  /** Returns the application id as soon as there is one, null after the given time. */
  static String awaitApplicationId(long millis) throws InterruptedException {
    synchronized (IDENTITY) {
      if (applicationId() == null) {
        IDENTITY.wait(millis);
      }
      return applicationId();
    }
  }

  static void sendWith(Telemetry sender) {
    telemetry = sender;
  }

  /** Drops the spans that are there and all that follow. */
  static void close() {
    SPANS.close();
  }
}
