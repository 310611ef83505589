package observatory.spark;

import org.apache.spark.SparkConf;

/** An application whose own events have no times: prints since when and until when it ran, and its phases. */
public final class Untimed {
  private static final long T0 = 1_700_000_000_000L;

  private Untimed() {}

  public static void main(String[] args) {
    for (String has : new String[] {"both", "start", "end", "none"}) {
      PhaseEngine engine = new PhaseEngine();
      engine.configure(new Deployment(new SparkConf(false).set("spark.master", "yarn"), ""));
      engine.applicationStart(T0); // the context's
      engine.applicationStart(has.equals("both") || has.equals("start") ? T0 + 1 : 0);
      engine.jobStart(0, T0 + 2_000, Facts.NONE);
      engine.taskEnd(0, 0, 0, T0 + 3_000, T0 + 7_000, true, false, true);
      engine.jobEnd(0, T0 + 8_000);
      engine.applicationEnd(has.equals("both") || has.equals("end") ? T0 + 9_000 : 0);
      Phases phases = engine.phasesAt(T0 + 9_500, false);
      System.out.println(
          has + " > " + (phases.begin - T0) + " " + (phases.end - T0) + " " + phases.millis[Phases.COMPUTE] + " "
              + engine.phases().approximate);
    }
  }
}
