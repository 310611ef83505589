package observatory.launcher;

/** Names shared with the rest of the platform. Generated from package platform; do not edit. */
final class Platform {
  private Platform() {}

  static final String FACTS_FILE = "/opt/observatory/node.properties";
  static final String KILL_SWITCH = "/opt/observatory/disabled";
  static final String PLUGIN_JAR = "/opt/observatory/spark-plugin.jar";
  static final String PROFILER_JAR = "/opt/observatory/async-profiler.jar";
  static final String OTLP_ENDPOINT = "http://127.0.0.1:4318";
  static final String PYROSCOPE_PORT = "4040";
  static final String GUARD_PROPERTY = "observatory.launcher";
  static final String DISABLE_PROPERTY = "observatory.disabled";
  static final String EXIT_PROPERTY = "observatory.exitTimeoutMillis";
  static final long EXIT_MILLIS = 2000;
  static final String DISABLE_VARIABLE = "OBSERVATORY_DISABLED";
  static final String SERVICE_DRIVER = "spark-driver";
  static final String SERVICE_EXECUTOR = "spark-executor";
  static final String DRIVER_ID = "driver";
  static final String LABEL_SERVICE = "service.name";
  static final String LABEL_APP_ID = "spark.app.id";
  static final String LABEL_EXECUTOR_ID = "spark.executor.id";
  static final String FACT_CONTROL = "control.address";
  static final String S3A_BEANS = "Hadoop:service=s3a-file-system,name=*";
  static final String S3A_PREFIX = "hadoop.s3a.";
  static final String S3A_ANY_BUCKET = "any";
  static final long EXPORT_MILLIS = 10000;
  static final String ALLOCATION_SAMPLE = "2m";

  static final String[] HOST_LABELS = {
    "cluster",
    "node.role",
    "host.name",
  };

  static final String[][] S3A_COUNTERS = {
    {"store_io_request", "{request}"},
    {"store_io_retry", "{request}"},
    {"store_io_throttled", "{request}"},
    {"object_put_request", "{request}"},
    {"object_put_bytes", "By"},
    {"object_list_request", "{request}"},
    {"object_metadata_request", "{request}"},
    {"object_delete_request", "{request}"},
    {"object_copy_requests", "{request}"},
    {"stream_read_opened", "{stream}"},
    {"stream_read_seek_operations", "{operation}"},
    {"stream_read_bytes", "By"},
    {"stream_read_exceptions", "{error}"},
    {"stream_write_bytes", "By"},
    {"stream_write_exceptions", "{error}"},
    {"stream_write_queue_duration", "ms"},
    {"stream_write_total_time", "ms"},
    {"object_multipart_initiated", "{upload}"},
    {"object_multipart_aborted", "{upload}"},
    {"multipart_upload_part_put", "{part}"},
    {"multipart_upload_completed", "{upload}"},
    {"committer_commit_job", "{job}"},
    {"committer_tasks_completed", "{task}"},
    {"committer_bytes_committed", "By"},
  };
}
