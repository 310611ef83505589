package observatory.spark;

/** What goes wrong in the plugin is said once and harms no job. */
final class Faults {
  private boolean said;

  /** Says the first failure on standard error, in the form of the launcher's notices. */
  synchronized void say(String what, Object cause) {
    if (said) {
      return;
    }
    said = true;
    try {
      System.err.println("observatory: " + what + ": " + String.valueOf(cause).replace('\n', ' '));
    } catch (Throwable ignored) {
      // An exception whose own toString fails.
    }
  }

  static RuntimeException sneak(Throwable t) {
    if (t instanceof RuntimeException) {
      return (RuntimeException) t;
    }
    if (t instanceof Error) {
      throw (Error) t;
    }
    return new IllegalStateException(t);
  }
}
