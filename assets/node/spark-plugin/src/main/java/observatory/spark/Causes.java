package observatory.spark;

/**
 * Puts the cause of a failure before its traces, of which spans keep the beginning only: the exception of a Python
 * worker follows its frames, and that of a JVM the exceptions it caused. phases/spans/cause.go does the same.
 */
final class Causes {
  /** Characters that are searched: those that an event log keeps for certain. */
  private static final int LIMIT = 8 << 10;

  private static final String TRACEBACK = "Traceback (most recent call last):";
  private static final String CAUSED_BY = "Caused by: ";
  private static final String RECENT_TASK = "most recent failure: Lost task ";

  private Causes() {}

  /** Returns a failure that begins with its cause; null of null. */
  static String first(String failure) {
    if (failure == null) {
      return null;
    }
    String cause = of(Redaction.cut(failure, LIMIT));
    return cause.isEmpty() || failure.startsWith(cause) ? failure : cause + "\n" + failure;
  }

  /** The last exception of a text, empty if the text begins with it. */
  private static String of(String text) {
    StringBuilder cause = new StringBuilder();
    boolean inTraceback = false;
    boolean inCause = false;
    for (String line : text.split("\n", -1)) {
      String task = afterTask(line);
      boolean isNested = line.startsWith(CAUSED_BY);
      boolean follows = inTraceback && !line.isEmpty() && " \t".indexOf(line.charAt(0)) < 0 && !line.endsWith(TRACEBACK);
      if (isNested || task != null || follows) {
        String begun = isNested ? line.substring(CAUSED_BY.length()) : task != null ? task : line;
        inTraceback = begun.endsWith(TRACEBACK);
        inCause = true;
        cause.setLength(0);
        cause.append(begun);
      } else if (line.endsWith(TRACEBACK)) {
        inTraceback = true;
        inCause = false;
      } else if (!inTraceback && ends(line)) {
        inCause = false;
      } else if (!inTraceback && inCause) {
        cause.append('\n').append(line);
      }
    }
    int end = cause.length();
    while (end > 0 && " \t\n".indexOf(cause.charAt(end - 1)) >= 0) {
      end--;
    }
    return cause.substring(0, end);
  }

  /** What follows the name of the task that failed a stage, or null. */
  private static String afterTask(String line) {
    int at = line.indexOf(RECENT_TASK);
    at = at < 0 ? at : line.indexOf("(TID ", at + RECENT_TASK.length());
    at = at < 0 ? at : line.indexOf("): ", at + "(TID ".length());
    return at < 0 ? null : line.substring(at + "): ".length());
  }

  /** Tells whether a line is no more of an exception's message. */
  private static boolean ends(String line) {
    return line.equals("Driver stacktrace:")
        || line.equals("During handling of the above exception, another exception occurred:")
        || line.equals("The above exception was the direct cause of the following exception:")
        || line.startsWith("\tat ")
        || line.startsWith("\t...")
        || line.startsWith("\tSuppressed: ");
  }
}
