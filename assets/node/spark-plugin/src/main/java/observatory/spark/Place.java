package observatory.spark;

import java.util.Properties;

/** Where in which trace a job belongs. The driver and its executors compute it alike. */
final class Place {
  final String traceId;
  final String parentSpanId;
  final boolean sampled;

  /** The trace is not the application's: the job's topmost span links to that. */
  final boolean foreign;

  /** "query.batch" of a micro-batch, which is a trace of its own; else null. */
  final String batch;

  /** The number of the operation of Spark Connect that the job is part of, and stands below; else null. */
  final String operation;

  /** The session of Spark Connect whose trace it is; else null. */
  final String session;

  private Place(
      String traceId, String parentSpanId, boolean sampled, boolean foreign, String batch, String operation, String session) {
    this.traceId = traceId;
    this.parentSpanId = parentSpanId;
    this.sampled = sampled;
    this.foreign = foreign;
    this.batch = batch;
    this.operation = operation;
    this.session = session;
  }

  /** The place of the trace's root. */
  Place root() {
    return new Place(traceId, null, sampled, foreign, null, null, session);
  }

  static Place ofJob(Application application, Settings settings, Properties properties) {
    ConnectTags tags = ConnectTags.of(properties);
    TraceParent parent = TraceParent.ofJob(properties, tags.parent, settings.traceparent);
    String query = properties == null ? null : properties.getProperty("sql.streaming.queryId");
    String number = query == null ? null : properties.getProperty("streaming.sql.batchId");
    // The thread of a query that a client of Spark Connect has started keeps what the call had.
    boolean inherited = number != null && tags.session != null;
    if (parent != null && !inherited) {
      boolean foreign = !parent.traceId.equals(application.traceId);
      boolean sampled = settings.tracing && parent.sampled;
      return new Place(parent.traceId, parent.spanId, sampled, foreign, null, tags.number(), null);
    }
    if (number != null) {
      String batch = query + "." + number;
      String trace = Ids.trace(application.id, application.attempt + "|batch|" + batch);
      boolean sampled = settings.tracing && TraceParent.samples(trace, settings.samplingRatio);
      return new Place(trace, application.span("batch", batch), sampled, true, batch, null, null);
    }
    if (tags.session != null) {
      String trace = Ids.trace(application.id, application.attempt + "|session|" + tags.session);
      boolean sampled = settings.tracing && TraceParent.samples(trace, settings.samplingRatio);
      String session = application.span("session", tags.session);
      return new Place(trace, session, sampled, true, null, tags.number(), tags.session);
    }
    return new Place(application.traceId, application.spanId, application.sampled, false, null, null, null);
  }
}
