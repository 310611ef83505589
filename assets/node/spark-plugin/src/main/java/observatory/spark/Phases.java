package observatory.spark;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** What an application's wall clock was spent on: each instant of [begin, end) has one phase. */
final class Phases {
  // Indexes of Platform.PHASES; the Platform test keeps them equal.
  static final int DRIVER = 0;
  static final int SUBMIT = 1;
  static final int RESOURCE_WAIT = 2;
  static final int COMPUTE = 3;
  static final int IO_WRITE = 4;
  static final int IDLE = 5;
  static final int COUNT = 6;

  /** Where several apply, the first of these is the phase. */
  private static final int[] PRECEDENCE = {IO_WRITE, COMPUTE, RESOURCE_WAIT, SUBMIT, IDLE, DRIVER};

  final long begin;
  final long end;
  final boolean approximate;

  /** Milliseconds until the first executor registered, -1 while there was none. */
  final long firstExecutorWait;

  /** Milliseconds of each phase. */
  final long[] millis = new long[COUNT];

  double seconds(int phase) {
    return millis[phase] / 1000.0;
  }

  private final Intervals[] parts = new Intervals[COUNT];
  private final Folded folded;
  private final long from;

  /** What came before is folded already; candidates may overlap, and the rest is the driver's. */
  Phases(Folded folded, long begin, long end, Intervals[] candidates, boolean approximate, long firstExecutorWait) {
    this.folded = folded;
    this.begin = begin;
    this.end = end;
    this.approximate = approximate;
    this.firstExecutorWait = firstExecutorWait;
    from = Math.max(begin, folded.until);
    Intervals rest = Intervals.of(from, end);
    for (int phase : PRECEDENCE) {
      parts[phase] = phase == DRIVER ? rest : Intervals.and(rest, candidates[phase]);
      rest = Intervals.minus(rest, parts[phase]);
      millis[phase] = folded.millis[phase] + parts[phase].total();
    }
  }

  /** Receives the segments in order of time. */
  interface Visitor {
    void segment(int phase, long from, long to);
  }

  void visit(Visitor visitor) {
    folded.visit(visitor);
    int[] next = new int[COUNT];
    long at = from;
    while (at < end) {
      int phase = 0;
      while (next[phase] >= parts[phase].count() || parts[phase].from(next[phase]) != at) {
        phase++;
      }
      long to = parts[phase].to(next[phase]++);
      visitor.segment(phase, at, to);
      at = to;
    }
  }

  /** The segments that are not visited any more. */
  long forgotten() {
    return folded.forgotten;
  }

  /** The length of the count-th longest segment, 0 if there are fewer. */
  long lengthOfLongest(int count) {
    final List<Long> lengths = new ArrayList<Long>();
    visit(
        new Visitor() {
          @Override
          public void segment(int phase, long from, long to) {
            lengths.add(to - from);
          }
        });
    Collections.sort(lengths, Collections.reverseOrder());
    return lengths.size() < count ? 0 : lengths.get(count - 1);
  }

  /** The phase of the last instant. */
  int last() {
    for (int phase = 0; phase < COUNT; phase++) {
      Intervals part = parts[phase];
      if (!part.isEmpty() && part.to(part.count() - 1) == end) {
        return phase;
      }
    }
    return DRIVER;
  }
}
