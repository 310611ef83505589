package observatory.spark;

/**
 * How long skewed stages waited for their slowest tasks, all together. A stage is skewed by the
 * rule of the project's table of rules, as it is judged from the history.
 */
final class StageTail {
  private static final double RATIO = 3;
  private static final double FEW_TASKS = 20;
  private static final double EXCESS = 1000;
  private static final double HIGH = 0.95;

  private double millis;

  /** Takes the durations of a stage's tasks and the stage's own, 0 if it is unknown; in milliseconds. */
  void finish(Skew.Stage tasks, long stage) {
    int count = tasks.count();
    if (count < 2) {
      return;
    }
    double median = tasks.quantile(0.5);
    double longest = tasks.quantile(1);
    double high = count < FEW_TASKS ? longest : tasks.quantile(HIGH);
    double tail = longest - median;
    if (stage > 0) {
      tail = Math.min(tail, stage - median);
    }
    if (high / Math.max(1, median) >= RATIO && tail >= EXCESS) {
      millis += tail;
    }
  }

  double seconds() {
    return millis / 1e3;
  }
}
