package observatory.launcher;

import com.sun.management.GarbageCollectionNotificationInfo;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.NotificationListener;
import javax.management.openmbean.CompositeData;

/** jvm.gc.duration of the semantic conventions: the duration of collections, by collector and action. */
final class GarbageCollections implements Otlp.Source, NotificationListener {
  /** Seconds, as the conventions recommend. */
  private static final double[] BOUNDS = {0.01, 0.1, 1, 10};

  private static final double MILLIS = 1e3;

  /** The collections of one collector and action. */
  private static final class Durations {
    final String collector;
    final String action;
    final long[] counts = new long[BOUNDS.length + 1];
    double sum;

    Durations(String collector, String action) {
      this.collector = collector;
      this.action = action;
    }

    void add(double seconds) {
      int bucket = Arrays.binarySearch(BOUNDS, seconds);
      counts[bucket >= 0 ? bucket : -bucket - 1]++; // OTLP bucket upper bounds are inclusive
      sum += seconds;
    }
  }

  private final Map<String, Durations> durations = new TreeMap<String, Durations>();

  /** Starts counting. */
  GarbageCollections() {
    for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
      if (collector instanceof NotificationEmitter) {
        ((NotificationEmitter) collector).addNotificationListener(this, null, null);
      }
    }
  }

  @Override
  public void handleNotification(Notification notification, Object handback) {
    if (!GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION.equals(notification.getType())) {
      return;
    }
    GarbageCollectionNotificationInfo info =
        GarbageCollectionNotificationInfo.from((CompositeData) notification.getUserData());
    add(info.getGcName(), info.getGcAction(), info.getGcInfo().getDuration() / MILLIS);
  }

  private synchronized void add(String collector, String action, double seconds) {
    String key = collector + '\n' + action;
    Durations d = durations.get(key);
    if (d == null) {
      d = new Durations(collector, action);
      durations.put(key, d);
    }
    d.add(seconds);
  }

  @Override
  public synchronized void write(Signals.MetricWriter out) {
    out.histogram("jvm.gc.duration", "s");
    for (Durations d : durations.values()) {
      out.point(d.counts, BOUNDS, d.sum, "jvm.gc.name", d.collector, "jvm.gc.action", d.action);
    }
    out.end();
  }
}
