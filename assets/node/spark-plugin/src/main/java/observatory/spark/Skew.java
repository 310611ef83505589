package observatory.spark;

import java.util.Arrays;
import observatory.launcher.Signals;

/** How far the largest task of a stage is from the others: the worst of the stages that ended. */
final class Skew {
  private static final int FEWEST = 3;
  private static final int MOST = 100_000;

  /** Below it a stage's largest task is too small to matter. */
  private final long floor;

  private double ofMedian;
  private double ofMean;

  Skew(long floor) {
    this.floor = floor;
  }

  /** The values of one stage's tasks; float is exact enough, and small. */
  static final class Stage {
    private float[] values = new float[4];
    private int count;

    void add(long value) {
      if (count == MOST) {
        return;
      }
      if (count == values.length) {
        values = Arrays.copyOf(values, count * 2);
      }
      values[count++] = value;
    }

    /** Sorts the values: from then on there are quantiles, and no more values. */
    void end() {
      Arrays.sort(values, 0, count);
    }

    int count() {
      return count;
    }

    double sum() {
      double sum = 0;
      for (int i = 0; i < count; i++) {
        sum += values[i];
      }
      return sum;
    }

    /** The value at index floor(q n), as in Spark's AppStatusStore.taskSummary. */
    double quantile(double q) {
      return values[Math.min((int) (q * count), count - 1)];
    }
  }

  void finish(Stage stage) {
    if (stage.count < FEWEST) {
      return;
    }
    double largest = stage.quantile(1);
    if (largest < floor) {
      return;
    }
    double median = stage.quantile(0.5);
    ofMean = Math.max(ofMean, largest / (stage.sum() / stage.count));
    if (median > 0) {
      ofMedian = Math.max(ofMedian, largest / median);
    }
  }

  void points(Signals.MetricWriter out, String measure) {
    if (ofMedian > 0) {
      out.point(ofMedian, "measure", measure, "of", "median");
    }
    if (ofMean > 0) {
      out.point(ofMean, "measure", measure, "of", "mean");
    }
  }
}
