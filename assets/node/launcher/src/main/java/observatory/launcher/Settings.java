package observatory.launcher;

import java.io.File;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * The agents' configuration as system properties. What the user set stays, except that identity is
 * merged into the user's own attributes and labels: a signal without it cannot be found again.
 */
final class Settings {
  private static final String OTEL_ATTRIBUTES = "otel.resource.attributes";
  private static final String PYROSCOPE_LABELS = "pyroscope.labels";

  private final Map<String, String> properties = new LinkedHashMap<String, String>();

  Settings(NodeFacts facts, SparkProcess process, String applicationId) {
    Map<String, String> host = new LinkedHashMap<String, String>();
    for (String label : Platform.HOST_LABELS) {
      host.put(label, facts.get(label));
    }
    Map<String, String> jvm = new LinkedHashMap<String, String>(host);
    jvm.put(Platform.LABEL_APP_ID, applicationId);
    jvm.put(Platform.LABEL_EXECUTOR_ID, process.executorId);
    openTelemetry(process, jvm);
    pyroscope(process, jvm, facts.get(Platform.FACT_CONTROL));
  }

  private void openTelemetry(SparkProcess process, Map<String, String> identity) {
    properties.put("otel.service.name", process.service);
    properties.put(OTEL_ATTRIBUTES, pairs(merged(OTEL_ATTRIBUTES, identity, false)));
    properties.put("otel.exporter.otlp.endpoint", Platform.OTLP_ENDPOINT);
    properties.put("otel.exporter.otlp.protocol", "grpc");
    properties.put("otel.traces.exporter", "otlp");
    properties.put("otel.metrics.exporter", "otlp");
    properties.put("otel.logs.exporter", "otlp");
    properties.put("otel.metric.export.interval", Platform.EXPORT_MILLIS);
    // Instrumenting every library costs seconds at start-up; only these four are asked for.
    properties.put("otel.instrumentation.common.default-enabled", "false");
    properties.put("otel.instrumentation.runtime-telemetry.enabled", "true");
    properties.put("otel.instrumentation.log4j-appender.enabled", "true");
    properties.put("otel.instrumentation.log4j-context-data.enabled", "true");
    properties.put("otel.instrumentation.jmx.enabled", "true");
    if (new File(Platform.JMX_RULES).isFile()) {
      properties.put("otel.jmx.config", Platform.JMX_RULES);
    }
    properties.put(
        "otel.resource.disabled.keys",
        "process.command_args,process.command_line,process.executable.path,process.pid,"
            + "process.runtime.description,os.description,service.instance.id");
  }

  private void pyroscope(SparkProcess process, Map<String, String> identity, String control) {
    properties.put("pyroscope.application.name", process.service);
    properties.put(PYROSCOPE_LABELS, pairs(merged(PYROSCOPE_LABELS, identity, true)));
    properties.put(
        "pyroscope.server.address", "http://" + control + ":" + Platform.PYROSCOPE_PORT);
    properties.put("pyroscope.format", "jfr");
    properties.put("pyroscope.profiler.event", "itimer");
    properties.put("pyroscope.profiler.alloc", "512k");
    properties.put("pyroscope.profiler.lock", "10ms");
    properties.put("pyroscope.log.level", "warn");
  }

  /** Sets what neither a property nor its environment variable sets already. */
  void apply() {
    for (Map.Entry<String, String> p : properties.entrySet()) {
      String key = p.getKey();
      boolean identity = key.equals(OTEL_ATTRIBUTES) || key.equals(PYROSCOPE_LABELS);
      if (identity || given(key) == null) {
        System.setProperty(key, p.getValue());
      }
    }
  }

  private static String given(String key) {
    String value = System.getProperty(key);
    String variable = key.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
    return value == null ? System.getenv(variable) : value;
  }

  private static Map<String, String> merged(
      String key, Map<String, String> identity, boolean underscores) {
    Map<String, String> all = new LinkedHashMap<String, String>();
    String given = given(key);
    for (String pair : (given == null ? "" : given).split(",")) {
      int equals = pair.indexOf('=');
      if (equals > 0) {
        all.put(pair.substring(0, equals).trim(), pair.substring(equals + 1).trim());
      }
    }
    for (Map.Entry<String, String> e : identity.entrySet()) {
      if (e.getValue() != null && !e.getValue().isEmpty()) {
        all.put(underscores ? e.getKey().replace('.', '_') : e.getKey(), e.getValue());
      }
    }
    return all;
  }

  private static String pairs(Map<String, String> map) {
    StringBuilder text = new StringBuilder();
    for (Map.Entry<String, String> e : map.entrySet()) {
      text.append(text.length() == 0 ? "" : ",").append(e.getKey()).append('=').append(e.getValue());
    }
    return text.toString();
  }
}
