package observatory.spark;

import java.io.FileInputStream;
import java.io.InputStream;
import java.lang.reflect.Field;
import java.util.List;
import java.util.TreeMap;
import observatory.launcher.Span;
import org.apache.spark.SparkConf;
import org.apache.spark.scheduler.ReplayListenerBus;

/** Prints the driver's spans of event logs, one a line: log, ids, name, times, failure, attributes, links. */
public final class SpanTable {
  private SpanTable() {}

  public static void main(String[] logs) throws Exception {
    for (String log : logs) {
      Settings settings = Settings.ofDriver(new SparkConf(false).set(Platform.SAMPLING_RATIO, "1"));
      PhaseEngine engine = new PhaseEngine();
      Tracer.Sink print =
          span -> {
            System.out.println(log + "\t" + text(span).replace("\n", "\\n"));
            return true;
          };
      Recorder recorder = new Recorder(settings, engine, new Tracer(settings, new SpanBudget(), print));
      ReplayListenerBus bus = new ReplayListenerBus();
      Replay.listen(bus, recorder, engine);
      try (InputStream in = new FileInputStream(log)) {
        bus.replay(in, log, false, ReplayListenerBus.SELECT_ALL_FILTER());
      }
      recorder.end(0, false);
    }
  }

  private static String text(Span span) {
    TreeMap<String, Object> attributes = new TreeMap<String, Object>();
    List<?> list = (List<?>) field(span, "attributes");
    for (int i = 0; i < list.size(); i += 2) {
      attributes.put((String) list.get(i), list.get(i + 1));
    }
    StringBuilder out = new StringBuilder();
    for (String name : new String[] {"traceId", "spanId", "parentSpanId", "name", "startNanos", "endNanos", "failed"}) {
      out.append(field(span, name)).append('\t');
    }
    return out.append(attributes).append('\t').append(field(span, "links")).toString();
  }

  static Object field(Span span, String name) {
    try {
      Field field = Span.class.getDeclaredField(name);
      field.setAccessible(true);
      return field.get(span);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(name, e);
    }
  }
}
