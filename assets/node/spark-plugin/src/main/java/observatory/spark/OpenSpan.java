package observatory.spark;

import java.util.ArrayList;
import java.util.List;

/** A span that has begun and not ended. */
final class OpenSpan {
  final String kind;
  final String number;

  /** Epoch milliseconds. */
  long from;

  final String description;

  /** null before it is decided, which an operation's and an execution's first job does. */
  Place place;

  /** Of an execution: where it belongs if it has no job. */
  Place unused;

  OpenSpan parent;
  boolean kept;

  /** The stages that a job lists. */
  final List<Integer> stages = new ArrayList<Integer>(0);

  /** What an operation or a session of Spark Connect is called; null of others. */
  Operations.Names names;

  OpenSpan(String kind, String number, long from, String description) {
    this.kind = kind;
    this.number = number;
    this.from = from;
    this.description = description;
  }

  /** The id of the span above; null for the root of a trace. */
  String parentSpan(Application application) {
    return parent == null ? place.parentSpanId : application.span(parent.kind, parent.number);
  }
}
