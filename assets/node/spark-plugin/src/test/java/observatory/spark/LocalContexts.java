package observatory.spark;

import com.codahale.metrics.MetricRegistry;
import java.lang.reflect.Field;
import java.util.Collections;
import java.util.Map;
import observatory.launcher.Signals;
import org.apache.spark.SparkConf;
import org.apache.spark.TaskContext$;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.resource.ResourceInformation;

/**
 * Twenty contexts of a local master, each with a task: prints how many sources of metrics are left, and
 * how many tasks the latest has counted.
 */
public final class LocalContexts {
  private LocalContexts() {}

  public static void main(String[] args) throws Exception {
    for (int context = 0; context < 20; context++) {
      ExecutorHalf half = new ExecutorHalf();
      half.init(new Local("local-" + context), Collections.<String, String>emptyMap());
      TaskContext$.MODULE$.setTaskContext(TaskContext$.MODULE$.empty());
      half.onTaskStart();
      half.onTaskSucceeded();
      TaskContext$.MODULE$.unset();
      half.shutdown();
    }
    Iterable<?> sources = (Iterable<?>) field(Signals.class, "SOURCES").get(null);
    int count = 0;
    Object latest = null;
    for (Object source : sources) {
      count++;
      latest = source;
    }
    Object tasks = field(ExecutorMetrics.class, "compute").get(latest);
    System.out.println(
        count + " " + ((ExecutorMetrics) latest).applicationId() + " " + field(Histogram.class, "used").get(tasks));
  }

  private static Field field(Class<?> type, String name) throws ReflectiveOperationException {
    Field field = type.getDeclaredField(name);
    field.setAccessible(true);
    return field;
  }

  /** What Spark tells a plugin in the JVM of a local master. */
  static class Local implements PluginContext {
    private final SparkConf conf;

    Local(String id) {
      conf = new SparkConf(false).set("spark.master", "local[1]").set("spark.app.id", id);
    }

    @Override
    public SparkConf conf() {
      return conf;
    }

    @Override
    public MetricRegistry metricRegistry() {
      return null;
    }

    @Override
    public String executorID() {
      return "driver";
    }

    @Override
    public String hostname() {
      return "host";
    }

    @Override
    public Map<String, ResourceInformation> resources() {
      return Collections.emptyMap();
    }

    @Override
    public void send(Object message) {}

    @Override
    public Object ask(Object message) {
      return null;
    }
  }
}
