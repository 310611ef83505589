package observatory.spark;

/** Stages at the limits of rules and just below them: prints what they cost so far after each. */
public final class Costs {
  private Costs() {}

  public static void main(String[] args) {
    StageCosts costs = new StageCosts();
    StageCosts.Stage stage = new StageCosts.Stage();
    stage.run = 10_000;
    stage.gc = 999;
    stage.fetchWait = 1_999;
    stage.spilled = 1 << 30;
    stage.largestSpill = (256 << 20) - 1;
    stage.moved = 2L << 30;
    print(costs, stage, "below");
    stage.gc = 1_000;
    stage.fetchWait = 2_000;
    stage.largestSpill = 256 << 20;
    print(costs, stage, "at the limits");
    stage.run = 9_999;
    stage.largestSpill = 0;
    print(costs, stage, "little run time");
    stage.run = 10_000;
    stage.gc = 20_000;
    stage.fetchWait = 0;
    print(costs, stage, "more than all of it");
  }

  private static void print(StageCosts costs, StageCosts.Stage stage, String name) {
    System.out.println(name);
    costs.finish(stage, 20_000);
    costs.write(new Printer(""));
  }
}
