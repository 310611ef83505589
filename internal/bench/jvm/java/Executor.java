package org.apache.spark.executor;

/** Says when it begins, and lives for as long as its property asks, under a name the launcher knows. */
public class YarnCoarseGrainedExecutorBackend {
  public static void main(String[] arguments) throws Exception {
    System.out.println(System.currentTimeMillis());
    Thread.sleep(Long.getLong("bench.millis"));
  }
}
