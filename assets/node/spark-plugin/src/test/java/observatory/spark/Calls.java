package observatory.spark;

import java.util.UUID;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;

/**
 * A thread's local properties before, in and after calls of Spark Connect's, each on a line: of a thread that
 * has none, and of one that has its own. The requests have the methods of Spark's.
 */
public final class Calls {
  private static final String PARENT = "00-11111111111111111111111111111111-1111111111111111-01";
  private static final String SESSION = UUID.randomUUID().toString();

  private Calls() {}

  public static class ExecutePlanRequest {
    public String getSessionId() {
      return SESSION;
    }

    public String getOperationId() {
      return "0A1B2C3D-1111-4111-8111-11111111111B";
    }
  }

  public static final class AnalyzePlanRequest extends ExecutePlanRequest {
    public AnalyzePlanRequest getUserContext() {
      return this;
    }

    public String getUserId() {
      return "ann";
    }
  }

  /** Of a client that sends something else. */
  public static final class Refused extends ExecutePlanRequest {
    @Override
    public String getSessionId() {
      return new String(new char[1 << 20]);
    }
  }

  public static void main(String[] args) {
    SparkConf conf = new SparkConf(false).set("spark.master", "local[1]").set("spark.app.name", "calls");
    conf.set("spark.ui.enabled", "false").set("spark.driver.host", "127.0.0.1").set("spark.driver.bindAddress", "127.0.0.1");
    SparkContext context = new SparkContext(conf);
    ConnectCalls.begin(new ExecutePlanRequest(), PARENT).end(); // no plugin: nothing happens
    ConnectCalls.attach(context);
    for (String own : new String[] {null, "own"}) {
      context.setLocalProperty(ConnectCalls.THREAD_PARENT, own);
      context.setLocalProperty(Platform.CONNECT_OPERATION, own);
      for (Object request : new Object[] {new ExecutePlanRequest(), new AnalyzePlanRequest(), "a text"}) {
        ConnectCalls.Call call = ConnectCalls.begin(request, PARENT);
        print("in", context);
        call.end();
        print("after", context);
      }
      ConnectCalls.begin(new ExecutePlanRequest(), "nonsense").end();
      ConnectCalls.Call none = ConnectCalls.begin(new AnalyzePlanRequest(), null);
      print("without", context);
      none.end();
    }
    String number = SESSION + ".0a1b2c3d-1111-4111-8111-11111111111b";
    System.out.println("told " + ConnectCalls.parentOf(number) + " " + ConnectCalls.parentOf(number));
    ConnectCalls.begin(new Refused(), PARENT).end();
    context.stop();
  }

  private static void print(String when, SparkContext context) {
    String operation = context.getLocalProperty(Platform.CONNECT_OPERATION);
    System.out.println(when + " " + context.getLocalProperty(ConnectCalls.THREAD_PARENT) + " "
        + (operation == null ? null : operation.replace(SESSION, "session")));
  }
}
