package observatory.launcher;

/**
 * Finds a driver's application id from inside its JVM: SparkContext writes spark.app.id into SparkEnv's
 * configuration once the cluster manager has assigned the id.
 */
final class DriverContext {
  private static final long POLL_MILLIS = 200;

  private final LoadedClasses classes;
  private Class<?> sparkEnv;

  DriverContext(LoadedClasses classes) {
    this.classes = classes;
  }

  /** Waits for the id; returns null if none appears in time. */
  String awaitApplicationId(long timeoutMillis) throws Exception {
    long deadline = System.nanoTime() + timeoutMillis * 1_000_000L;
    while (System.nanoTime() < deadline) {
      String id = applicationId();
      if (id != null) {
        return id;
      }
      Thread.sleep(POLL_MILLIS);
    }
    return null;
  }

  private String applicationId() throws Exception {
    if (sparkEnv == null) {
      sparkEnv = classes.find("org.apache.spark.SparkEnv");
    }
    if (sparkEnv == null) {
      return null;
    }
    Object env = sparkEnv.getMethod("get").invoke(null);
    if (env == null) {
      return null;
    }
    Object conf = env.getClass().getMethod("conf").invoke(env);
    return (String)
        conf.getClass()
            .getMethod("get", String.class, String.class)
            .invoke(conf, "spark.app.id", null);
  }
}
