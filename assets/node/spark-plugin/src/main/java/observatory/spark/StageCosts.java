package observatory.spark;

import observatory.launcher.Signals;

/**
 * What garbage collection, waiting for shuffle blocks and spilling cost the stages in which they are beyond
 * the limits of the project's table of rules, as they are judged from the history: a share of each stage's
 * duration.
 */
final class StageCosts {
  private static final double MIN_RUN = 10_000;
  private static final double GC = 0.1;
  private static final double FETCH_WAIT = 0.2;
  private static final double SPILL = 256 << 20;

  private double gc;
  private double fetchWait;
  private double spill;

  /** The sums of a stage's tasks, in milliseconds and bytes. */
  static final class Stage {
    long run;
    long gc;
    long fetchWait;
    long spilled;
    long largestSpill;
    long moved;
  }

  /** Takes the sums of a stage that ended, and its duration in milliseconds. */
  void finish(Stage stage, long duration) {
    if (stage.run >= MIN_RUN) {
      double run = stage.run;
      gc += stage.gc / run >= GC ? Math.min(1, stage.gc / run) * duration : 0;
      fetchWait += stage.fetchWait / run >= FETCH_WAIT ? Math.min(1, stage.fetchWait / run) * duration : 0;
    }
    if (stage.largestSpill >= SPILL) {
      double twice = 2.0 * stage.spilled; // it is written and read
      spill += twice / (twice + stage.moved) * duration;
    }
  }

  void write(Signals.MetricWriter out) {
    out.sum("spark.stage.cost", "s", true);
    out.point(gc / 1e3, "rule", "gc");
    out.point(fetchWait / 1e3, "rule", "fetch_wait");
    out.point(spill / 1e3, "rule", "spill");
    out.end();
  }
}
