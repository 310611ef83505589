package observatory.launcher;

import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.SchedulerBackend;
import scala.Option;

/**
 * Looks for the application id of a context that is starting. In client mode on YARN the id exists as
 * soon as the application is submitted, while the context waits, possibly for hours, for YARN to
 * start it. Read where it is kept: the backend's applicationId() warns in the user's log.
 */
final class PendingContext implements Runnable {
  private static final long POLL_MILLIS = 100;
  private static final long MAX_POLL_MILLIS = 1000;

  private final SparkContext context;
  private boolean started;

  PendingContext(SparkContext context) {
    this.context = context;
  }

  void watch() {
    Thread thread = new Thread(this, "observatory-context");
    thread.setDaemon(true);
    thread.start();
  }

  /** Ends the search: the context has its id, or has failed. */
  synchronized void end() {
    started = true;
    notifyAll();
  }

  @Override
  public void run() {
    try {
      search();
    } catch (ReflectiveOperationException e) {
      // Not YARN's: the id comes with the context.
    } catch (Throwable t) {
      Notice.failed("application id", t);
    }
  }

  private synchronized void search() throws Exception {
    for (long pause = POLL_MILLIS; !started; pause = Math.min(pause + POLL_MILLIS, MAX_POLL_MILLIS)) {
      String id = applicationId(context.schedulerBackend());
      if (id != null) {
        Signals.identify(id);
        return;
      }
      wait(pause);
    }
  }

  /** YarnSchedulerBackend.appId; other backends have none. */
  private static String applicationId(SchedulerBackend backend) throws Exception {
    if (backend == null) {
      return null;
    }
    Option<?> id = (Option<?>) backend.getClass().getMethod("appId").invoke(backend);
    return id.isEmpty() ? null : id.get().toString();
  }
}
