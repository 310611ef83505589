package observatory.spark;

import org.apache.spark.SparkConf;

/** Engines that never hear of some ends: prints the phases before and after they are reconciled. */
public final class Losses {
  private static final long T0 = 1_700_000_000_000L;

  private Losses() {}

  public static void main(String[] args) {
    for (String lost : new String[] {"nothing", "task", "stage", "job", "task stage job", "executor", "task executor"}) {
      PhaseEngine engine = engine(lost);
      Phases before = engine.phasesAt(T0 + 60_000, false);
      int tasks = Forgetting.reconcile(engine).size();
      Phases after = engine.phasesAt(T0 + 60_000, true);
      System.out.println(
          lost + " > " + before.millis[Phases.COMPUTE] + " " + after.millis[Phases.COMPUTE] + " " + after.millis[Phases.RESOURCE_WAIT]
              + " " + after.last() + " " + tasks + " " + after.approximate);
    }
  }

  /** A SQL execution of ten seconds with one job and one task, and an idle driver after it. */
  private static PhaseEngine engine(String lost) {
    PhaseEngine engine = new PhaseEngine();
    SparkConf conf = new SparkConf(false).set("spark.master", "yarn").set("spark.submit.deployMode", "cluster");
    engine.configure(new Deployment(conf.set("spark.dynamicAllocation.enabled", "true"), ""));
    engine.applicationStart(T0);
    engine.executorAdded("1", T0, "host", 0);
    engine.executionStart(0, 0, T0, false);
    engine.jobStart(0, T0, 0);
    engine.jobStage(0, 0);
    engine.stageSubmitted(0, 0, T0);
    engine.taskStart(0, 0, T0, "1");
    if (!lost.contains("task")) {
      engine.taskEnd(0, 0, 0, T0, T0 + 9_000, true, false, true);
    }
    if (!lost.contains("stage")) {
      engine.stageCompleted(0, 0, T0, T0 + 9_000, false, 1);
    }
    if (!lost.contains("job")) {
      engine.jobEnd(0, T0 + 9_500);
    }
    engine.executionEnd(0, T0 + 10_000);
    if (!lost.contains("executor")) {
      engine.executorRemoved("1", T0 + 20_000);
    }
    return engine;
  }
}
