package observatory.spark;

import observatory.launcher.Signals;

/** Counts of values by size. */
final class Histogram {
  static final double[] TASK_SECONDS = {0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600};
  static final double[] LATENCY_SECONDS = {1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1800};

  /** None: each executor has these, and only their mean is read. */
  static final double[] EXECUTOR_TASK_SECONDS = {};

  /** From 64 KiB, below which blocks are too small, to 4 GiB. */
  static final double[] BYTES = {1 << 16, 1 << 20, 1 << 22, 1 << 24, 1 << 26, 1 << 27, 1 << 28, 1 << 29, 1L << 30, 1L << 32};

  private final double[] bounds;
  private final long[] counts;
  private double sum;
  private boolean used;

  Histogram(double[] bounds) {
    this.bounds = bounds;
    counts = new long[bounds.length + 1];
  }

  void add(double value) {
    int bucket = 0;
    while (bucket < bounds.length && value > bounds[bucket]) {
      bucket++;
    }
    counts[bucket]++;
    sum += value;
    used = true;
  }

  /** Adds what a histogram with the same bounds has counted. */
  void add(Histogram other) {
    for (int i = 0; i < counts.length; i++) {
      counts[i] += other.counts[i];
    }
    sum += other.sum;
    used |= other.used;
  }

  void point(Signals.MetricWriter out, Object... attributes) {
    if (used) {
      out.point(counts, bounds, sum, attributes);
    }
  }
}
