package observatory.spark;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Micro-batches, each the root of a trace. A batch lasts from the first to the last of its parts: no
 * event gives its start or end. It is complete when its query reports its progress, ends, or has begun the
 * next one.
 */
final class Batches {
  /** A batch with the limits of the parts that have ended. */
  static final class Batch {
    final Place place;
    final String query;
    final String number;
    long from = Long.MAX_VALUE;
    long to;
    String failure;

    /** Parts that have begun and not ended. */
    private int parts;

    /** The query has nothing more to begin in it. */
    private boolean done;

    private Batch(Place place) {
      this.place = place;
      query = queryOf(place);
      number = place.batch.substring(query.length() + 1);
    }
  }

  private final Map<String, Batch> open = new LinkedHashMap<String, Batch>();

  /** The latest batch of each query that was complete: a part that comes late does not begin it again. */
  private final Map<String, String> complete =
      new LinkedHashMap<String, String>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, String> eldest) {
          return size() > Limits.QUERIES;
        }
      };

  private static String queryOf(Place place) {
    return place.batch.substring(0, place.batch.lastIndexOf('.'));
  }

  boolean knows(Place place) {
    return open.containsKey(place.batch) || place.batch.equals(complete.get(queryOf(place)));
  }

  /** Begins a batch; returns those of the same query that are complete thereby. */
  List<Batch> begin(Place place) {
    Batch begun = new Batch(place);
    List<Batch> ended = new ArrayList<Batch>();
    for (Iterator<Batch> i = open.values().iterator(); i.hasNext(); ) {
      Batch batch = i.next();
      if (batch.query.equals(begun.query)) {
        i.remove();
        ended.add(batch);
        complete.put(batch.query, batch.place.batch);
      }
    }
    open.put(place.batch, begun);
    return ended;
  }

  /** Notes a part that has begun: its batch waits for it. */
  void part(Place place) {
    Batch batch = open.get(place.batch);
    if (batch != null) {
      batch.parts++;
    }
  }

  /** Adds a part that has ended; returns its batch if that is complete thereby. */
  List<Batch> add(Place place, long from, long to, String error) {
    Batch batch = open.get(place.batch);
    if (batch == null) {
      return Collections.<Batch>emptyList();
    }
    batch.from = Math.min(batch.from, from);
    batch.to = Math.max(batch.to, to);
    batch.failure = batch.failure == null ? error : batch.failure;
    batch.parts--;
    return batch.done && batch.parts <= 0 ? end(batch) : Collections.<Batch>emptyList();
  }

  /**
   * Ends a query's batch, or all of them (null); returns those of which every part has ended. A batch
   * that failed stays when its query ends: the query may be started again, and repeats it.
   */
  List<Batch> end(String query, String number) {
    List<Batch> ended = new ArrayList<Batch>();
    for (Batch batch : new ArrayList<Batch>(open.values())) {
      boolean ends = number == null ? batch.failure == null : batch.number.equals(number);
      if (batch.query.equals(query) && ends) {
        batch.done = true;
        if (batch.parts <= 0) {
          ended.addAll(end(batch));
        }
      }
    }
    return ended;
  }

  private List<Batch> end(Batch batch) {
    open.remove(batch.place.batch);
    complete.put(batch.query, batch.place.batch);
    return Collections.singletonList(batch);
  }

  /** Ends all of them. */
  List<Batch> end() {
    List<Batch> all = new ArrayList<Batch>(open.values());
    open.clear();
    return all;
  }
}
