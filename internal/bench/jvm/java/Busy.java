import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import org.apache.spark.sql.SparkSession;

/**
 * Prints when its main method begins, and runs queries for a given time. Then it prints the CPU seconds of
 * the launcher's threads without the profiler's, of the plugin's listener, and of the JVM.
 */
public class Busy {
  /** The query of examples/jobs/orders.py with an aggregate in place of its output. */
  private static final String QUERY =
      "with orders as (select id, if(id % 10 < 8, 7, id % 1000) as customer, sha2(string(id), 256) as digest"
          + " from range(0, 200000, 1, 8)),"
          + " customers as (select customer, count(*) as orders, max(digest) as last from orders group by customer)"
          + " select /*+ merge(customers) */ max(md5(digest)), max(orders) from orders join customers using (customer)";

  public static void main(String[] arguments) {
    System.out.println(System.currentTimeMillis());
    long end = System.nanoTime() + Long.parseLong(arguments[0]) * 1_000_000L;
    try (SparkSession spark = SparkSession.builder().appName("bench").getOrCreate()) {
      do {
        spark.sql(QUERY).collectAsList();
      } while (System.nanoTime() < end);
      OperatingSystemMXBean jvm = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
      System.out.println("threads " + exporter() + " " + ofThreads("spark-listener-group-observatory") + " " + jvm.getProcessCpuTime() / 1e9);
    }
  }

  private static double exporter() {
    return ofThreads("observatory-") - ofThreads("observatory-profiler");
  }

  private static double ofThreads(String prefix) {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    double nanos = 0;
    for (long id : threads.getAllThreadIds()) {
      ThreadInfo thread = threads.getThreadInfo(id);
      if (thread != null && thread.getThreadName().startsWith(prefix)) {
        nanos += Math.max(0, threads.getThreadCpuTime(id));
      }
    }
    return nanos / 1e9;
  }
}
