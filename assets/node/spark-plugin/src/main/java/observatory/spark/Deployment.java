package observatory.spark;

import org.apache.spark.SparkConf;

/** How an application was started, as far as its phases depend on it. */
final class Deployment {
  /** Of an application whose configuration is not known. */
  static final Deployment UNKNOWN = new Deployment(new SparkConf(false), null);

  /** SchedulerBackendUtils.DEFAULT_NUMBER_EXECUTORS. */
  static final long DEFAULT_EXECUTORS = 2;

  /** Of YarnSchedulerBackend and KubernetesClusterSchedulerBackend. */
  private static final double DEFAULT_RATIO = 0.8;

  final boolean local;
  final boolean cluster;

  /** Spark asks for executors as stages need them. */
  final boolean dynamic;

  /** The driver serves sessions, and is idle between their jobs. */
  final boolean sessions;

  /** 0 if unknown. */
  final long submitted;

  /**
   * So many registered executors does the context's constructor wait for before it returns
   * (TaskSchedulerImpl.waitBackendReady); 0: for none.
   */
  final long awaited;

  /** It returns without them so long after its start. */
  final long waitMillis;

  /** command is the driver's sun.java.command. */
  Deployment(SparkConf conf, String command) {
    String master = conf.get("spark.master", "");
    local = master.startsWith("local");
    cluster = "cluster".equals(Settings.deployMode(conf));
    dynamic = dynamicAllocation(conf);
    submitted = Settings.number(conf.get("spark.app.submitTime", "0"));
    boolean serves = false;
    for (String server : Platform.SESSION_SERVERS) {
      serves |= command != null && command.contains(server);
    }
    sessions = serves;
    awaited = local ? 0 : (long) Math.ceil(target(conf) * ratio(conf, master));
    waitMillis = local ? 0 : conf.getTimeAsMs("spark.scheduler.maxRegisteredResourcesWaitingTime", "30s");
  }

  /** SchedulerBackendUtils.getInitialTargetExecutorNumber, which is Spark's own. */
  private static long target(SparkConf conf) {
    String instances = conf.get("spark.executor.instances", null);
    if (!dynamicAllocation(conf)) {
      return instances == null ? DEFAULT_EXECUTORS : Settings.number(instances);
    }
    long least = Settings.number(conf.get("spark.dynamicAllocation.minExecutors", "0"));
    long first = Settings.number(conf.get("spark.dynamicAllocation.initialExecutors", "0"));
    return Math.max(Settings.number(instances), Math.max(least, first));
  }

  static boolean dynamicAllocation(SparkConf conf) {
    return Boolean.parseBoolean(conf.get("spark.dynamicAllocation.enabled", "").trim());
  }

  /** Whether a resource manager starts the executors, a number of them by default. */
  static boolean ofCluster(String master) {
    return master.startsWith("yarn") || master.startsWith("k8s");
  }

  private static double ratio(SparkConf conf, String master) {
    double ratio = ofCluster(master) ? DEFAULT_RATIO : 0;
    try {
      ratio = Double.parseDouble(conf.get("spark.scheduler.minRegisteredResourcesRatio", "").trim());
    } catch (NumberFormatException e) {
      // Not given: another value would have stopped the context.
    }
    return Math.min(1, ratio);
  }
}
