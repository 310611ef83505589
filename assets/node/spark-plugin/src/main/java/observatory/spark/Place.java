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

  private Place(String traceId, String parentSpanId, boolean sampled, boolean foreign, String batch) {
    this.traceId = traceId;
    this.parentSpanId = parentSpanId;
    this.sampled = sampled;
    this.foreign = foreign;
    this.batch = batch;
  }

  static Place ofJob(Application application, Settings settings, Properties properties) {
    TraceParent parent = TraceParent.ofJob(properties, settings.traceparent);
    if (parent != null) {
      boolean foreign = !parent.traceId.equals(application.traceId);
      return new Place(parent.traceId, parent.spanId, settings.tracing && parent.sampled, foreign, null);
    }
    String query = properties == null ? null : properties.getProperty("sql.streaming.queryId");
    String number = query == null ? null : properties.getProperty("streaming.sql.batchId");
    if (number != null) {
      String batch = query + "." + number;
      String trace = Ids.trace(application.id, application.attempt + "|batch|" + batch);
      boolean sampled = settings.tracing && TraceParent.samples(trace, settings.samplingRatio);
      return new Place(trace, application.span("batch", batch), sampled, true, batch);
    }
    return new Place(application.traceId, application.spanId, application.sampled, false, null);
  }
}
