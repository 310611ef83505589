package observatory.spark;

import java.util.ArrayList;
import java.util.List;

/** The phases of an application's past, of which no event is kept any more. */
final class Folded {
  private static final int SEGMENTS = 2 * Limits.PHASE_SPANS;

  /** The end of that past; Long.MIN_VALUE: there is none. */
  final long until;

  final long[] millis = new long[Phases.COUNT];

  /** Shorter segments, which are not kept. */
  final long forgotten;

  /** Phase, from and to of the longest segments. */
  private final List<long[]> segments = new ArrayList<long[]>();

  Folded() {
    until = Long.MIN_VALUE;
    forgotten = 0;
  }

  /** Adds to a past what phases say of the time until its new end. */
  Folded(Phases phases, long until) {
    this.until = until;
    phases.visit(
        new Phases.Visitor() {
          @Override
          public void segment(int phase, long from, long to) {
            segments.add(new long[] {phase, from, to});
          }
        });
    System.arraycopy(phases.millis, 0, millis, 0, millis.length);
    int all = segments.size();
    if (segments.size() > SEGMENTS) {
      long shortest = phases.lengthOfLongest(SEGMENTS);
      List<long[]> longest = new ArrayList<long[]>();
      for (long[] s : segments) {
        if (s[2] - s[1] >= shortest && longest.size() < SEGMENTS) {
          longest.add(s);
        }
      }
      segments.clear();
      segments.addAll(longest);
    }
    forgotten = phases.forgotten() + all - segments.size();
  }

  void visit(Phases.Visitor visitor) {
    for (long[] s : segments) {
      visitor.segment((int) s[0], s[1], s[2]);
    }
  }
}
