package observatory.spark;

import java.util.Random;
import org.apache.spark.SparkConf;

/** Runs the same long application through an engine that forgets its past and one that does not. */
public final class Folds {
  private static final long T0 = 1_700_000_000_000L;
  private static final int JOBS = 30_000;

  private Folds() {}

  public static void main(String[] args) {
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
        engine.executorAdded("first" + i, time + 5_000 + 1_000 * i);
        engine.blockManagerAdded("first" + i, time + 5_500 + 1_000 * i);
        engine.executorRemoved("first" + i, time + 60_000);
      }
    }
    time += 10_000;
    int largest = 0;
    for (int job = 0; job < JOBS; job++) {
      long seed = random.nextLong();
      long end = run(forgetting, job, time, new Random(seed));
      run(remembering, job, time, new Random(seed));
      time = end;
      if (job % 100 == 0) {
        forgetting.fold(time);
      }
      largest = Math.max(largest, forgetting.jobs.size());
    }
    forgetting.applicationEnd(time);
    remembering.applicationEnd(time);
    Phases expected = remembering.phases();
    Phases got = forgetting.phases();
    StringBuilder out = new StringBuilder();
    for (int phase = 0; phase < Phases.COUNT; phase++) {
      out.append(expected.millis[phase]).append('=').append(got.millis[phase]).append(' ');
    }
    final long[] sum = new long[1];
    expected.visit((phase, from, to) -> sum[0] += to - from);
    System.out.println(out + " " + (expected.end - expected.begin) + "=" + sum[0] + " " + got.approximate + " " + largest);
  }

  /** An SQL execution with two jobs, the second of which writes; returns its end. */
  private static long run(PhaseEngine engine, int number, long from, Random random) {
    long at = from + random.nextInt(500);
    engine.executorAdded("e" + number, at);
    engine.blockManagerAdded("e" + number, at + random.nextInt(100));
    engine.executionStart(number, number, at, number % 3 == 0);
    for (int half = 0; half < 2; half++) {
      int job = 2 * number + half;
      at += random.nextInt(200);
      engine.jobStart(job, at, number);
      engine.jobStage(job, job);
      engine.stageSubmitted(job, 0, at);
      long launched = at + random.nextInt(300);
      engine.taskStart(job, job, launched, "e" + number);
      long finished = launched + 1 + random.nextInt(1000);
      engine.taskEnd(job, job, 0, launched, finished, true, random.nextBoolean(), true);
      at = finished + random.nextInt(50);
      engine.stageCompleted(job, 0, launched, at, false, 1);
      engine.jobEnd(job, at);
    }
    at += random.nextInt(400);
    engine.executionEnd(number, at);
    engine.executorRemoved("e" + number, at);
    return at;
  }
}
