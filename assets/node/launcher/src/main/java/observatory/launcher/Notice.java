package observatory.launcher;

import java.lang.reflect.InvocationTargetException;

/** One line on standard error per failure: enough to find the cause, never a stack trace. */
final class Notice {
  private Notice() {}

  static void failed(String part, Throwable cause) {
    say(part + " not started", cause);
  }

  static void say(String what) {
    System.err.println("observatory: " + what);
  }

  static void say(String what, Throwable cause) {
    Throwable root = cause;
    if (cause instanceof InvocationTargetException && cause.getCause() != null) {
      root = cause.getCause();
    }
    try {
      say(what + ": " + String.valueOf(root).replace('\n', ' '));
    } catch (Throwable ignored) {
      // An exception whose own toString fails must not reach the application either.
    }
  }
}
