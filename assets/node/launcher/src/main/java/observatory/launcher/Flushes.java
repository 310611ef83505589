package observatory.launcher;

/**
 * Requests to send at once, and how long the application has waited for them. All its waits in a row
 * for a collector that does not answer, as contexts stop and as the JVM ends, have one bound.
 */
final class Flushes {
  /** All of the timeout but for the time that a thread takes to notice its end. */
  private static final long EXIT_MILLIS = ExitTimeout.MILLIS * 19 / 20;

  /** What of it a context that stops may take. */
  private static final long STOP_MILLIS = ExitTimeout.MILLIS * 13 / 20;

  private long requested;
  private long done;
  private long waited; // in vain, since the collector last answered

  /** Waits until the sender has served a new request; false if that took too long. */
  synchronized boolean await(long timeoutMillis, Telemetry sender) {
    long begun = System.nanoTime();
    long limit = Math.min(timeoutMillis, STOP_MILLIS - waited);
    long mine = ++requested;
    sender.wake();
    try {
      for (long left = limit; done < mine; left = limit - millisSince(begun)) {
        if (left <= 0 || !sender.serves()) {
          waited += millisSince(begun);
          return false;
        }
        wait(left);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
    return true;
  }

  /** Returns the newest request that has not been served, or 0. */
  synchronized long asked() {
    return requested > done ? requested : 0;
  }

  synchronized void served(long asked) {
    done = Math.max(done, asked);
    notifyAll();
  }

  synchronized void answered() {
    waited = 0;
  }

  /** Returns how long the JVM's end may wait. */
  synchronized long left() {
    return EXIT_MILLIS - waited;
  }

  /** Returns how much of the JVM's end may be spent on a context that stops. */
  synchronized long leftToStop() {
    return STOP_MILLIS - waited;
  }

  static long millisSince(long nanos) {
    return (System.nanoTime() - nanos) / 1_000_000L;
  }
}
