package observatory.launcher;

import java.util.Collections;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskFailedReason;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;

/**
 * The class that Spark is told (spark.plugins.defaultList). It loads the two halves of the plugin
 * proper from its own jar. Whatever they throw is said once, and the half is dropped: an exception of
 * a plugin would end the context.
 */
public final class SparkPlugin implements org.apache.spark.api.plugin.SparkPlugin {
  @Override
  public DriverPlugin driverPlugin() {
    return new Driver(load(PluginJar.DRIVER_HALF, DriverPlugin.class));
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    ExecutorPlugin half = load(PluginJar.EXECUTOR_HALF, ExecutorPlugin.class);
    return half == null ? null : new Executor(half);
  }

  private static <T> T load(String name, Class<T> type) {
    try {
      return type.cast(Class.forName(name).getConstructor().newInstance());
    } catch (Throwable t) {
      Notice.failed("plugin", t);
      return null;
    }
  }

  /** Calls the driver's half. */
  private static final class Driver implements DriverPlugin {
    private static final Pattern LOCAL = Pattern.compile("local(\\[.*)?");

    private volatile DriverPlugin half;
    private volatile PendingContext pending;

    Driver(DriverPlugin half) {
      this.half = half;
    }

    @Override
    public Map<String, String> init(SparkContext context, PluginContext plugin) {
      try {
        withdraw(context.conf());
        Signals.starting();
        pending = new PendingContext(context);
        pending.watch();
        if (half != null) {
          return half.init(context, plugin);
        }
      } catch (Throwable t) {
        failed(t);
      }
      return Collections.emptyMap();
    }

    @Override
    public void registerMetrics(String applicationId, PluginContext plugin) {
      try {
        Signals.identify(applicationId);
        endSearch();
        Signals.contextStopping(true);
        if (half != null) {
          half.registerMetrics(applicationId, plugin);
        }
      } catch (Throwable t) {
        failed(t);
      }
    }

    @Override
    public Object receive(Object message) {
      try {
        return half == null ? null : half.receive(message);
      } catch (Throwable t) {
        failed(t);
        return null;
      }
    }

    @Override
    public void shutdown() {
      endSearch();
      try {
        if (half != null) {
          half.shutdown();
        }
      } catch (Throwable t) {
        failed(t);
      } finally {
        Signals.traceApplication(null, null);
        Signals.contextStopping(false);
      }
    }

    private void endSearch() {
      PendingContext search = pending;
      if (search != null) {
        search.end();
      }
      if (!Signals.identity().settled) {
        Signals.identify(null);
      }
    }

    /**
     * Takes the plugin out of what executors are sent, which they ask for after this. Those with the
     * launcher name it themselves; the others could not load it. Tasks of a local master run here.
     */
    private static void withdraw(SparkConf conf) {
      String list = conf.get(PluginJar.DEFAULT_PLUGINS, "");
      if (list.isEmpty() || LOCAL.matcher(conf.get("spark.master", "")).matches()) {
        return;
      }
      String rest = PluginJar.without(list);
      if (rest == null) {
        conf.remove(PluginJar.DEFAULT_PLUGINS);
      } else {
        conf.set(PluginJar.DEFAULT_PLUGINS, rest);
      }
    }

    /** Drops the half, which unregisters itself: it would go on at the job's expense. */
    private void failed(Throwable t) {
      DriverPlugin dropped = half;
      half = null;
      Notice.say("plugin stopped", t);
      try {
        if (dropped instanceof AutoCloseable) {
          ((AutoCloseable) dropped).close();
        }
      } catch (Throwable again) {
        // The first failure has been said.
      }
    }
  }

  /** Calls the executor's half, in the threads of tasks too. */
  private static final class Executor implements ExecutorPlugin {
    private volatile ExecutorPlugin half;

    Executor(ExecutorPlugin half) {
      this.half = half;
    }

    @Override
    public void init(PluginContext plugin, Map<String, String> extraConf) {
      try {
        half.init(plugin, extraConf);
      } catch (Throwable t) {
        failed(t);
      }
    }

    @Override
    public void onTaskStart() {
      ExecutorPlugin current = half;
      try {
        if (current != null) {
          current.onTaskStart();
        }
      } catch (Throwable t) {
        failed(t);
      }
    }

    @Override
    public void onTaskSucceeded() {
      ExecutorPlugin current = half;
      try {
        if (current != null) {
          current.onTaskSucceeded();
        }
      } catch (Throwable t) {
        failed(t);
      } finally {
        Signals.leaveTask();
      }
    }

    @Override
    public void onTaskFailed(TaskFailedReason reason) {
      ExecutorPlugin current = half;
      try {
        if (current != null) {
          current.onTaskFailed(reason);
        }
      } catch (Throwable t) {
        failed(t);
      } finally {
        Signals.leaveTask();
      }
    }

    @Override
    public void shutdown() {
      ExecutorPlugin current = half;
      try {
        if (current != null) {
          current.shutdown();
        }
      } catch (Throwable t) {
        failed(t);
      }
    }

    private void failed(Throwable t) {
      synchronized (this) {
        if (half == null) {
          return; // another task's thread has said it
        }
        half = null;
      }
      Notice.say("plugin stopped", t);
    }
  }
}
