package observatory.spark;

import java.lang.reflect.Method;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.SparkListenerEvent;

/**
 * The calls of Spark Connect's clients, as the interceptor in Spark's gRPC server sees them. It gives the
 * thread of a call the local properties by which jobs find their place; a thread that runs the call's
 * plan inherits them. Spark Connect's classes may be in the loader of the job's jars only: requests are
 * known by the names of their methods.
 */
public final class ConnectCalls {
  /** The local property of a thread that names the parent of its jobs. */
  static final String THREAD_PARENT = "traceparent";

  private static final Call NOTHING = new Call(null, null, null, null, null);
  private static final Faults FAULTS = new Faults();
  private static final AtomicLong ANALYSES = new AtomicLong();

  private static volatile SparkContext context;

  /** Trace contexts of operations whose start the listener has not seen, by the number of ConnectTags. */
  private static final Map<String, String> PARENTS =
      new LinkedHashMap<String, String>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, String> eldest) {
          return size() > Limits.ENDED_OPERATIONS;
        }
      };

  private ConnectCalls() {}

  /** null: the context has ended. */
  static void attach(SparkContext started) {
    context = started;
    if (started == null) {
      synchronized (PARENTS) {
        PARENTS.clear();
      }
    }
  }

  /** The trace context of a call, or null; it is forgotten. */
  static String parentOf(String number) {
    synchronized (PARENTS) {
      return PARENTS.remove(number);
    }
  }

  /**
   * Begins a call in this thread. request is its message, traceparent its metadata of this name or null.
   * Never throws: the call is the client's.
   */
  public static Call begin(Object request, String traceparent) {
    SparkContext running = context;
    if (running == null || request == null) {
      return NOTHING;
    }
    try {
      String type = request.getClass().getSimpleName();
      String parent = TraceParent.parse(traceparent) == null ? null : traceparent;
      if (type.equals("ExecutePlanRequest")) {
        String session = text(request, "getSessionId");
        String operation = text(request, "getOperationId");
        if (parent != null && ConnectTags.isId(session) && ConnectTags.isId(operation)) {
          synchronized (PARENTS) {
            PARENTS.put(session + "." + operation.toLowerCase(Locale.ROOT), parent); // Spark's own form
          }
        }
        return new Call(running, parent, null, null, null).enter();
      }
      if (type.equals("AnalyzePlanRequest")) {
        Object user = request.getClass().getMethod("getUserContext").invoke(request);
        String session = text(request, "getSessionId");
        if (!ConnectTags.isId(session)) {
          return NOTHING; // Spark refuses it
        }
        String number = session + ".analysis-" + ANALYSES.incrementAndGet();
        return new Call(running, parent, number, text(user, "getUserId"), System.currentTimeMillis()).enter();
      }
    } catch (Throwable t) {
      FAULTS.say("a call of Spark Connect's was not understood", t);
    }
    return NOTHING;
  }

  private static String text(Object message, String method) throws ReflectiveOperationException {
    Method found = message.getClass().getMethod(method);
    return String.valueOf(found.invoke(message));
  }

  /** A call that runs in its thread. */
  public static final class Call {
    private final SparkContext context;
    private final String parent;
    private final String number;
    private final String user;
    private final Long from;
    private String outerParent;
    private String outerNumber;

    /** number, user and from are null of a call whose beginning and end Spark tells. */
    private Call(SparkContext context, String parent, String number, String user, Long from) {
      this.context = context;
      this.parent = parent;
      this.number = number;
      this.user = user;
      this.from = from;
    }

    private Call enter() {
      outerParent = context.getLocalProperty(THREAD_PARENT);
      outerNumber = context.getLocalProperty(Platform.CONNECT_OPERATION);
      context.setLocalProperty(THREAD_PARENT, parent);
      context.setLocalProperty(Platform.CONNECT_OPERATION, number);
      return this;
    }

    /** Ends the call: gRPC's threads serve other clients next. Never throws. */
    public void end() {
      if (context == null) {
        return;
      }
      try {
        context.setLocalProperty(THREAD_PARENT, outerParent);
        context.setLocalProperty(Platform.CONNECT_OPERATION, outerNumber);
        if (number != null) {
          SparkInternals.post(context, new AnalysisEnded(number, user, from, System.currentTimeMillis()));
        }
      } catch (Throwable t) {
        FAULTS.say("a call of Spark Connect's did not end", t);
      }
    }
  }

  /**
   * Says that an AnalyzePlan call has ended, of which Spark tells its listeners nothing. It comes by the
   * bus, so that it is not before the events of the call's jobs.
   */
  static final class AnalysisEnded implements SparkListenerEvent {
    final String number;
    final String user;
    final long from;
    final long to;

    AnalysisEnded(String number, String user, long from, long to) {
      this.number = number;
      this.user = user;
      this.from = from;
      this.to = to;
    }

    /** Event logs do not have it: their readers look for Spark's own. */
    @Override
    public boolean logEvent() {
      return false;
    }
  }
}
