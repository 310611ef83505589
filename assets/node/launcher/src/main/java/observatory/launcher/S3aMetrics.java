package observatory.launcher;

import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import javax.management.Attribute;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * Counters of the S3A file system (org.apache.hadoop.fs.s3a.Statistic). Each file system object has a
 * bean, which is unregistered on close; the sums here never decrease.
 *
 * A job may have hundreds of executors, each with these series. An executor therefore sends a counter once
 * it is above zero, and counts all buckets together. A driver's sums are by bucket, and it sends the zeros
 * as well, so that a job without retries has a line at zero.
 */
final class S3aMetrics implements Otlp.Source {
  private static final String BUCKET = "tag.bucket";
  private static final int NAME = 0;
  private static final int UNIT = 1;

  private final String[] attributes = new String[Platform.S3A_COUNTERS.length + 1];
  private final Map<String, long[]> sums = new TreeMap<String, long[]>();
  private final boolean driver;
  private Map<ObjectName, long[]> seen = new HashMap<ObjectName, long[]>();

  S3aMetrics(boolean driver) {
    this.driver = driver;
    for (int i = 0; i < Platform.S3A_COUNTERS.length; i++) {
      attributes[i] = Platform.S3A_COUNTERS[i][NAME];
    }
    attributes[Platform.S3A_COUNTERS.length] = BUCKET;
  }

  @Override
  public void write(Signals.MetricWriter out) throws JMException {
    read();
    for (int i = 0; i < Platform.S3A_COUNTERS.length; i++) {
      out.sum(Platform.S3A_PREFIX + Platform.S3A_COUNTERS[i][NAME], Platform.S3A_COUNTERS[i][UNIT], true);
      for (Map.Entry<String, long[]> e : sums.entrySet()) {
        long value = e.getValue()[i];
        if (value > 0 || driver) {
          out.point(value, "bucket", e.getKey());
        }
      }
      out.end();
    }
  }

  private void read() throws JMException {
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    Map<ObjectName, long[]> found = new HashMap<ObjectName, long[]>();
    for (ObjectName bean : server.queryNames(new ObjectName(Platform.S3A_BEANS), null)) {
      long[] values = new long[Platform.S3A_COUNTERS.length];
      String bucket = read(server, bean, values);
      if (bucket == null) {
        continue;
      }
      found.put(bean, values);
      add(driver ? bucket : Platform.S3A_ANY_BUCKET, values, seen.get(bean));
    }
    seen = found;
  }

  /** Reads a bean's counters and returns its bucket, or null if the bean has been unregistered. */
  private String read(MBeanServer server, ObjectName bean, long[] values) {
    Map<String, Object> byName = new HashMap<String, Object>();
    try {
      for (Object a : server.getAttributes(bean, attributes)) {
        byName.put(((Attribute) a).getName(), ((Attribute) a).getValue());
      }
    } catch (JMException closedMeanwhile) {
      return null;
    }
    for (int i = 0; i < values.length; i++) {
      Object value = byName.get(attributes[i]);
      values[i] = value instanceof Number ? ((Number) value).longValue() : 0;
    }
    Object bucket = byName.get(BUCKET);
    return bucket == null ? null : bucket.toString();
  }

  private void add(String bucket, long[] values, long[] before) {
    long[] sum = sums.get(bucket);
    if (sum == null) {
      sum = new long[values.length];
      sums.put(bucket, sum);
    }
    for (int i = 0; i < values.length; i++) {
      sum[i] += Math.max(0, values[i] - (before == null ? 0 : before[i]));
    }
  }
}
