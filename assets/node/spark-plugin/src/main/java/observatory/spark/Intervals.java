package observatory.spark;

import java.util.Arrays;

/**
 * A set of instants, in epoch milliseconds: sorted, disjoint, half-open intervals. Most intervals are
 * added near the end, which costs constant time.
 */
final class Intervals {
  /** from and to of each interval in turn. */
  private long[] bounds = new long[8];

  private int used;

  int count() {
    return used / 2;
  }

  long from(int i) {
    return bounds[2 * i];
  }

  long to(int i) {
    return bounds[2 * i + 1];
  }

  boolean isEmpty() {
    return used == 0;
  }

  /** Adds [from, to), and nothing if that is empty. */
  Intervals add(long from, long to) {
    if (to <= from) {
      return this;
    }
    if (used == 0 || from > bounds[used - 1]) {
      append(from, to);
      return this;
    }
    int first = firstEndingAt(from);
    if (first == count()) {
      append(from, to);
      return this;
    }
    int next = first;
    long start = from;
    long end = to;
    while (next < count() && from(next) <= to) {
      start = Math.min(start, from(next));
      end = Math.max(end, to(next));
      next++;
    }
    replace(first, next, start, end);
    return this;
  }

  Intervals addAll(Intervals others) {
    if (others.used > 8 && used > 8 && others.from(0) <= bounds[used - 1]) {
      Intervals merged = or(this, others);
      bounds = merged.bounds;
      used = merged.used;
      return this;
    }
    for (int i = 0; i < others.count(); i++) {
      add(others.from(i), others.to(i));
    }
    return this;
  }

  /** The first interval that ends at time or later. */
  private int firstEndingAt(long time) {
    int low = 0;
    int high = count();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (to(middle) < time) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private void append(long from, long to) {
    if (used == bounds.length) {
      bounds = Arrays.copyOf(bounds, used * 2);
    }
    bounds[used++] = from;
    bounds[used++] = to;
  }

  /** Puts one interval where the intervals [first, next) were. */
  private void replace(int first, int next, long from, long to) {
    int grown = used + 2 - 2 * (next - first);
    if (grown > bounds.length) {
      bounds = Arrays.copyOf(bounds, bounds.length * 2);
    }
    System.arraycopy(bounds, 2 * next, bounds, 2 * first + 2, used - 2 * next);
    bounds[2 * first] = from;
    bounds[2 * first + 1] = to;
    used = grown;
  }

  /** Forgets the intervals that end before a time. */
  void dropBefore(long time) {
    int first = 2 * firstEndingAt(time);
    System.arraycopy(bounds, first, bounds, 0, used - first);
    used -= first;
    if (bounds.length > 64 && used < bounds.length / 4) {
      bounds = Arrays.copyOf(bounds, bounds.length / 2);
    }
  }

  long total() {
    long sum = 0;
    for (int i = 0; i < used; i += 2) {
      sum += bounds[i + 1] - bounds[i];
    }
    return sum;
  }

  static Intervals or(Intervals a, Intervals b) {
    Intervals out = new Intervals();
    int i = 0;
    int j = 0;
    while (i < a.count() || j < b.count()) {
      if (j == b.count() || i < a.count() && a.from(i) <= b.from(j)) {
        out.add(a.from(i), a.to(i++));
      } else {
        out.add(b.from(j), b.to(j++));
      }
    }
    return out;
  }

  static Intervals and(Intervals a, Intervals b) {
    Intervals out = new Intervals();
    int i = 0;
    int j = 0;
    while (i < a.count() && j < b.count()) {
      out.add(Math.max(a.from(i), b.from(j)), Math.min(a.to(i), b.to(j)));
      if (a.to(i) < b.to(j)) {
        i++;
      } else {
        j++;
      }
    }
    return out;
  }

  static Intervals minus(Intervals a, Intervals b) {
    Intervals out = new Intervals();
    int j = 0;
    for (int i = 0; i < a.count(); i++) {
      long from = a.from(i);
      while (j < b.count() && b.to(j) <= from) {
        j++;
      }
      for (int k = j; k < b.count() && b.from(k) < a.to(i); k++) {
        out.add(from, b.from(k));
        from = b.to(k);
      }
      out.add(from, a.to(i));
    }
    return out;
  }

  static Intervals of(long from, long to) {
    return new Intervals().add(from, to);
  }
}
