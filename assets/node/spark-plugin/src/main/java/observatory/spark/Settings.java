package observatory.spark;

import org.apache.spark.SparkConf;

/** What the job's configuration says to the plugin. */
final class Settings {
  final String master;
  final String deployMode;
  final long submitTime;
  final String traceparent;
  final boolean tracing;
  final double samplingRatio;
  final TraceParent parent;
  final String[] airflow = new String[Platform.AIRFLOW.length];
  final Redaction redaction;

  Settings(SparkConf conf) {
    master = conf.get("spark.master", "");
    deployMode = conf.get("spark.submit.deployMode", "client");
    submitTime = number(conf.get("spark.app.submitTime", "0"));
    traceparent = conf.get(Platform.TRACEPARENT, null);
    String ratio = conf.get(Platform.SAMPLING_RATIO, null);
    tracing = ratio != null;
    samplingRatio = fraction(ratio);
    parent =
        TraceParent.ofApplication(
            traceparent,
            System.getenv("TRACEPARENT"),
            "cluster".equals(deployMode),
            System.getProperty("user.dir"),
            samplingRatio);
    for (int i = 0; i < airflow.length; i++) {
      airflow[i] = conf.get(Platform.AIRFLOW[i][0], "");
    }
    redaction = new Redaction(conf.get("spark.redaction.string.regex", null), conf.get("spark.redaction.regex", null));
  }

  static long number(String text) {
    try {
      return Long.parseLong(text.trim());
    } catch (NumberFormatException | NullPointerException e) {
      return 0;
    }
  }

  private static double fraction(String text) {
    try {
      return text == null ? 0 : Double.parseDouble(text.trim());
    } catch (NumberFormatException e) {
      return 1; // as without the key's value: somebody wanted traces
    }
  }
}
