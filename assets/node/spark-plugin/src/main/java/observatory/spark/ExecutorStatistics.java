package observatory.spark;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import observatory.launcher.Signals;

/** The life of an application's executors, and what their cores were used for. */
final class ExecutorStatistics {
  private static final String[] REASONS = {"idle", "lost", "decommissioned", "killed", "preempted", "memory", "other"};

  private static final class Executor {
    final long added;
    final long cores;
    int tasks;

    Executor(long added, long cores) {
      this.added = added;
      this.cores = cores;
    }
  }

  private final boolean dynamic;
  private final long coresPerExecutor;
  private final long coresPerTask;
  private final Map<String, Executor> live = new HashMap<String, Executor>();
  private final long[] removed = new long[REASONS.length];
  private final Histogram latency = new Histogram(Histogram.LATENCY_SECONDS);

  // Core-milliseconds.
  private long offered; // by executors that ended
  private long used; // by tasks that ended
  private double missing;
  private long idleBefore;
  private long runningTasks;
  private long runningSince; // sum of the launch times of the tasks that run
  private long sampled;

  private long added;
  private long warm; // of those that were added, how many had been when a stage ended

  ExecutorStatistics(Settings settings) {
    dynamic = settings.dynamicAllocation;
    coresPerExecutor = settings.coresPerExecutor;
    coresPerTask = settings.coresPerTask;
  }

  void added(String id, long time, Object info) {
    live.put(id, new Executor(time, Events.Executors.CORES.number(info)));
    added++;
    long requested = Events.Executors.REQUESTED.boxed(info);
    long registered = Events.Executors.REGISTERED.boxed(info);
    if (requested > 0 && registered >= requested) {
      latency.add((registered - requested) / 1000.0);
    }
  }

  void removed(String id, long time, String reason) {
    Executor executor = live.remove(id);
    if (executor != null) {
      offered += executor.cores * Math.max(0, time - executor.added);
      removed[reason(reason, dynamic)]++;
    }
  }

  /** The cores of the executors that there are now. */
  long cores() {
    long cores = 0;
    for (Executor executor : live.values()) {
      cores += executor.cores;
    }
    return cores;
  }

  /** The core-milliseconds that executors have offered until now. */
  long offered(long now) {
    long cores = offered;
    for (Executor executor : live.values()) {
      cores += executor.cores * Math.max(0, now - executor.added);
    }
    return cores;
  }

  /** The milliseconds that tasks have run until now, all together. */
  long ran(long now) {
    return busy(now) / coresPerTask;
  }

  private long busy(long now) {
    return used + coresPerTask * Math.max(0, runningTasks * now - runningSince);
  }

  /** Tells at the end of a stage whether executors were added since the last one ended. */
  boolean warmed() {
    boolean warmed = added > warm;
    warm = added;
    return warmed;
  }

  /** Classifies the text that Spark and YARN give. */
  static int reason(String text, boolean dynamic) {
    String reason = text == null ? "" : text.toLowerCase(Locale.ROOT);
    if (reason.contains("decommission")) {
      return 2;
    }
    if (reason.contains("preempted")) {
      return 4;
    }
    if (reason.contains("memory")) {
      return 5;
    }
    if (reason.contains("killed by driver")) {
      return dynamic ? 0 : 3; // dynamic allocation kills what is idle
    }
    if (reason.contains("killed")) {
      return 3;
    }
    boolean lost = reason.contains("lost") || reason.contains("timed out") || reason.contains("disassociated");
    return lost || reason.contains("exited") || reason.contains("failed") ? 1 : 6;
  }

  void taskStarted(String executorId, long launched) {
    runningTasks++;
    runningSince += launched;
    Executor executor = live.get(executorId);
    if (executor != null) {
      executor.tasks++;
    }
  }

  void taskEnded(String executorId, long launched, long finished, boolean wasRunning) {
    used += coresPerTask * Math.max(0, finished - launched);
    if (wasRunning) {
      runningTasks--;
      runningSince -= launched;
      Executor executor = live.get(executorId);
      if (executor != null) {
        executor.tasks--;
      }
    }
  }

  /** target is how many executors Spark wants, -1 if unknown. */
  void write(Signals.MetricWriter out, long now, long target) {
    long pending = Math.max(0, target - live.size());
    if (sampled > 0) {
      missing += (double) pending * coresPerExecutor * Math.max(0, now - sampled);
    }
    sampled = now;
    long active = 0;
    for (Executor executor : live.values()) {
      active += executor.tasks > 0 ? 1 : 0;
    }
    out.gauge("spark.executor.count", "{executor}");
    out.point(pending, "state", "pending");
    out.point(active, "state", "active");
    out.point(live.size() - active, "state", "idle");
    out.end();
    out.sum("spark.executor.removed", "{executor}", true);
    for (int i = 0; i < REASONS.length; i++) {
      out.point(removed[i], "reason", REASONS[i]);
    }
    out.end();
    long busy = busy(now);
    idleBefore = Math.max(idleBefore, offered(now) - busy);
    out.sum("spark.executor.core.time", "s", true);
    out.point(busy / 1000.0, "state", "busy");
    out.point(idleBefore / 1000.0, "state", "idle");
    out.point(missing / 1000.0, "state", "missing");
    out.end();
    out.histogram("spark.executor.allocation.latency", "s");
    latency.point(out);
    out.end();
  }
}
