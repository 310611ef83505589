package observatory.spark;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How many spans the traces of an application may have: Tempo refuses what exceeds its limit of a
 * trace, and then drops what it wants. Executors get their share on request.
 */
final class SpanBudget {
  private static final int TRACES = 64;

  private final int limit;
  private long dropped;

  /** Spans of each trace, the oldest trace first; an old one's count is forgotten. */
  private final Map<String, int[]> taken =
      new LinkedHashMap<String, int[]>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, int[]> eldest) {
          return size() > TRACES;
        }
      };

  SpanBudget(int limit) {
    this.limit = limit;
  }

  /** Takes the place of one span; false, and counted, if there is none. */
  synchronized boolean take(String trace) {
    if (take(trace, 1, limit) == 1) {
      return true;
    }
    dropped++;
    return false;
  }

  /** Takes up to wanted places, as long as the trace has not reached a lower limit. */
  synchronized int take(String trace, int wanted, int until) {
    int[] count = taken.get(trace);
    if (count == null) {
      count = new int[1];
      taken.put(trace, count);
    }
    int granted = Math.max(0, Math.min(wanted, until - count[0]));
    count[0] += granted;
    return granted;
  }

  synchronized long dropped() {
    return dropped;
  }
}
