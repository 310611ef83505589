package observatory.launcher;

/**
 * Detects when the application's main method has started. Loading classes on a second thread before
 * that slows JVM startup.
 */
final class MainMethod {
  private static final long POLL_MILLIS = 10;

  private final Thread thread;
  private final String mainClass;

  /** Takes the thread that premain is called on: the JVM calls main on the same thread. */
  MainMethod(Thread thread, String mainClass) {
    this.thread = thread;
    this.mainClass = mainClass;
  }

  /** Returns when main has started or its thread has ended, at the latest after the given time. */
  void awaitMain(long timeoutMillis) {
    long deadline = System.nanoTime() + timeoutMillis * 1_000_000L;
    try {
      while (!hasStarted() && thread.isAlive() && System.nanoTime() < deadline) {
        thread.join(POLL_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean hasStarted() {
    StackTraceElement[] stack = thread.getStackTrace();
    return stack.length > 0 && stack[stack.length - 1].getClassName().equals(mainClass);
  }
}
