package observatory.spark;

import java.util.ArrayDeque;
import java.util.Deque;
import observatory.launcher.Signals;

/** Metrics of contexts that have ended. The latest ones keep their last values until the JVM ends. */
final class EndedSources {
  private final Deque<Signals.MetricSource> sources = new ArrayDeque<Signals.MetricSource>();

  synchronized void add(Signals.MetricSource source) {
    sources.add(source);
    if (sources.size() > Limits.ENDED_CONTEXTS) {
      Signals.remove(sources.remove());
    }
  }
}
