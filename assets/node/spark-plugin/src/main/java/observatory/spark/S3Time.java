package observatory.spark;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;

/**
 * Time that a task's thread spent in S3, from Hadoop's IOStatisticsContext (3.3.5 and later, S3A). A
 * stream adds its share when it is closed. Where that does not exist, as with EMRFS, there is nothing.
 */
final class S3Time {
  private static final String STATISTICS = "org.apache.hadoop.fs.statistics.";

  /**
   * Operations, and the beginnings of the names of the durations that they comprise. Durations of whole
   * calls of the file system (op_…) contain these, so they do not count again; a rename has no other.
   */
  private static final String[][] OPERATIONS = {
    {"put", "object_put_request"},
    {"get", "action_http_get_request"},
    {"multipart", "multipart_", "object_multipart_"},
    {"list", "object_list_request", "object_continue_list_request"},
    {"delete", "object_delete_request", "object_bulk_delete_request"},
    {"rename", "op_rename"},
    {"other", "action_http_head_request"},
  };

  private final MethodHandle current;
  private final Accessor snapshot;
  private final Accessor means;
  private final Accessor sum;

  /** Throws where Hadoop has no such statistics. */
  S3Time() throws ReflectiveOperationException {
    Class<?> context = Class.forName(STATISTICS + "IOStatisticsContext");
    current = MethodHandles.lookup().unreflect(context.getMethod("getCurrentIOStatisticsContext"));
    snapshot = Accessor.of(context, "snapshot");
    means = Accessor.of(Class.forName(STATISTICS + "IOStatisticsSnapshot"), "meanStatistics");
    sum = Accessor.of(Class.forName(STATISTICS + "MeanStatistic"), "getSum");
  }

  /** The calling thread's statistics. Hadoop forgets them unless somebody keeps them. */
  Object ofThread() throws Throwable {
    return current.invoke();
  }

  /** Milliseconds of each duration so far. */
  Map<String, Long> read(Object ofThread) {
    Map<?, ?> all = (Map<?, ?>) means.value(snapshot.value(ofThread));
    if (all == null || all.isEmpty()) {
      return Collections.emptyMap();
    }
    Map<String, Long> sums = new HashMap<String, Long>();
    for (Map.Entry<?, ?> e : all.entrySet()) {
      sums.put((String) e.getKey(), sum.number(e.getValue()));
    }
    return sums;
  }

  /** Seconds of each operation between two states of a thread. */
  static Map<String, Double> between(Map<String, Long> before, Map<String, Long> after) {
    Map<String, Double> seconds = new HashMap<String, Double>();
    for (Map.Entry<String, Long> e : after.entrySet()) {
      String operation = operation(e.getKey());
      Long was = before.get(e.getKey());
      long millis = e.getValue() - (was == null ? 0 : was);
      if (operation != null && millis > 0) {
        Double sum = seconds.get(operation);
        seconds.put(operation, millis / 1000.0 + (sum == null ? 0 : sum));
      }
    }
    return seconds;
  }

  private static String operation(String statistic) {
    for (String[] operation : OPERATIONS) {
      for (int i = 1; i < operation.length; i++) {
        if (statistic.startsWith(operation[i]) && !statistic.contains(".failures")) {
          return operation[0];
        }
      }
    }
    return null;
  }
}
