package observatory.launcher;

/**
 * Finds a driver's application id from inside its JVM: SparkContext writes spark.app.id into SparkEnv's
 * configuration once the cluster manager has assigned the id. SparkPlugin usually is earlier.
 */
final class DriverContext {
  /** A JVM that starts no context for so long sends its telemetry without an application id. */
  static final long UNLABELLED_MILLIS = 600_000;

  private static final long MIN_POLL_MILLIS = 200;
  private static final long MAX_POLL_MILLIS = 5000;
  private static final int POLLS = 50; // of one length, while it grows

  private final LoadedClasses classes;
  private Class<?> sparkEnv;

  DriverContext(LoadedClasses classes) {
    this.classes = classes;
  }

  /**
   * Waits until Signals has an id, or gives it one. Gives up after the time, unless a context is
   * starting: it has no id while YARN has no room, which may take hours.
   */
  void awaitApplicationId(long timeoutMillis) throws Exception {
    long begun = System.nanoTime();
    for (long waited = 0; ; waited = (System.nanoTime() - begun) / 1_000_000L) {
      Object env = env();
      String id = env == null ? null : applicationId(env);
      if (id != null) {
        Signals.identifyFirst(id);
      }
      long pause = Math.min(Math.max(waited / POLLS, MIN_POLL_MILLIS), MAX_POLL_MILLIS);
      if ((env == null && waited >= timeoutMillis) || Signals.awaitApplicationId(pause) != null) {
        return;
      }
    }
  }

  /** Returns the context's environment, null if there is none. */
  private Object env() throws Exception {
    if (sparkEnv == null) {
      sparkEnv = classes.find("org.apache.spark.SparkEnv");
    }
    return sparkEnv == null ? null : sparkEnv.getMethod("get").invoke(null);
  }

  private static String applicationId(Object env) throws Exception {
    Object conf = env.getClass().getMethod("conf").invoke(env);
    return (String)
        conf.getClass()
            .getMethod("get", String.class, String.class)
            .invoke(conf, "spark.app.id", null);
  }
}
