package observatory.spark;

import java.util.HashMap;
import java.util.Map;
import org.apache.spark.api.plugin.PluginContext;

/**
 * An executor's share of the budget of spans. It is asked for in a thread of its own, ahead of need. The
 * last spans of a trace are kept for tasks that fail, since samples would otherwise use up all of them.
 */
final class SpanGrants {
  private static final int TRACES = 64;
  private static final long AGAIN_NANOS = 10_000_000_000L;

  private static final class Grant {
    int left;
    int wanted = SpanBudget.FIRST_GRANT;
    boolean asking;

    /** When the driver last had none; 0: it had some. */
    long refused;

    /** Whether the refused request included spans for failed tasks. */
    boolean refusedFailed;

    /** Spans of failed tasks to ask for: as many as failed, and two before any did. */
    int failed = 2;
  }

  private final PluginContext plugin;
  private final Map<String, Grant> grants = new HashMap<String, Grant>();
  private long dropped;

  SpanGrants(PluginContext plugin) {
    this.plugin = plugin;
  }

  /** Asks for the first spans of a trace, so that they are there when a task ends. */
  synchronized void prepare(String trace) {
    if (!grants.containsKey(trace)) {
      grant(trace);
    }
  }

  /** Takes the place of one span; false, and counted, if there is none. */
  synchronized boolean take(String trace, boolean failed) {
    Grant grant = grant(trace);
    if (failed) {
      grant.failed = Math.min(SpanBudget.RESERVE, grant.failed + 1);
    }
    if (grant.left <= (failed ? 0 : SpanBudget.RESERVE)) {
      dropped++;
      return false;
    }
    grant.left--;
    return true;
  }

  /** How many spans had no place. */
  synchronized long dropped() {
    return dropped;
  }

  private Grant grant(String trace) {
    Grant grant = grants.get(trace);
    if (grant == null) {
      if (grants.size() >= TRACES) {
        grants.clear();
      }
      grant = new Grant();
      grants.put(trace, grant);
    }
    boolean wants = grant.left - SpanBudget.RESERVE < grant.wanted / 5 && !grant.asking;
    if (wants && mayAsk(grant)) {
      grant.asking = true;
      ask(trace, grant);
    }
    return grant;
  }

  private static boolean mayAsk(Grant grant) {
    return grant.refused == 0
        || System.nanoTime() - grant.refused > AGAIN_NANOS
        || lacking(grant) > 0 && !grant.refusedFailed;
  }

  /** How many spans of failed tasks to ask for: none while half of the reserve is left. */
  private static int lacking(Grant grant) {
    return grant.left < SpanBudget.RESERVE / 2 ? grant.failed : 0;
  }

  private void ask(String trace, final Grant grant) {
    final int failed = lacking(grant);
    final String request = trace + " " + plugin.executorID() + " " + dropped + " " + grant.wanted + " " + failed;
    Thread thread =
        new Thread("observatory-grant") {
          @Override
          public void run() {
            Object answer = null;
            try {
              answer = plugin.ask(request);
            } catch (Throwable t) {
              // The driver is busy or gone: no further spans for now.
            }
            granted(grant, answer instanceof Integer ? (Integer) answer : 0, failed);
          }
        };
    thread.setDaemon(true);
    thread.start();
  }

  /** failed: how many of the spans that were asked for are for failed tasks; others may have failed since. */
  private synchronized void granted(Grant grant, int count, int failed) {
    grant.left += count;
    grant.asking = false;
    if (count == 0) {
      grant.refused = Math.max(1, System.nanoTime());
      grant.refusedFailed = failed > 0;
      return;
    }
    grant.wanted = Math.min(2 * grant.wanted, SpanBudget.GRANT);
    grant.refused = 0;
    grant.failed = Math.max(0, grant.failed - failed);
  }
}
