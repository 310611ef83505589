package observatory.spark;

/**
 * An executor that would send more spans than it gets: those of 10,000 tasks of samples, then of 3,000
 * failed tasks. Prints how many of each have a place, what is dropped, and what the driver knows of it.
 * Some of the requests have no answer.
 */
public final class Grants {
  private static volatile boolean broken;

  private Grants() {}

  public static void main(String[] args) throws Exception {
    final SpanBudget budget = new SpanBudget();
    SpanGrants grants =
        new SpanGrants(
            new LocalContexts.Local("application_1_0001") {
              @Override
              public Object ask(Object message) {
                if (broken) {
                  throw new IllegalStateException("the driver is busy");
                }
                return DriverHalf.answer(budget, (String) message, false);
              }
            });
    int samples = 0;
    int failed = 0;
    for (int task = 0; task < 10_000; task++) {
      samples += take(grants, "trace", false) ? 1 : 0;
    }
    for (int task = 0; task < 3_000; task++) {
      failed += take(grants, "trace", true) ? 1 : 0;
    }
    System.out.println("samples " + samples + ", failed " + failed);
    broken = true;
    grants.prepare("second");
    settle();
    grants.take("second", true);
    broken = false;
    grants.prepare("third");
    settle();
    System.out.println("dropped " + grants.dropped() + ", known " + budget.droppedByAll() + ", of the driver " + budget.dropped());
    new ExecutorMetrics(grants).write(new Printer(""));
    new ExecutorMetrics(null).write(new Printer(""));
  }

  /** A task begins, and ends when the executor has its answer. */
  private static boolean take(SpanGrants grants, String trace, boolean failed) throws InterruptedException {
    grants.prepare(trace);
    settle();
    return grants.take(trace, failed);
  }

  /** Waits for the answers to all requests. */
  private static void settle() throws InterruptedException {
    Thread[] threads = new Thread[Thread.activeCount() + 10];
    int count = Thread.enumerate(threads);
    for (int i = 0; i < count; i++) {
      if (threads[i].getName().equals("observatory-grant")) {
        threads[i].join();
      }
    }
  }
}
