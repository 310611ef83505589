package observatory.launcher;

import com.sun.management.OperatingSystemMXBean;
import java.io.File;
import java.lang.management.ManagementFactory;
import org.apache.spark.sql.SparkSession;

/**
 * Runs one Spark query again and again, alternately with and without async-profiler recording. Its
 * package gives it the launcher's own settings. Prints the CPU seconds of each pair: with, without.
 */
public final class Sampling {
  /** The query of examples/jobs/orders.py with an aggregate in place of its output. */
  private static final String QUERY =
      "with orders as (select id, if(id % 10 < 8, 7, id % 1000) as customer, sha2(string(id), 256) as digest"
          + " from range(0, 200000, 1, 8)),"
          + " customers as (select customer, count(*) as orders, max(digest) as last from orders group by customer)"
          + " select /*+ merge(customers) */ max(md5(digest)), max(orders) from orders join customers using (customer)";

  /** Enough for HotSpot to have compiled what the query runs. */
  private static final int WARM_UP = 25;

  private final SparkSession spark = SparkSession.builder().appName("bench").getOrCreate();
  private final OperatingSystemMXBean jvm = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
  private final AsyncProfiler profiler;
  private final ProfilerSettings settings;
  private final String recording;

  private Sampling(File node) throws Exception {
    profiler = new AsyncProfiler(new File(node, "async-profiler.jar"));
    NodeFacts facts = NodeFacts.read(new File(node, "node.properties").getPath());
    settings = new ProfilerSettings(SparkProcess.of("org.apache.spark.deploy.SparkSubmit", null), facts);
    recording = File.createTempFile("bench", ".jfr", node).getPath();
  }

  public static void main(String[] arguments) throws Exception {
    Sampling sampling = new Sampling(new File(arguments[0]));
    for (int i = 0; i < WARM_UP; i++) {
      sampling.query();
    }
    for (int i = 0; i < Integer.parseInt(arguments[1]); i++) {
      double without = i % 2 == 0 ? sampling.query() : 0;
      double with = sampling.recordedQuery();
      System.out.println(with + " " + (i % 2 == 0 ? without : sampling.query()));
    }
    sampling.spark.stop();
  }

  private double query() {
    long before = jvm.getProcessCpuTime();
    spark.sql(QUERY).collectAsList();
    return (jvm.getProcessCpuTime() - before) / 1e9;
  }

  /** Starting and stopping a recording is not counted: the profiler's own thread does that on a node. */
  private double recordedQuery() throws Exception {
    profiler.execute(settings.start(recording, true));
    double seconds = query();
    profiler.execute(settings.stop());
    return seconds;
  }
}
