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
  private static final double CAUSE = 2;
  private static final double CAUSE_BYTES = 1 << 20;

  private double millis;

  /**
   * Takes the durations of a stage's tasks, the bytes that they read as input and from shuffles, and the
   * stage's own duration, 0 if it is unknown. warming: executors ran their first tasks in it, which are
   * slow; only uneven data then is skew. Times are in milliseconds.
   */
  void finish(Skew.Stage tasks, Skew.Stage shuffled, Skew.Stage input, long stage, long cores, boolean warming) {
    int count = tasks.count();
    if (count < 2 || warming && !uneven(shuffled) && !uneven(input)) {
      return;
    }
    double median = tasks.quantile(0.5);
    double longest = tasks.quantile(1);
    double high = count < FEW_TASKS ? longest : tasks.quantile(HIGH);
    double tail = longest - median;
    if (stage > 0) {
      tail = Math.min(tail, stage - Math.max(median, cores > 0 ? tasks.sum() / cores : 0));
    }
    if (high / Math.max(1, median) >= RATIO && tail >= EXCESS) {
      millis += tail;
    }
  }

  private static boolean uneven(Skew.Stage data) {
    double largest = data.quantile(1);
    return largest > CAUSE_BYTES && largest > CAUSE * data.quantile(0.5);
  }

  double seconds() {
    return millis / 1e3;
  }
}
