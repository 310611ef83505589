package observatory.launcher;

/**
 * Tells when the application's main method has begun. Until then the JVM reads its class path, and
 * a second thread that loads classes would hold it up.
 */
final class MainMethod {
  private static final long POLL_MILLIS = 10;

  private final Thread thread;
  private final String mainClass;

  /** The thread is the one that premain was called on: it goes on to call main. */
  MainMethod(Thread thread, String mainClass) {
    this.thread = thread;
    this.mainClass = mainClass;
  }

  /** Returns when main has begun, or has ended, or after the given time. */
  void awaitBegin(long timeoutMillis) {
    long deadline = System.nanoTime() + timeoutMillis * 1_000_000L;
    try {
      while (!hasBegun() && thread.isAlive() && System.nanoTime() < deadline) {
        thread.join(POLL_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean hasBegun() {
    StackTraceElement[] stack = thread.getStackTrace();
    return stack.length > 0 && stack[stack.length - 1].getClassName().equals(mainClass);
  }
}
