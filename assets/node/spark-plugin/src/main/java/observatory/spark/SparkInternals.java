package observatory.spark;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.SparkListenerEvent;
import scala.Option;

/** What only Spark's inner objects know of a context. Whatever is not there is null, or -1. */
final class SparkInternals {
  static final String QUEUE = "observatory";

  private static final String PREFIX = "queue.";
  private static final String SIZE = ".size";
  private static final String CAPACITY = "spark.scheduler.listenerbus.eventqueue.";

  /** Spark's default. */
  private static final long DEFAULT_CAPACITY = 10_000;

  private final SparkContext context;

  SparkInternals(SparkContext context) {
    this.context = context;
  }

  private static Object call(Object target, String method, Object... arguments) {
    if (target == null) {
      return null;
    }
    try {
      for (Method candidate : target.getClass().getMethods()) {
        if (candidate.getName().equals(method) && candidate.getParameterCount() == arguments.length) {
          candidate.setAccessible(true); // its class may be private
          Object found = candidate.invoke(target, arguments);
          if (found instanceof Option) {
            Option<?> option = (Option<?>) found;
            return option.isEmpty() ? null : option.get();
          }
          return found;
        }
      }
    } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
      return null; // another build of Spark
    }
    return null;
  }

  /** Sends an event of ours to all listeners. */
  static void post(SparkContext context, SparkListenerEvent event) {
    call(call(context, "listenerBus"), "post", event);
  }

  /**
   * The application id that YARN has given, while the context still waits for the application master.
   * The backend's applicationId() would warn in the user's log.
   */
  String pendingApplicationId() {
    Object id = call(call(context, "schedulerBackend"), "appId");
    return id == null || id instanceof String ? null : id.toString();
  }

  /** How many executors dynamic allocation wants. */
  long targetExecutors() {
    Object source = call(call(context, "executorAllocationManager"), "executorAllocationManagerSource");
    Object gauges = call(call(source, "metricRegistry"), "getGauges");
    Object gauge = gauges instanceof Map ? ((Map<?, ?>) gauges).get("executors.numberTargetExecutors") : null;
    return number(gauge, "getValue");
  }

  /** The names of the listener queues. */
  List<String> queues() {
    List<String> names = new ArrayList<String>();
    Object gauges = call(registry(), "getGauges");
    if (gauges instanceof Map) {
      for (Object key : ((Map<?, ?>) gauges).keySet()) {
        String name = String.valueOf(key);
        if (name.startsWith(PREFIX) && name.endsWith(SIZE)) {
          names.add(name.substring(PREFIX.length(), name.length() - SIZE.length()));
        }
      }
    }
    return names;
  }

  /** Events that wait in a queue. */
  long waiting(String queue) {
    return number(metric("getGauges", queue, SIZE), "getValue");
  }

  /** Events that did not fit a queue. */
  long dropped(String queue) {
    return number(metric("getCounters", queue, ".numDroppedEvents"), "getCount");
  }

  /** How many events fit a queue. */
  long capacity(String queue) {
    SparkConf conf = context.getConf();
    String set = conf.get(CAPACITY + queue + ".capacity", conf.get(CAPACITY + "capacity", ""));
    long capacity = Settings.number(set);
    return capacity > 0 ? capacity : DEFAULT_CAPACITY;
  }

  private Object registry() {
    return call(call(call(context, "listenerBus"), "metrics"), "metricRegistry");
  }

  private Object metric(String kind, String queue, String name) {
    Object all = call(registry(), kind);
    return all instanceof Map ? ((Map<?, ?>) all).get(PREFIX + queue + name) : null;
  }

  private static long number(Object metric, String method) {
    Object value = call(metric, method);
    return value instanceof Number ? ((Number) value).longValue() : -1;
  }
}
