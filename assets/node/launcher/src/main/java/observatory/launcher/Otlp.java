package observatory.launcher;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * OTLP messages as JSON (opentelemetry-proto 1.x, "JSON Protobuf Encoding"). Host, role and cluster
 * are not in them: the node's collector adds those.
 */
final class Otlp {
  private static final int CUMULATIVE = 2; // AGGREGATION_TEMPORALITY_CUMULATIVE
  private static final int KIND_INTERNAL = 1; // SPAN_KIND_INTERNAL
  private static final int STATUS_ERROR = 2; // STATUS_CODE_ERROR
  private static final String RUNTIME_SCOPE = "observatory.launcher";

  private Otlp() {}

  /** A source of metrics. */
  interface Source {
    void write(Signals.MetricWriter out) throws Exception;
  }

  /** One ExportMetricsServiceRequest. */
  static final class Metrics implements Signals.MetricWriter {
    private final Json json = new Json();
    private final String startNanos;
    private final String nowNanos;

    /** Where the metric that is being written begins, and whether it has a point. */
    private int begun;

    private boolean pointed;

    Metrics(Map<String, String> resource, long startMillis, long nowMillis) {
      startNanos = startMillis + "000000";
      nowNanos = nowMillis + "000000";
      json.object(null).array("resourceMetrics").object(null);
      resource(json, resource);
      json.array("scopeMetrics").object(null).object("scope").text("name", RUNTIME_SCOPE).endObject();
      json.array("metrics");
    }

    /** Adds a source's metrics; on failure discards what it had written and rethrows. */
    void add(Source source) throws Exception {
      int end = json.length();
      boolean complete = false;
      try {
        source.write(this);
        complete = true;
      } finally {
        if (!complete) {
          json.truncate(end);
        }
      }
    }

    @Override
    public void gauge(String name, String unit) {
      begin(name, unit, "gauge");
    }

    @Override
    public void sum(String name, String unit, boolean monotonic) {
      begin(name, unit, "sum");
      json.plain("aggregationTemporality", CUMULATIVE).plain("isMonotonic", monotonic);
      json.array("dataPoints");
    }

    @Override
    public void histogram(String name, String unit) {
      begin(name, unit, "histogram");
      json.plain("aggregationTemporality", CUMULATIVE).array("dataPoints");
    }

    private void begin(String name, String unit, String kind) {
      begun = json.length();
      pointed = false;
      json.object(null).text("name", name).text("unit", unit).object(kind);
      if (kind.equals("gauge")) {
        json.array("dataPoints");
      }
    }

    @Override
    public void end() {
      if (pointed) {
        json.endArray().endObject().endObject();
      } else {
        json.truncate(begun);
      }
    }

    @Override
    public void point(long value, Object... attributes) {
      head(attributes).integer("asInt", value).endObject();
    }

    @Override
    public void point(double value, Object... attributes) {
      if (Double.isNaN(value) || Double.isInfinite(value)) {
        return; // not valid JSON: the whole request would be refused
      }
      head(attributes).plain("asDouble", value).endObject();
    }

    @Override
    public void point(long[] counts, double[] bounds, double sum, Object... attributes) {
      long count = 0;
      for (long c : counts) {
        count += c;
      }
      head(attributes).integer("count", count).plain("sum", sum).array("bucketCounts");
      for (long c : counts) {
        json.integer(null, c);
      }
      json.endArray().array("explicitBounds");
      for (double b : bounds) {
        json.plain(null, b);
      }
      json.endArray().endObject();
    }

    private Json head(Object... attributes) {
      pointed = true;
      json.object(null).text("startTimeUnixNano", startNanos).text("timeUnixNano", nowNanos);
      json.array("attributes");
      for (int i = 0; i + 1 < attributes.length; i += 2) {
        attribute(json, (String) attributes[i], attributes[i + 1]);
      }
      return json.endArray();
    }

    String finish() {
      return json.endArray().endObject().endArray().endObject().endArray().endObject().toString();
    }
  }

  /** One ExportLogsServiceRequest; each logger is a scope, as in OpenTelemetry's log bridges. */
  static String logs(Map<String, String> resource, List<LogRecord> records) {
    Map<String, List<LogRecord>> byLogger = new LinkedHashMap<String, List<LogRecord>>();
    for (LogRecord record : records) {
      List<LogRecord> list = byLogger.get(record.logger);
      if (list == null) {
        list = new ArrayList<LogRecord>();
        byLogger.put(record.logger, list);
      }
      list.add(record);
    }
    Json json = new Json();
    json.object(null).array("resourceLogs").object(null);
    resource(json, resource);
    json.array("scopeLogs");
    for (Map.Entry<String, List<LogRecord>> e : byLogger.entrySet()) {
      json.object(null).object("scope").text("name", e.getKey()).endObject().array("logRecords");
      for (LogRecord record : e.getValue()) {
        log(json, record);
      }
      json.endArray().endObject();
    }
    return json.endArray().endObject().endArray().endObject().toString();
  }

  private static void log(Json json, LogRecord record) {
    json.object(null).text("timeUnixNano", record.millis + "000000");
    json.text("observedTimeUnixNano", record.millis + "000000");
    json.plain("severityNumber", record.severity).text("severityText", record.level);
    json.object("body").text("stringValue", record.body).endObject().array("attributes");
    for (Map.Entry<String, String> e : record.attributes.entrySet()) {
      attribute(json, e.getKey(), e.getValue());
    }
    json.endArray();
    if (record.trace != null) {
      json.text("traceId", record.trace.traceId).text("spanId", record.trace.spanId);
    }
    json.endObject();
  }

  /** One ExportTraceServiceRequest. */
  static String traces(Map<String, String> resource, List<Span> spans) {
    Json json = new Json();
    json.object(null).array("resourceSpans").object(null);
    resource(json, resource);
    json.array("scopeSpans").object(null).object("scope").text("name", RUNTIME_SCOPE).endObject();
    json.array("spans");
    for (Span span : spans) {
      span(json, span);
    }
    return json.endArray().endObject().endArray().endObject().endArray().endObject().toString();
  }

  private static void span(Json json, Span span) {
    json.object(null).text("traceId", span.traceId).text("spanId", span.spanId);
    if (span.parentSpanId != null) {
      json.text("parentSpanId", span.parentSpanId);
    }
    json.text("name", span.name).plain("kind", KIND_INTERNAL);
    json.integer("startTimeUnixNano", span.startNanos).integer("endTimeUnixNano", span.endNanos);
    json.array("attributes");
    for (int i = 0; i < span.attributes.size(); i += 2) {
      attribute(json, (String) span.attributes.get(i), span.attributes.get(i + 1));
    }
    json.endArray();
    if (!span.links.isEmpty()) {
      json.array("links");
      for (int i = 0; i < span.links.size(); i += 2) {
        json.object(null).text("traceId", span.links.get(i)).text("spanId", span.links.get(i + 1)).endObject();
      }
      json.endArray();
    }
    if (span.failed) {
      json.object("status").plain("code", STATUS_ERROR);
      if (span.message() != null) {
        json.text("message", span.message());
      }
      json.endObject();
    }
    json.endObject();
  }

  private static void resource(Json json, Map<String, String> attributes) {
    json.object("resource").array("attributes");
    for (Map.Entry<String, String> e : attributes.entrySet()) {
      attribute(json, e.getKey(), e.getValue());
    }
    json.endArray().endObject();
  }

  private static void attribute(Json json, String key, Object value) {
    json.object(null).text("key", key).object("value");
    if (value instanceof Boolean) {
      json.plain("boolValue", value);
    } else if (value instanceof Long || value instanceof Integer) {
      json.integer("intValue", ((Number) value).longValue());
    } else if (value instanceof Double && !((Double) value).isNaN() && !((Double) value).isInfinite()) {
      json.plain("doubleValue", value);
    } else {
      json.text("stringValue", String.valueOf(value));
    }
    json.endObject().endObject();
  }
}
