package observatory.launcher;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ClassLoadingMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** The stable JVM metrics of OpenTelemetry's semantic conventions ("Semantic conventions for JVM"). */
final class JvmMetrics implements Otlp.Source {
  private static final double NANOS = 1e9;

  @Override
  public void write(Signals.MetricWriter out) {
    memory(out);
    threads(out);
    ClassLoadingMXBean classes = ManagementFactory.getClassLoadingMXBean();
    single(out, "jvm.class.loaded", "{class}", true, classes.getTotalLoadedClassCount());
    single(out, "jvm.class.unloaded", "{class}", true, classes.getUnloadedClassCount());
    single(out, "jvm.class.count", "{class}", false, classes.getLoadedClassCount());
    cpu(out);
  }

  private static void single(Signals.MetricWriter out, String name, String unit, boolean monotonic, long value) {
    out.sum(name, unit, monotonic);
    out.point(value);
    out.end();
  }

  private static void memory(Signals.MetricWriter out) {
    List<MemoryPoolMXBean> pools = ManagementFactory.getMemoryPoolMXBeans();
    MemoryUsage[] now = new MemoryUsage[pools.size()];
    MemoryUsage[] collected = new MemoryUsage[pools.size()];
    for (int i = 0; i < now.length; i++) {
      now[i] = pools.get(i).getUsage();
      collected[i] = pools.get(i).getCollectionUsage();
    }
    for (String part : new String[] {"used", "committed", "limit", "used_after_last_gc"}) {
      out.sum("jvm.memory." + part, "By", false);
      for (int i = 0; i < now.length; i++) {
        long value = part(part.equals("used_after_last_gc") ? collected[i] : now[i], part);
        if (value >= 0) {
          MemoryPoolMXBean pool = pools.get(i);
          out.point(
              value,
              "jvm.memory.type",
              pool.getType() == MemoryType.HEAP ? "heap" : "non_heap",
              "jvm.memory.pool.name",
              pool.getName());
        }
      }
      out.end();
    }
  }

  /** Below zero where a pool has no such value. */
  private static long part(MemoryUsage usage, String part) {
    if (usage == null) {
      return -1;
    }
    if (part.equals("committed")) {
      return usage.getCommitted();
    }
    return part.equals("limit") ? usage.getMax() : usage.getUsed();
  }

  /** Counts Thread objects: a ThreadMXBean would walk stacks. */
  private static void threads(Signals.MetricWriter out) {
    ThreadGroup root = Thread.currentThread().getThreadGroup();
    while (root.getParent() != null) {
      root = root.getParent();
    }
    Thread[] threads = new Thread[root.activeCount() * 2 + 16];
    int found = root.enumerate(threads, true);
    Map<String, Long> daemons = new TreeMap<String, Long>();
    Map<String, Long> others = new TreeMap<String, Long>();
    for (int i = 0; i < found; i++) {
      Map<String, Long> counts = threads[i].isDaemon() ? daemons : others;
      String state = threads[i].getState().name().toLowerCase(Locale.ROOT);
      Long count = counts.get(state);
      counts.put(state, count == null ? 1 : count + 1);
    }
    out.sum("jvm.thread.count", "{thread}", false);
    threads(out, daemons, true);
    threads(out, others, false);
    out.end();
  }

  private static void threads(Signals.MetricWriter out, Map<String, Long> counts, boolean daemon) {
    for (Map.Entry<String, Long> e : counts.entrySet()) {
      out.point(e.getValue().longValue(), "jvm.thread.daemon", daemon, "jvm.thread.state", e.getKey());
    }
  }

  private static void cpu(Signals.MetricWriter out) {
    single(out, "jvm.cpu.count", "{cpu}", false, Runtime.getRuntime().availableProcessors());
    Object system = ManagementFactory.getOperatingSystemMXBean();
    if (!(system instanceof OperatingSystemMXBean)) {
      return;
    }
    OperatingSystemMXBean process = (OperatingSystemMXBean) system;
    if (process.getProcessCpuTime() >= 0) {
      out.sum("jvm.cpu.time", "s", true);
      out.point(process.getProcessCpuTime() / NANOS);
      out.end();
    }
    double load = process.getProcessCpuLoad();
    if (load >= 0) {
      out.gauge("jvm.cpu.recent_utilization", "1");
      out.point(load);
      out.end();
    }
  }
}
