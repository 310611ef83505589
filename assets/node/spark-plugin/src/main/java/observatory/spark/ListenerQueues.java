package observatory.spark;

import java.util.Map;
import java.util.TreeMap;
import observatory.launcher.Signals;

/** How full Spark's listener queues are, and what they dropped (org.apache.spark.scheduler.LiveListenerBus). */
final class ListenerQueues {
  /** More than Spark has: a user's listener may have a queue of its own. */
  private static final int MOST = 10;

  private static final class Queue {
    private long capacity;
    private long waiting;
    private long dropped;
  }

  private final Map<String, Queue> queues = new TreeMap<String, Queue>();

  /** Takes the latest numbers of each queue. */
  synchronized void sample(SparkInternals internals) {
    for (String name : internals.queues()) {
      Queue queue = queues.get(name);
      if (queue == null && queues.size() < MOST) {
        queue = new Queue();
        queue.capacity = internals.capacity(name);
        queues.put(name, queue);
      }
      if (queue != null) {
        queue.waiting = Math.max(0, internals.waiting(name));
        queue.dropped = Math.max(queue.dropped, internals.dropped(name));
      }
    }
  }

  /** The context has ended: nothing waits any more. */
  synchronized void end() {
    for (Queue queue : queues.values()) {
      queue.waiting = 0;
    }
  }

  synchronized void write(Signals.MetricWriter out) {
    out.gauge("spark.listener.queue.fill", "1");
    for (Map.Entry<String, Queue> e : queues.entrySet()) {
      out.point(e.getValue().waiting / (double) e.getValue().capacity, "queue", e.getKey());
    }
    out.end();
    out.sum("spark.listener.queue.dropped", "{event}", true);
    for (Map.Entry<String, Queue> e : queues.entrySet()) {
      out.point(e.getValue().dropped, "queue", e.getKey());
    }
    out.end();
  }
}
