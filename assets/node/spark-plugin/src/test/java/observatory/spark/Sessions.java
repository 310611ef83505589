package observatory.spark;

import java.util.Properties;
import java.util.UUID;
import org.apache.spark.SparkConf;
import scala.collection.Iterator;

/**
 * Tens of thousands of operations of Spark Connect, each with a job, in sessions that end. Prints the number of
 * spans, and by how many bytes the heap has grown between half of them and all; the application still runs.
 */
public final class Sessions {
  private static final long T0 = 1_700_000_000_000L;
  private static final int SESSIONS = 500;
  private static final int OPERATIONS = 60;

  private static int spans;

  private Sessions() {}

  public static void main(String[] args) throws Exception {
    Settings settings = Settings.ofDriver(new SparkConf(false).set(Platform.SAMPLING_RATIO, "1"));
    Tracer.Sink sink =
        span -> {
          spans++;
          return true;
        };
    Recorder recorder = new Recorder(settings, new PhaseEngine(), new Tracer(settings, new SpanBudget(), sink));
    recorder.applicationStart("application_1700000000000_0001", null, "server", T0);
    run(recorder, 0, SESSIONS); // the plugin holds as much as it ever does
    long before = used();
    run(recorder, SESSIONS, 2 * SESSIONS);
    System.out.println(spans + " " + (used() - before));
  }

  private static void run(Recorder recorder, int from, int to) {
    for (int session = from; session < to; session++) {
      String id = UUID.randomUUID().toString();
      long at = T0 + session * 100_000L;
      recorder.sessionStart(id, "user", at);
      for (int i = 0; i < OPERATIONS; i++) {
        String tag = "SparkConnect_OperationTag_User_user_Session_" + id + "_Operation_" + UUID.randomUUID();
        Properties properties = new Properties();
        properties.setProperty(ConnectTags.PROPERTY, tag);
        recorder.operationStart(properties, "user", at + i, "SELECT " + i + " /* a statement of some length */");
        int job = session * OPERATIONS + i;
        recorder.jobStart(job, at + i, properties, (Iterator<?>) null);
        recorder.jobEnd(job, at + i + 1, null);
        recorder.operationEnd(ConnectTags.of(properties).number(), at + i + 2, null);
      }
      recorder.sessionEnd(id, at + OPERATIONS + 2);
      recorder.phases(at + 90_000, false);
    }
  }

  private static long used() throws InterruptedException {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 5; i++) {
      System.gc();
      least = Math.min(least, Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory());
    }
    return least;
  }
}
