package observatory.spark;

import org.apache.spark.SparkConf;

/** Contexts that end before, or after, they show their id: prints the ids and names of their spans. */
public final class Unaccepted {
  private static final long T0 = 1_700_000_000_000L;
  private static final String ID = "application_1700000000000_0001";

  private Unaccepted() {}

  public static void main(String[] args) {
    System.out.println("client >" + spans("client", ID, false));
    System.out.println("client without an id >" + spans("client", null, false));
    System.out.println("client, shown >" + spans("client", ID, true));
    System.out.println("cluster >" + spans("cluster", ID, false));
  }

  /** pending is the id that YARN has given, which an export has read. */
  private static String spans(String mode, String pending, boolean shown) {
    SparkConf conf = new SparkConf(false).set("spark.master", "yarn").set("spark.submit.deployMode", mode);
    Settings settings = Settings.ofDriver(conf.set("spark.app.name", "etl").set(Platform.SAMPLING_RATIO, "1"));
    StringBuilder out = new StringBuilder();
    SpanBudget budget = new SpanBudget();
    PhaseEngine engine = new PhaseEngine();
    engine.applicationStart(T0);
    Tracer tracer =
        new Tracer(
            settings,
            budget,
            span -> {
              String name = (String) SpanTable.field(span, "name");
              out.append(name.startsWith("application") ? " " + SpanTable.field(span, "traceId") + " " + name : "");
              return true;
            });
    Recorder recorder = new Recorder(settings, engine, tracer);
    DriverMetrics metrics = new DriverMetrics(settings, recorder, budget, new SparkInternals(null), "3.5.5");
    metrics.identify(pending);
    if (shown) {
      recorder.applicationStart(ID, null, "etl", T0);
    }
    metrics.end();
    recorder.end(T0 + 1_000, false);
    return out.toString();
  }
}
