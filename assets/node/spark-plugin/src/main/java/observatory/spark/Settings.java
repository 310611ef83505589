package observatory.spark;

import org.apache.spark.SparkConf;

/** What the job's configuration says to the plugin. */
final class Settings {
  final String master;
  final String deployMode;
  final String traceparent;
  final boolean tracing;
  final double samplingRatio;
  final TraceParent parent;
  final String[] airflow = new String[Platform.AIRFLOW.length];
  final Redaction redaction;

  final String name;
  final boolean dynamicAllocation;
  final long executors;
  final long coresPerExecutor;
  final long coresPerTask;

  /** parent is the application's, null if it has none. */
  private Settings(SparkConf conf, TraceParent parent) {
    this.parent = parent;
    master = conf.get("spark.master", "");
    deployMode = deployMode(conf);
    name = conf.get("spark.app.name", "");
    traceparent = conf.get(Platform.TRACEPARENT, null);
    tracing = conf.contains(Platform.SAMPLING_RATIO);
    samplingRatio = ratio(conf);
    for (int i = 0; i < airflow.length; i++) {
      airflow[i] = conf.get(Platform.AIRFLOW[i][0], "");
    }
    redaction = new Redaction(conf.get("spark.redaction.string.regex", null), conf.get("spark.redaction.regex", null));
    dynamicAllocation = Deployment.dynamicAllocation(conf);
    String unset = Deployment.ofCluster(master) ? Long.toString(Deployment.DEFAULT_EXECUTORS) : "-1";
    executors = number(conf.get("spark.executor.instances", unset));
    coresPerExecutor = Math.max(1, number(conf.get("spark.executor.cores", "1")));
    coresPerTask = Math.max(1, number(conf.get("spark.task.cpus", "1")));
  }

  static Settings ofDriver(SparkConf conf) {
    boolean cluster = "cluster".equals(deployMode(conf));
    String directory = System.getProperty("user.dir");
    String traceparent = conf.get(Platform.TRACEPARENT, null);
    return new Settings(
        conf, TraceParent.ofApplication(traceparent, System.getenv("TRACEPARENT"), cluster, directory, ratio(conf)));
  }

  /** parent is what the driver found, as it wrote it. */
  static Settings ofExecutor(SparkConf conf, String parent) {
    return new Settings(conf, TraceParent.parse(parent));
  }

  static String deployMode(SparkConf conf) {
    return conf.get("spark.submit.deployMode", "client");
  }

  /** The step of EMR that runs this driver, "" if none does. */
  String step() {
    return "cluster".equals(deployMode) ? "" : TraceParent.step(System.getProperty("user.dir"));
  }

  static long number(String text) {
    try {
      return text == null ? 0 : Long.parseLong(text.trim());
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  private static double ratio(SparkConf conf) {
    try {
      return Double.parseDouble(conf.get(Platform.SAMPLING_RATIO, "0").trim());
    } catch (NumberFormatException e) {
      return 1; // somebody wanted traces
    }
  }
}
