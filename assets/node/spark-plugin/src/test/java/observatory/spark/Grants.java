package observatory.spark;

import java.util.ArrayList;
import java.util.List;

/**
 * Executors that would send more spans than they get. One: those of 10,000 tasks of samples, then of 3,000
 * failed tasks; some answers to its requests are lost. A hundred: samples, until there are no more; then two
 * failed tasks each, and as many on each of a hundred executors that start then. Prints how many of each have
 * a place, what is dropped, and what the driver knows of it.
 */
public final class Grants {
  private static volatile boolean lossy;

  private Grants() {}

  public static void main(String[] args) throws Exception {
    oneExecutor();
    manyExecutors();
  }

  private static void oneExecutor() throws InterruptedException {
    SpanBudget budget = new SpanBudget();
    SpanGrants grants = executor(budget, "1");
    System.out.println("samples " + take(grants, false, 10_000) + ", failed " + take(grants, true, 3_000));
    lossy = true;
    grants.prepare("second");
    settle();
    grants.take("second", true);
    lossy = false;
    grants.prepare("third");
    settle();
    System.out.println("dropped " + grants.dropped() + ", known " + budget.droppedByAll() + ", of the driver " + budget.dropped());
    SpanGrants local = executor(budget, Platform.DRIVER_ID);
    local.take("fourth", true); // before it has an answer
    settle();
    local.prepare("fifth");
    settle();
    System.out.println("known " + budget.droppedByAll() + ", of the driver " + budget.dropped());
    new ExecutorMetrics(grants).write(new Printer(""));
    new ExecutorMetrics(null).write(new Printer(""));
  }

  private static void manyExecutors() throws InterruptedException {
    SpanBudget budget = new SpanBudget();
    List<SpanGrants> executors = executors(budget);
    int samples = 0;
    for (int round = 0; round < 100; round++) {
      for (SpanGrants grants : executors) {
        samples += take(grants, false, 1);
      }
    }
    int failed = 0;
    for (SpanGrants grants : executors) {
      failed += take(grants, true, 2);
    }
    int late = 0;
    for (SpanGrants grants : executors(budget)) {
      late += take(grants, true, 2);
    }
    System.out.println("of many: samples " + samples + ", failed " + failed + ", failed on late ones " + late);
  }

  private static List<SpanGrants> executors(SpanBudget budget) {
    List<SpanGrants> executors = new ArrayList<SpanGrants>();
    for (int i = 0; i < 100; i++) {
      executors.add(executor(budget, Integer.toString(i)));
    }
    return executors;
  }

  private static SpanGrants executor(SpanBudget budget, String id) {
    return new SpanGrants(
        new LocalContexts.Local("application_1_0001") {
          @Override
          public String executorID() {
            return id;
          }

          @Override
          public Object ask(Object message) {
            Object answer = DriverHalf.answer(budget, (String) message);
            if (lossy) {
              throw new IllegalStateException("the answer came too late");
            }
            return answer;
          }
        });
  }

  /** So many tasks begin, and end when the executor has its answers. Returns how many had a place. */
  private static int take(SpanGrants grants, boolean failed, int tasks) throws InterruptedException {
    int taken = 0;
    for (int task = 0; task < tasks; task++) {
      grants.prepare("trace");
      settle();
      taken += grants.take("trace", failed) ? 1 : 0;
    }
    return taken;
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
