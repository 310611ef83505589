package observatory.spark;

import java.util.Arrays;
import observatory.spark.Facts.Executor;

/** What the constructor of a context waits for before it returns. */
final class Constructor {
  private static final long NEVER = Facts.NEVER;

  private Constructor() {}

  /** Until the end: in client mode for YARN's application master, then in either mode for executors. */
  static Intervals waits(PhaseEngine engine, long end) {
    Intervals waits = new Intervals();
    Deployment deployment = engine.deployment;
    if (!engine.started) {
      return waits;
    }
    if (!deployment.cluster) {
      waits.add(engine.start, Math.min(end, engine.driverRegistered));
    }
    if (deployment.awaited > 0) {
      long limit = Math.min(end, engine.start + deployment.waitMillis);
      waits.add(engine.driverRegistered, Math.min(limit, registered(engine, end)));
    }
    return waits;
  }

  /**
   * When, until the end, as many executors as are awaited were there at once; NEVER if not. Spark
   * counts them at their registration, and no longer once removed.
   */
  static long registered(PhaseEngine engine, long end) {
    if (engine.registered != NEVER) {
      return engine.registered;
    }
    long[] added = new long[engine.executors.size()];
    long[] removed = new long[added.length];
    int count = 0;
    for (Executor executor : engine.executors.values()) {
      if (executor.registered < executor.to) {
        added[count] = executor.registered;
        removed[count++] = executor.to;
      }
    }
    Arrays.sort(added, 0, count);
    Arrays.sort(removed, 0, count);
    int gone = 0;
    for (int i = 0; i < count && added[i] <= end; i++) {
      while (gone < count && removed[gone] <= added[i]) {
        gone++;
      }
      if (i + 1 - gone >= engine.deployment.awaited) {
        return added[i];
      }
    }
    return NEVER;
  }
}
