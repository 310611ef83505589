package observatory.spark;

import java.util.HashMap;
import java.util.Map;
import org.apache.spark.api.plugin.PluginContext;

/** An executor's share of the budget of spans. It is asked for in a thread of its own, ahead of need. */
final class SpanGrants {
  private static final int TRACES = 64;
  private static final long AGAIN_NANOS = 10_000_000_000L;

  private static final class Grant {
    int left;
    int wanted = SpanBudget.FIRST_GRANT;
    boolean asking;
    long asked;
    long dropped;
  }

  private final PluginContext plugin;
  private final Map<String, Grant> grants = new HashMap<String, Grant>();

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
  synchronized boolean take(String trace) {
    Grant grant = grant(trace);
    if (grant.left == 0) {
      grant.dropped++;
      return false;
    }
    grant.left--;
    return true;
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
    boolean wants = grant.left < grant.wanted / 4 && !grant.asking;
    if (wants && (grant.asked == 0 || System.nanoTime() - grant.asked > AGAIN_NANOS)) {
      grant.asking = true;
      ask(trace, grant);
    }
    return grant;
  }

  private void ask(final String trace, final Grant grant) {
    final String request = trace + " " + grant.dropped + " " + grant.wanted;
    grant.dropped = 0;
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
            granted(grant, answer instanceof Integer ? (Integer) answer : 0);
          }
        };
    thread.setDaemon(true);
    thread.start();
  }

  private synchronized void granted(Grant grant, int count) {
    grant.left += count;
    grant.wanted = count > 0 ? Math.min(2 * grant.wanted, SpanBudget.GRANT) : grant.wanted;
    grant.asking = false;
    grant.asked = count > 0 ? 0 : Math.max(1, System.nanoTime());
  }
}
