package observatory.spark;

/** Stages at the limits of rules and just below them: prints what they cost so far after each. */
public final class Costs {
  private final StageCosts costs = new StageCosts();

  private Costs() {}

  public static void main(String[] args) {
    new Costs().shares();
    new Costs().tiny();
    new Costs().parallelism();
    new Costs().retries();
    new Costs().writes();
  }

  private void shares() {
    StageCosts.Stage stage = new StageCosts.Stage();
    stage.run = 10_000;
    stage.gc = 999;
    stage.fetchWait = 1_999;
    stage.spilled = 1 << 30;
    stage.largestSpill = (256 << 20) - 1;
    stage.moved = 2L << 30;
    finish("below", stage, 0, 0, 1);
    stage.gc = 1_000;
    stage.fetchWait = 2_000;
    stage.largestSpill = 256 << 20;
    finish("at the limits", stage, 0, 0, 1);
    stage.run = 9_999;
    stage.largestSpill = 0;
    finish("little run time", stage, 0, 0, 1);
    stage.run = 10_000;
    stage.gc = 20_000;
    stage.fetchWait = 0;
    finish("more than all of it", stage, 0, 0, 1);
  }

  /** Half of each task's time is overhead. */
  private void tiny() {
    finish("tiny, few", of(99), 99, 500, 99);
    finish("tiny", of(100), 100, 500, 100);
    finish("not tiny", of(100), 100, 501, 100);
  }

  private static StageCosts.Stage of(int tasks) {
    StageCosts.Stage stage = new StageCosts.Stage();
    for (int i = 0; i < tasks; i++) {
      stage.overheads.add(250);
    }
    return stage;
  }

  private void parallelism() {
    StageCosts.Stage stage = new StageCosts.Stage();
    stage.run = 11_000;
    stage.fetchWait = 1_001;
    stage.cores = 4;
    finish("one task of four cores, little time", stage, 0, 0, 1);
    stage.fetchWait = 1_000;
    finish("one task of four cores", stage, 0, 0, 1);
    finish("three tasks", stage, 0, 0, 3);
    stage.others = 2;
    finish("one task, others on two", stage, 0, 0, 1);
    stage.others = 3;
    finish("one task, others on three", stage, 0, 0, 1);
  }

  private void retries() {
    costs.ranAgain(1_000, 5_000);
    costs.ranAgain(2_000, 6_000); // at the same time
    costs.ranAgain(0, 9_000);
    finish("ran again", new StageCosts.Stage(), 0, 0, 1);
  }

  private void writes() {
    StageCosts.Stage stage = new StageCosts.Stage();
    stage.run = 8_000;
    stage.cpu = 1_000;
    stage.gc = 500;
    stage.fetchWait = 500;
    finish("reads", stage, 0, 0, 1);
    stage.writes = true;
    finish("writes", stage, 0, 0, 1);
  }

  /** The stage lasts 20 s; so many of its tasks succeeded, each after so many milliseconds. */
  private void finish(String name, StageCosts.Stage stage, int succeeded, int millis, int tasks) {
    Skew.Stage durations = new Skew.Stage();
    for (int i = 0; i < succeeded; i++) {
      durations.add(millis);
    }
    durations.end();
    costs.finish(stage, durations, tasks, 20_000);
    System.out.println(name);
    costs.write(new Printer(""));
  }
}
