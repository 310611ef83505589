package observatory.spark;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Micro-batches, each the root of a trace. No event of Spark's core tells their limits: a batch lasts
 * from the first to the last of its parts, and is complete when the query has begun its next one.
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

    private Batch(Place place) {
      this.place = place;
      int dot = place.batch.lastIndexOf('.');
      query = place.batch.substring(0, dot);
      number = place.batch.substring(dot + 1);
    }
  }

  private final Map<String, Batch> open = new LinkedHashMap<String, Batch>();

  boolean knows(Place place) {
    return open.containsKey(place.batch);
  }

  /** Begins a batch; returns those of the same query that are complete thereby. */
  List<Batch> begin(Place place) {
    Batch begun = new Batch(place);
    List<Batch> complete = new ArrayList<Batch>();
    for (Iterator<Batch> i = open.values().iterator(); i.hasNext(); ) {
      Batch batch = i.next();
      if (batch.query.equals(begun.query)) {
        i.remove();
        complete.add(batch);
      }
    }
    open.put(place.batch, begun);
    return complete;
  }

  /** Adds a part that has ended. */
  void add(Place place, long from, long to, String error) {
    Batch batch = open.get(place.batch);
    if (batch != null) {
      batch.from = Math.min(batch.from, from);
      batch.to = Math.max(batch.to, to);
      batch.failure = batch.failure == null ? error : batch.failure;
    }
  }

  /** Ends all of them. */
  List<Batch> end() {
    List<Batch> all = new ArrayList<Batch>(open.values());
    open.clear();
    return all;
  }
}
