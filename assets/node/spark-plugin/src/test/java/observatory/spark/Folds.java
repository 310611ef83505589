package observatory.spark;

import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import org.apache.spark.SparkConf;

/** Runs the same long applications through an engine that forgets its past and one that does not. */
public final class Folds {
  private static final long T0 = 1_700_000_000_000L;
  private static final int EXECUTIONS = 30_000;

  /** No fold happens during the last executions, so that one is due at the end. */
  private static final int UNFOLDED = 5_000;

  /** What keeps an application from forgetting. */
  private enum Held {
    NOTHING,
    /** Jobs list stages that never run, as those of iterative applications do. */
    SKIPPED_STAGES,
    /** Threads that the first execution started go on after its end and keep its id. */
    KEPT_IDS,
    /** A job that a receiver runs in, with a task whose executor is gone. */
    ENDLESS_JOB,
    /** The end of an execution that does not write. */
    LOST_END,
    /** The end of an execution that writes: the rest of the application is its commit. */
    LOST_END_OF_WRITE,
    /** The first execution's end is lost, and threads keep its id. No task's metrics count output. */
    LOST_END_OF_KEPT_ID
  }

  private final Held held;

  private Folds(Held held) {
    this.held = held;
  }

  public static void main(String[] args) {
    for (Held held : Held.values()) {
      System.out.println(held + " " + new Folds(held).compare());
    }
  }

  private String compare() {
    // The constructor would wait for a long time, had a fold forgotten that three executors came.
    SparkConf conf = new SparkConf(false).set("spark.master", "yarn").set("spark.executor.instances", "3");
    conf.set("spark.scheduler.maxRegisteredResourcesWaitingTime", "1d");
    PhaseEngine forgetting = new PhaseEngine();
    PhaseEngine remembering = new PhaseEngine();
    Random random = new Random(7);
    long time = T0;
    for (PhaseEngine engine : new PhaseEngine[] {forgetting, remembering}) {
      engine.configure(new Deployment(conf, ""));
      engine.applicationStart(time);
      engine.blockManagerAdded(Platform.DRIVER_ID, time + 1_000);
      for (int i = 0; i < 3; i++) {
        engine.executorAdded("first" + i, time + 5_000 + 1_000 * i, "host", 0);
        engine.blockManagerAdded("first" + i, time + 5_500 + 1_000 * i);
        engine.executorRemoved("first" + i, time + 60_000);
      }
    }
    time += 10_000;
    if (held == Held.ENDLESS_JOB) {
      for (PhaseEngine engine : new PhaseEngine[] {forgetting, remembering}) {
        engine.jobStart(2 * EXECUTIONS, time, Facts.NONE);
        engine.jobStage(2 * EXECUTIONS, 2 * EXECUTIONS);
        engine.stageSubmitted(2 * EXECUTIONS, 0, time);
        engine.taskStart(2 * EXECUTIONS, 2 * EXECUTIONS, time, "first0");
      }
    }
    int largest = 0;
    for (int number = 0; number < EXECUTIONS; number++) {
      long seed = random.nextLong();
      long end = run(forgetting, number, time, new Random(seed));
      run(remembering, number, time, new Random(seed));
      time = end;
      if (number < EXECUTIONS - UNFOLDED) {
        largest = Math.max(largest, largestMap(forgetting));
        if (number % 100 == 0) {
          forgetting.fold(time);
        }
      }
    }
    forgetting.applicationEnd(time);
    remembering.applicationEnd(time);
    forgetting.fold(time + 3_600_000); // must change nothing: the application has ended
    Phases expected = remembering.phases();
    Phases got = forgetting.phases();
    StringBuilder out = new StringBuilder();
    for (int phase = 0; phase < Phases.COUNT; phase++) {
      out.append(expected.millis[phase]).append('=').append(got.millis[phase]).append(' ');
    }
    final long[] sum = new long[1];
    expected.visit((phase, from, to) -> sum[0] += to - from);
    return out + " " + (expected.end - expected.begin) + "=" + sum[0] + " " + got.approximate + " " + largest;
  }

  private static int largestMap(PhaseEngine engine) {
    int largest = 0;
    for (Map<?, ?> map :
        Arrays.<Map<?, ?>>asList(
            engine.jobs, engine.stages, engine.attempts, engine.executions, engine.executors, engine.running)) {
      largest = Math.max(largest, map.size());
    }
    return largest;
  }

  /** The execution whose end is lost, -1 if none is. */
  private int lost() {
    switch (held) {
      case LOST_END:
        return 11;
      case LOST_END_OF_WRITE:
        return 10;
      case LOST_END_OF_KEPT_ID:
        return 0;
      default:
        return -1;
    }
  }

  /** An SQL execution with two jobs, the second of which writes; returns its end. */
  private long run(PhaseEngine engine, int number, long from, Random random) {
    long at = from + random.nextInt(500);
    engine.executorAdded("e" + number, at, "host", 0);
    engine.blockManagerAdded("e" + number, at + random.nextInt(100));
    boolean kept = (held == Held.KEPT_IDS || held == Held.LOST_END_OF_KEPT_ID) && number % 5 == 0;
    engine.executionStart(number, kept ? 0 : number, at, number % 3 == 1);
    boolean outputs = held != Held.LOST_END_OF_KEPT_ID && (held != Held.LOST_END || number != lost());
    for (int half = 0; half < 2; half++) {
      int job = 2 * number + half;
      at += random.nextInt(200);
      engine.jobStart(job, at, kept && half == 0 ? 0 : number);
      engine.jobStage(job, job);
      if (held == Held.SKIPPED_STAGES) {
        for (int stage = 0; stage < 50; stage++) {
          engine.jobStage(job, 4 * EXECUTIONS + 50 * job + stage);
        }
      }
      engine.stageSubmitted(job, 0, at);
      long launched = at + random.nextInt(300);
      engine.taskStart(job, job, launched, "e" + number);
      long finished = launched + 1 + random.nextInt(1000);
      engine.taskEnd(job, job, 0, launched, finished, true, random.nextBoolean() && outputs, true);
      at = finished + random.nextInt(50);
      engine.stageCompleted(job, 0, launched, at, false, 1);
      engine.jobEnd(job, at);
    }
    at += random.nextInt(400);
    if (number != lost()) {
      engine.executionEnd(number, at);
    }
    engine.executorRemoved("e" + number, at);
    return at;
  }
}
