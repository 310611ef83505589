package observatory.spark;

import java.lang.reflect.Field;
import java.util.List;
import observatory.launcher.Signals;
import observatory.launcher.SparkPlugin;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;

/**
 * A half in a driver that fails after its init. Prints how many listeners and sources of metrics it has
 * registered before and after.
 */
public final class Withdrawn {
  private Withdrawn() {}

  public static void main(String[] args) throws Exception {
    SparkConf conf = new SparkConf(false).set("spark.master", "local[1]").set("spark.app.name", "withdrawn");
    conf.set("spark.ui.enabled", "false").set("spark.driver.host", "127.0.0.1").set("spark.driver.bindAddress", "127.0.0.1");
    SparkContext context = new SparkContext(conf);
    DriverPlugin driver = new SparkPlugin().driverPlugin();
    driver.init(context, new LocalContexts.Local(context.applicationId()));
    driver.registerMetrics(context.applicationId(), null);
    System.out.println("registered " + listeners(context) + " " + sources());
    driver.receive("not a request");
    System.out.println("failed " + listeners(context) + " " + sources());
    context.stop();
    driver.shutdown();
  }

  private static int listeners(SparkContext context) throws ReflectiveOperationException {
    Object bus = SparkContext.class.getMethod("listenerBus").invoke(context);
    int count = 0;
    for (Object listener : (List<?>) bus.getClass().getMethod("listeners").invoke(bus)) {
      count += listener instanceof AppListener ? 1 : 0;
    }
    return count;
  }

  private static int sources() throws ReflectiveOperationException {
    Field sources = Signals.class.getDeclaredField("SOURCES");
    sources.setAccessible(true);
    return ((List<?>) sources.get(null)).size();
  }
}
