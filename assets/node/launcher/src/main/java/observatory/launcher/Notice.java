package observatory.launcher;

import java.lang.reflect.InvocationTargetException;

/** One line on standard error per failure: enough to find the cause, never a stack trace. */
final class Notice {
  private Notice() {}

  static void failed(String part, Throwable cause) {
    say(part + " not started", cause);
  }

  static void say(String what, Throwable cause) {
    Throwable root = cause;
    if (cause instanceof InvocationTargetException && cause.getCause() != null) {
      root = cause.getCause();
    }
    try {
      String text = String.valueOf(root).replace('\n', ' ');
      System.err.println("observatory: " + what + ": " + text);
    } catch (Throwable ignored) {
      // An exception whose own toString fails must not reach the application either.
    }
  }
}
