package observatory.spark;

import scala.collection.Iterator;

/** Tells whether a SQL plan holds a command that writes (SparkPlanInfo, by name: SQL may be absent). */
final class PlanWrites {
  private static final String INFO = "org.apache.spark.sql.execution.SparkPlanInfo";
  private static final Accessor NAME = Accessor.of(INFO, "nodeName");
  private static final Accessor CHILDREN = Accessor.of(INFO, "children");
  private static final int DEEPEST = 500;

  private PlanWrites() {}

  static boolean in(Object plan) {
    return in(plan, 0);
  }

  private static boolean in(Object plan, int depth) {
    if (plan == null || depth > DEEPEST) {
      return false;
    }
    String name = NAME.text(plan);
    for (String command : Platform.WRITE_COMMANDS) {
      if (name != null && name.contains(command)) {
        return true;
      }
    }
    Iterator<?> children = (Iterator<?>) Events.ITERATOR.value(CHILDREN.value(plan));
    while (children != null && children.hasNext()) {
      if (in(children.next(), depth + 1)) {
        return true;
      }
    }
    return false;
  }
}
