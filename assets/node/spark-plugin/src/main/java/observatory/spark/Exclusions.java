package observatory.spark;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** When executors, or all of a host, got no tasks: none at all, or none of an attempt of a stage. */
final class Exclusions {
  private static final class Times {
    final TreeSet<Long> begun = new TreeSet<Long>();
    final TreeSet<Long> undone = new TreeSet<Long>();
  }

  private final Map<String, Times> ofAll = new HashMap<String, Times>();
  private final Map<Long, Map<String, Times>> ofAttempts = new HashMap<Long, Map<String, Times>>();

  static String executor(String id) {
    return "executor " + id;
  }

  static String host(String name) {
    return "host " + name;
  }

  /** whose: an executor or a host; attempt: the only one of which it gets no tasks, null if it gets none at all. */
  void add(String whose, Long attempt, long time, boolean undo) {
    Map<String, Times> all = attempt == null ? ofAll : ofAttempts.get(attempt);
    if (all == null) {
      all = new HashMap<String, Times>();
      ofAttempts.put(attempt, all);
    }
    Times times = all.get(whose);
    if (times == null) {
      times = new Times();
      all.put(whose, times);
    }
    (undo ? times.undone : times.begun).add(time);
  }

  /** Tells whether there are some for this attempt alone. */
  boolean concern(Long attempt) {
    return ofAttempts.containsKey(attempt);
  }

  /** When an executor got no tasks of an attempt; null: of any. */
  Intervals times(String id, String host, Long attempt) {
    Intervals times = new Intervals();
    add(times, ofAll, id, host);
    add(times, ofAttempts.get(attempt), id, host);
    return times;
  }

  private static void add(Intervals out, Map<String, Times> some, String id, String host) {
    if (some != null && !some.isEmpty()) {
      add(out, some.get(executor(id)));
      add(out, some.get(host(host)));
    }
  }

  /** Each lasts until the first later undoing. */
  private static void add(Intervals out, Times times) {
    if (times != null) {
      for (Long from : times.begun) {
        Long to = times.undone.higher(from);
        out.add(from, to == null ? Facts.NEVER : to);
      }
    }
  }

  void forgetExecutor(String id) {
    ofAll.remove(executor(id));
  }

  void retainAttempts(Set<Long> attempts) {
    ofAttempts.keySet().retainAll(attempts);
  }
}
