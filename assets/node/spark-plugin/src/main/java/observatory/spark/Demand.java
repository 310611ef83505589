package observatory.spark;

import java.util.HashMap;
import java.util.Map;
import observatory.spark.Facts.Attempt;
import observatory.spark.Facts.Executor;

/**
 * When attempts of stages were open, and which executors could run their tasks.
 *
 * An executor that is decommissioned counts until it is removed: Spark gives it no tasks, but no event says
 * so. EMR's Spark has a list of such hosts of its own, which is seen if EMR sends Spark's event of an excluded
 * host.
 */
final class Demand {
  private Demand() {}

  /** When, until the end, no executor could run a task of any open attempt. */
  static Intervals unserved(PhaseEngine engine, long end) {
    Intervals all = new Intervals();
    Intervals served = new Intervals();
    Map<Long, Intervals> byProfile = new HashMap<Long, Intervals>();
    for (Map.Entry<Long, Attempt> e : engine.attempts.entrySet()) {
      Attempt attempt = e.getValue();
      if (attempt.submitted <= 0) {
        continue;
      }
      long to = Math.min(end, attempt.completed);
      if (engine.exclusions.concern(e.getKey())) {
        Intervals open = Intervals.of(attempt.submitted, to);
        all.addAll(open);
        served.addAll(Intervals.and(open, usable(engine, attempt.profile, e.getKey(), end)));
        continue;
      }
      Intervals open = byProfile.get(attempt.profile);
      if (open == null) {
        open = new Intervals();
        byProfile.put(attempt.profile, open);
      }
      open.add(attempt.submitted, to);
    }
    for (Map.Entry<Long, Intervals> e : byProfile.entrySet()) {
      all.addAll(e.getValue());
      served.addAll(Intervals.and(e.getValue(), usable(engine, e.getKey(), null, end)));
    }
    return Intervals.minus(all, served);
  }

  /**
   * When an executor could run such tasks: not before the application has launched its first. Without dynamic
   * allocation all executors have the default profile, and run the tasks of any other.
   */
  private static Intervals usable(PhaseEngine engine, long profile, Long attempt, long end) {
    Intervals usable = new Intervals();
    for (Map.Entry<String, Executor> e : engine.executors.entrySet()) {
      Executor executor = e.getValue();
      if (executor.profile == profile || !engine.deployment.dynamic) {
        Intervals live = Intervals.of(Math.max(executor.from(), engine.firstLaunch), Math.min(end, executor.to));
        usable.addAll(Intervals.minus(live, engine.exclusions.times(e.getKey(), executor.host, attempt)));
      }
    }
    return usable;
  }
}
