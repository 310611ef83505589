package observatory.spark;

import java.util.Map;
import java.util.TreeMap;
import observatory.launcher.Signals;

/** What only an executor knows of its tasks. Few series: there may be hundreds of executors. */
final class ExecutorMetrics implements Signals.MetricSource {
  private final Histogram compute = new Histogram(Histogram.EXECUTOR_TASK_SECONDS);
  private final Histogram write = new Histogram(Histogram.EXECUTOR_TASK_SECONDS);
  private final Map<String, Double> s3Seconds = new TreeMap<String, Double>();
  private volatile String applicationId;

  /** null in the driver's JVM, whose own metrics count all that it drops. */
  private final SpanGrants grants;

  ExecutorMetrics(SpanGrants grants) {
    this.grants = grants;
  }

  void identify(String id) {
    applicationId = id;
  }

  @Override
  public String applicationId() {
    return applicationId;
  }

  synchronized void add(double seconds, boolean wrote) {
    (wrote ? write : compute).add(seconds);
  }

  synchronized void addS3(Map<String, Double> seconds) {
    for (Map.Entry<String, Double> e : seconds.entrySet()) {
      Double sum = s3Seconds.get(e.getKey());
      s3Seconds.put(e.getKey(), e.getValue() + (sum == null ? 0 : sum));
    }
  }

  @Override
  public synchronized void write(Signals.MetricWriter out) {
    out.histogram("spark.executor.task.duration", "s");
    compute.point(out, "kind", "compute");
    write.point(out, "kind", "write");
    out.end();
    out.sum("spark.task.s3.time", "s", true);
    for (Map.Entry<String, Double> e : s3Seconds.entrySet()) {
      out.point(e.getValue().doubleValue(), "operation", e.getKey());
    }
    out.end();
    if (grants != null) {
      LostSpans.write(out, grants.dropped(), false);
    }
  }
}
