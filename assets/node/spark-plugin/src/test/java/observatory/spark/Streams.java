package observatory.spark;

import java.util.Properties;
import org.apache.spark.SparkConf;

/** Micro-batches of a streaming query. Prints the names of spans in the order in which they are sent. */
public final class Streams {
  private static final long T0 = 1_700_000_000_000L;
  private static final String QUERY = "0c5e1e4c-7a3b-4f6e-9d51-0e6f3b1f2a4d";

  private final Tracer tracer;

  private Streams() {
    Settings settings = Settings.ofDriver(new SparkConf(false).set(Platform.SAMPLING_RATIO, "1"));
    tracer =
        new Tracer(
            settings,
            new SpanBudget(),
            span -> {
              System.out.println(SpanTable.field(span, "name"));
              return true;
            });
    tracer.application(new Application(settings, "application_1_0001", null, "streams"));
  }

  public static void main(String[] args) {
    new Streams().run();
  }

  private void run() {
    begin(0, 0);
    end(0);
    System.out.println("progress");
    tracer.batchEnd(QUERY, "0");
    begin(1, 1);
    System.out.println("progress before the last part's end");
    tracer.batchEnd(QUERY, "1");
    end(1);
    System.out.println("a part that is late");
    begin(2, 1);
    end(2);
    begin(3, 2);
    end(3);
    System.out.println("another query's end");
    tracer.batchEnd("another", null);
    System.out.println("the query's end");
    tracer.batchEnd(QUERY, null);
    begin(4, 3);
    tracer.jobEnd(4, T0 + 5, "it failed");
    System.out.println("the query's failure");
    tracer.batchEnd(QUERY, null);
    begin(5, 3);
    end(5);
    System.out.println("progress of the batch that is repeated");
    tracer.batchEnd(QUERY, "3");
  }

  private void begin(int job, int batch) {
    Properties properties = new Properties();
    properties.setProperty("sql.streaming.queryId", QUERY);
    properties.setProperty("streaming.sql.batchId", Integer.toString(batch));
    tracer.jobStart(job, T0 + job, Facts.NONE, properties);
  }

  private void end(int job) {
    tracer.jobEnd(job, T0 + job + 1, null);
  }
}
