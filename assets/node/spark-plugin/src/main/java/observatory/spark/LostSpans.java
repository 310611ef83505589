package observatory.spark;

import observatory.launcher.Signals;

/** The metric of the spans that are missing from traces. A JVM counts its own. */
final class LostSpans {
  private static final String[] REASONS = {"budget", "buffer", "refused"};

  private LostSpans() {}

  /** zeros: writes also the reasons for which none was lost. */
  static void write(Signals.MetricWriter out, long overBudget, boolean zeros) {
    long[] counts = {overBudget, Signals.spansDropped(), Signals.spansRefused()};
    out.sum("spark.span.dropped", "{span}", true);
    for (int i = 0; i < REASONS.length; i++) {
      if (counts[i] > 0 || zeros) {
        out.point(counts[i], "reason", REASONS[i]);
      }
    }
    out.end();
  }
}
