package observatory.spark;

import java.io.FileInputStream;
import java.io.InputStream;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.scheduler.ReplayListenerBus;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerEnvironmentUpdate;
import scala.Tuple2;
import scala.collection.Iterator;

/** Replays event logs with Spark's own reader and prints what the engine makes of each. */
public final class Replay {
  private Replay() {}

  public static void main(String[] logs) throws Exception {
    for (String log : logs) {
      System.out.println(json(replay(log)));
    }
  }

  private static Phases replay(String log) throws Exception {
    final PhaseEngine engine = new PhaseEngine();
    Settings settings = Settings.ofDriver(new SparkConf(false));
    ReplayListenerBus bus = new ReplayListenerBus();
    listen(bus, new Recorder(settings, engine, new Tracer(settings, new SpanBudget(), span -> false)), engine);
    try (InputStream in = new FileInputStream(log)) {
      bus.replay(in, log, false, ReplayListenerBus.SELECT_ALL_FILTER());
    }
    return engine.phases();
  }

  /** Connects the plugin to a log, and takes from it what the driver reads from its own configuration. */
  static void listen(ReplayListenerBus bus, Recorder recorder, final PhaseEngine engine) {
    bus.addListener(new AppListener(recorder, new Faults()));
    bus.addListener(
        new SparkListener() {
          @Override
          public void onEnvironmentUpdate(SparkListenerEnvironmentUpdate e) {
            SparkConf conf = new SparkConf(false);
            for (Map.Entry<String, String> property : details(e, "Spark Properties").entrySet()) {
              conf.set(property.getKey(), property.getValue());
            }
            engine.configure(new Deployment(conf, details(e, "System Properties").get("sun.java.command")));
          }
        });
  }

  private static Map<String, String> details(SparkListenerEnvironmentUpdate event, String section) {
    Map<String, String> found = new HashMap<String, String>();
    Accessor details = Accessor.of(SparkListenerEnvironmentUpdate.class, "environmentDetails");
    scala.Function1<Object, Object> sections = Replay.<scala.Function1<Object, Object>>cast(details.value(event));
    scala.PartialFunction<Object, Object> known = Replay.<scala.PartialFunction<Object, Object>>cast(sections);
    if (known.isDefinedAt(section)) {
      Iterator<?> pairs = (Iterator<?>) Events.ITERATOR.value(sections.apply(section));
      while (pairs.hasNext()) {
        Tuple2<?, ?> pair = (Tuple2<?, ?>) pairs.next();
        found.put((String) pair._1(), (String) pair._2());
      }
    }
    return found;
  }

  @SuppressWarnings("unchecked")
  private static <T> T cast(Object value) {
    return (T) value;
  }

  private static String json(Phases phases) {
    StringBuilder out = new StringBuilder();
    out.append("{\"begin\":").append(phases.begin).append(",\"end\":").append(phases.end).append(",\"phases\":{");
    for (int phase = 0; phase < Phases.COUNT; phase++) {
      out.append(phase == 0 ? "" : ",").append('"').append(Platform.PHASES[phase]).append("\":").append(phases.millis[phase]);
    }
    out.append("},\"approximate\":").append(phases.approximate).append(",\"firstExecutorWait\":");
    out.append(phases.firstExecutorWait < 0 ? "null" : Long.toString(phases.firstExecutorWait)).append(",\"segments\":[");
    phases.visit(
        new Phases.Visitor() {
          private String comma = "";

          @Override
          public void segment(int phase, long from, long to) {
            out.append(comma).append("{\"phase\":\"").append(Platform.PHASES[phase]).append("\",\"from\":").append(from);
            out.append(",\"to\":").append(to).append('}');
            comma = ",";
          }
        });
    return out.append("]}").toString();
  }
}
