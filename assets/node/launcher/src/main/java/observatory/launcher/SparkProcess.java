package observatory.launcher;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A Spark driver or executor, as its command line describes it. */
final class SparkProcess {
  private static final Pattern CONTAINER =
      Pattern.compile("container_(?:e\\d+_)?(\\d+)_(\\d+)_\\d+_\\d+");

  private static final Pattern CLUSTER_MODE =
      Pattern.compile(" (--deploy-mode[ =]|spark\\.submit\\.deployMode=)cluster( |$)");

  final String mainClass;
  final String service;
  final String executorId;

  /** Null for a client-mode driver: its application id exists only once its SparkContext does. */
  final String applicationId;

  private SparkProcess(String mainClass, String service, String executorId, String applicationId) {
    this.mainClass = mainClass;
    this.service = service;
    this.executorId = executorId;
    this.applicationId = applicationId;
  }

  /**
   * Parses the main class and its arguments. Returns null unless the JVM is a driver or executor;
   * history servers, YARN's executor launcher and other daemons are not instrumented.
   */
  static SparkProcess of(String command, String containerId) {
    String[] words = command.split(" ");
    String main = words[0];
    String fromContainer = applicationOf(containerId);
    if (main.equals("org.apache.spark.deploy.SparkSubmit")) {
      if (CLUSTER_MODE.matcher(command).find()) {
        return null; // the driver is elsewhere, and gets this JVM's system properties
      }
      return new SparkProcess(main, Platform.SERVICE_DRIVER, Platform.DRIVER_ID, null);
    }
    if (main.equals("org.apache.spark.deploy.yarn.ApplicationMaster")) {
      return new SparkProcess(main, Platform.SERVICE_DRIVER, Platform.DRIVER_ID, fromContainer);
    }
    if (main.equals("org.apache.spark.executor.YarnCoarseGrainedExecutorBackend")
        || main.equals("org.apache.spark.executor.CoarseGrainedExecutorBackend")) {
      String application = argument(words, "--app-id");
      return new SparkProcess(
          main,
          Platform.SERVICE_EXECUTOR,
          argument(words, "--executor-id"),
          application == null ? fromContainer : application);
    }
    return null;
  }

  boolean isDriver() {
    return service.equals(Platform.SERVICE_DRIVER);
  }

  private static String argument(String[] words, String name) {
    for (int i = 1; i + 1 < words.length; i++) {
      if (words[i].equals(name)) {
        return words[i + 1];
      }
    }
    return null;
  }

  private static String applicationOf(String containerId) {
    if (containerId == null) {
      return null;
    }
    Matcher m = CONTAINER.matcher(containerId);
    return m.matches() ? "application_" + m.group(1) + "_" + m.group(2) : null;
  }
}
