package observatory.launcher;

/** Names shared with the rest of the platform. Generated from package platform; do not edit. */
final class Platform {
  private Platform() {}

  static final String FACTS_FILE = "/opt/observatory/node.properties";
  static final String KILL_SWITCH = "/opt/observatory/disabled";
  static final String OTEL_JAR = "/opt/observatory/opentelemetry-javaagent.jar";
  static final String PYROSCOPE_JAR = "/opt/observatory/pyroscope.jar";
  static final String JMX_RULES = "/opt/observatory/jmx-s3a.yaml";
  static final String OTLP_ENDPOINT = "http://127.0.0.1:4317";
  static final String PYROSCOPE_PORT = "4040";
  static final String EXPORT_MILLIS = "10000";
  static final String GUARD_PROPERTY = "observatory.launcher";
  static final String DISABLE_PROPERTY = "observatory.disabled";
  static final String DISABLE_VARIABLE = "OBSERVATORY_DISABLED";
  static final String SERVICE_DRIVER = "spark-driver";
  static final String SERVICE_EXECUTOR = "spark-executor";
  static final String DRIVER_ID = "driver";
  static final String LABEL_APP_ID = "spark.app.id";
  static final String LABEL_EXECUTOR_ID = "spark.executor.id";
  static final String FACT_CONTROL = "control.address";

  static final String[] HOST_LABELS = {"cluster", "node.role", "host.name"};
}
