package observatory.spark;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How many spans, and how much text, the traces of an application may have: Tempo refuses what exceeds
 * its limit of a trace. The driver's spans and the executors' have separate shares, so that the
 * parents of those that are kept are kept.
 */
final class SpanBudget {
  /** Spans that an executor gets at a time at most. */
  static final int GRANT = 100;

  /** Spans that it gets at first: there may be hundreds of executors, most of which need few. */
  static final int FIRST_GRANT = 20;

  /** Of these, spans that only its failed tasks may have. */
  static final int RESERVE = 10;

  private static final int TRACES = 1_000;
  private static final int EXECUTORS = (int) Platform.SPAN_BUDGET * 3 / 10;

  /** The executors' last spans: only their failed tasks may have these. */
  private static final int FAILED = EXECUTORS / 3;

  private static final int DRIVER = (int) Platform.SPAN_BUDGET - EXECUTORS - Limits.PHASE_SPANS - 1;

  private static final class Trace {
    int driver;
    int executors;
    long text;
  }

  private long dropped;

  /** The spans that each executor has dropped, by its own count so far. */
  private final Map<String, Long> droppedByExecutors = new HashMap<String, Long>();

  /** The application's own trace, which is never forgotten. */
  private final Trace own = new Trace();

  private String ownId;

  /** The trace that got no span for the longest time first; its count is forgotten. */
  private final Map<String, Trace> traces =
      new LinkedHashMap<String, Trace>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Trace> eldest) {
          return size() > TRACES;
        }
      };

  /** Names the application's own trace. */
  synchronized void own(String id) {
    ownId = id;
  }

  private Trace trace(String id) {
    if (id.equals(ownId)) {
      return own;
    }
    Trace trace = traces.get(id);
    if (trace == null) {
      trace = new Trace();
      traces.put(id, trace);
    }
    return trace;
  }

  /** Takes the place of one span of the driver's; false, and counted, if there is none. */
  synchronized boolean take(String id) {
    Trace trace = trace(id);
    if (trace.driver >= DRIVER) {
      dropped++;
      return false;
    }
    trace.driver++;
    return true;
  }

  /**
   * Returns how many of the spans that an executor asks for it gets; failed is how many of them are for
   * failed tasks. It gets none once the driver's share is spent: the parents of their spans would be
   * dropped.
   */
  synchronized int grant(String id, int wanted, int failed) {
    Trace trace = trace(id);
    if (trace.driver >= DRIVER) {
      return 0;
    }
    int left = EXECUTORS - trace.executors;
    int any = Math.max(0, Math.min(Math.min(wanted, GRANT), left - FAILED));
    int granted = Math.max(any, Math.min(failed, left));
    trace.executors += granted;
    return granted;
  }

  /** Tells whether a text may be sent: half of the bytes are for texts. */
  synchronized boolean text(String id, String text) {
    Trace trace = trace(id);
    int size = text == null ? 0 : bytes(text);
    if (trace.text + size > Platform.SPAN_BUDGET_BYTES / 2) {
      return false;
    }
    trace.text += size;
    return true;
  }

  /** The length of a text in UTF-8, in which it is sent. */
  static int bytes(String text) {
    int bytes = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      // Two characters make a code point beyond 16 bits, of four bytes.
      bytes += c < 0x80 ? 1 : c < 0x800 || Character.isSurrogate(c) ? 2 : 3;
    }
    return bytes;
  }

  synchronized void drop(long count) {
    dropped += count;
  }

  /**
   * Takes note of how many spans an executor has dropped since its start. It may tell an old count again: its
   * requests are answered in any order, and an answer may be lost.
   */
  synchronized void droppedBy(String executor, long total) {
    if (total > droppedBy(executor)) {
      droppedByExecutors.put(executor, total);
    }
  }

  private long droppedBy(String executor) {
    Long known = droppedByExecutors.get(executor);
    return known == null ? 0 : known;
  }

  /** How many spans of the driver's JVM were dropped: with a local master also those of tasks. */
  synchronized long dropped() {
    return dropped + droppedBy(Platform.DRIVER_ID);
  }

  /** How many spans were dropped in all, as far as executors have told it. */
  synchronized long droppedByAll() {
    long all = dropped;
    for (Long count : droppedByExecutors.values()) {
      all += count;
    }
    return all;
  }
}
