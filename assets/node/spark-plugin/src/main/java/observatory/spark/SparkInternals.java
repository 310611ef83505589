package observatory.spark;

import java.lang.reflect.Method;
import java.util.Map;
import org.apache.spark.SparkContext;
import scala.Option;

/** What only Spark's inner objects know of a context. Whatever is not there is null, or -1. */
final class SparkInternals {
  static final String QUEUE = "observatory";

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
    Object value = call(gauge, "getValue");
    return value instanceof Number ? ((Number) value).longValue() : -1;
  }

  /** Events that did not fit our queue. */
  long dropped() {
    Object registry = call(call(call(context, "listenerBus"), "metrics"), "metricRegistry");
    Object counters = call(registry, "getCounters");
    Object counter = counters instanceof Map ? ((Map<?, ?>) counters).get("queue." + QUEUE + ".numDroppedEvents") : null;
    Object value = call(counter, "getCount");
    return value instanceof Number ? ((Number) value).longValue() : -1;
  }
}
