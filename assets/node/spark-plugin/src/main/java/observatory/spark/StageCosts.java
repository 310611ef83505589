package observatory.spark;

import observatory.launcher.Signals;

/**
 * What stages cost that are beyond the limits of the project's table of rules, as they are judged from the
 * history: a share of each stage's duration, or all of it for one that ran again. And what stages that write
 * computed, which is no cost of writing.
 */
final class StageCosts {
  private static final double MIN_RUN = 10_000;
  private static final double GC = 0.1;
  private static final double FETCH_WAIT = 0.2;
  private static final double SPILL = 256 << 20;
  private static final double TINY_MEDIAN = 500;
  private static final double TINY_P95 = 1000;
  private static final double TINY_TASKS = 100;
  private static final double LOW_PARALLELISM = 0.5;

  private double gc;
  private double fetchWait;
  private double spill;
  private double tinyTasks;
  private double lowParallelism;
  private double writeCompute;
  private double retries;
  private long retriedUntil;

  /** A stage's attempt: the sums of its tasks, in milliseconds and bytes. */
  static final class Stage {
    long run;
    long cpu;
    boolean writes;
    long lasted; // whether they succeeded or not, from their launch to their end
    long gc;
    long fetchWait;
    long spilled;
    long largestSpill;
    long moved;

    /** What a task's scheduling, deserialization and result took. */
    final Skew.Stage overheads = new Skew.Stage();

    /** The core-milliseconds that executors had offered, and the milliseconds that tasks had run, before it. */
    long offeredBefore = -1; // its submission was not seen

    long ranBefore;

    /** The cores that executors had while it ran, and the tasks of other stages, on average; 0 if unknown. */
    double cores;

    double others;
  }

  /**
   * Takes a stage's attempt that ended: how many tasks it has, the durations of those that succeeded, sorted,
   * and its own duration. Times are in milliseconds.
   */
  void finish(Stage stage, Skew.Stage durations, int tasks, long duration) {
    if (stage.run >= MIN_RUN) {
      double run = stage.run;
      gc += stage.gc / run >= GC ? Math.min(1, stage.gc / run) * duration : 0;
      fetchWait += stage.fetchWait / run >= FETCH_WAIT ? Math.min(1, stage.fetchWait / run) * duration : 0;
    }
    if (stage.largestSpill >= SPILL) {
      double twice = 2.0 * stage.spilled; // it is written and read
      spill += twice / (twice + stage.moved) * duration;
    }
    if (stage.writes) {
      writeCompute += Math.min(1, (stage.cpu + stage.gc + stage.fetchWait) / Math.max(1.0, stage.run)) * duration;
    }
    tinyTasks += overhead(stage, durations) * duration;
    lowParallelism += idleShare(stage, tasks) * duration;
  }

  /** Takes the times of an attempt after the first, in milliseconds. Attempts may overlap. */
  void ranAgain(long submitted, long completed) {
    if (submitted > 0) {
      retries += Math.max(0, completed - Math.max(submitted, retriedUntil));
      retriedUntil = Math.max(retriedUntil, completed);
    }
  }

  /** The share of a median task's time that was not its work; 0 unless there are many, all short. */
  private static double overhead(Stage stage, Skew.Stage durations) {
    if (durations.count() < TINY_TASKS) {
      return 0;
    }
    double median = durations.quantile(0.5);
    if (median > TINY_MEDIAN || durations.quantile(0.95) > TINY_P95) {
      return 0;
    }
    stage.overheads.end();
    return Math.min(1, stage.overheads.quantile(0.5) / Math.max(1, median));
  }

  /** The share of the cores free for the stage that it had no tasks for; 0 if it had for more than half of them. */
  private static double idleShare(Stage stage, int tasks) {
    if (stage.run - stage.fetchWait < MIN_RUN || tasks <= 0 || stage.cores <= 0 || tasks / stage.cores > LOW_PARALLELISM) {
      return 0;
    }
    double free = Math.max(tasks, stage.cores - stage.others);
    return tasks / free > LOW_PARALLELISM ? 0 : 1 - tasks / free;
  }

  void write(Signals.MetricWriter out) {
    out.sum("spark.stage.write.compute", "s", true);
    out.point(writeCompute / 1e3);
    out.end();
    out.sum("spark.stage.cost", "s", true);
    out.point(gc / 1e3, "rule", "gc");
    out.point(fetchWait / 1e3, "rule", "fetch_wait");
    out.point(spill / 1e3, "rule", "spill");
    out.point(tinyTasks / 1e3, "rule", "tiny_tasks");
    out.point(lowParallelism / 1e3, "rule", "low_parallelism");
    out.point(retries / 1e3, "rule", "stage_retries");
    out.end();
  }
}
