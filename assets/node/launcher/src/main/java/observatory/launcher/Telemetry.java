package observatory.launcher;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Sends the JVM's metrics, log records and spans to the node's collector, from one daemon thread. It
 * starts sending once the application id is settled. As the JVM exits, a shutdown hook waits a
 * short time for the remainder to be sent.
 */
final class Telemetry implements Runnable {
  static final String THREAD = "observatory-telemetry";

  private static final long LOG_MILLIS = 1000;

  /** Two requests that are not answered fit into the JVM's end. */
  private static final int ANSWER_MILLIS = (int) Math.max(1, ExitTimeout.MILLIS / 2);

  private static final long STOP_POLL_MILLIS = 10;

  /** Batches of each kind between two looks at the clock. */
  private static final int ROUND = 32;

  /** Spark initializes log4j within seconds; after WATCHES attempts it is looked for less often. */
  private static final long WATCH_MILLIS = 200;

  private static final int WATCHES = 150;

  private final SparkProcess process;
  private final LoadedClasses classes;
  private final LogBuffer logs = new LogBuffer();
  private final SpanBuffer spans = Signals.spans();
  private final long started = ManagementFactory.getRuntimeMXBean().getStartTime();
  private final Otlp.Source[] sources;
  private final Thread thread = new Thread(this, THREAD);
  private final Flushes flushes = new Flushes();
  private volatile boolean sending;
  private volatile boolean ending;
  private Runnable capture;
  private int watches;
  private boolean reported;

  /** The last request was refused for good. */
  private boolean refused;

  Telemetry(SparkProcess process, LoadedClasses classes) {
    this.process = process;
    this.classes = classes;
    sources = new Otlp.Source[] {new JvmMetrics(), new GarbageCollections(), new S3aMetrics(process.isDriver())};
  }

  void start() {
    try {
      Runtime.getRuntime().addShutdownHook(new Thread("observatory-exit") {
        @Override
        public void run() {
          end();
        }
      });
    } catch (IllegalStateException e) {
      return; // the JVM is already shutting down
    }
    thread.setDaemon(true);
    thread.start();
    Signals.sendWith(this);
  }

  /** Starts sending, with the application id of Signals, if it has one. */
  void send() {
    sending = true;
    wake();
  }

  void wake() {
    logs.wake();
  }

  /** Sends what is there, in the telemetry thread; false if that did not end within the time. */
  boolean flush(long timeoutMillis) {
    return flushes.await(timeoutMillis, this);
  }

  boolean serves() {
    return sending && thread.isAlive();
  }

  private void end() {
    long begun = System.nanoTime();
    long limit = flushes.left();
    long stop = flushes.leftToStop();
    try {
      while (Signals.stopping() && Flushes.millisSince(begun) < stop) {
        Thread.sleep(STOP_POLL_MILLIS);
      }
      ending = true;
      wake();
      thread.join(Math.max(1, limit - Flushes.millisSince(begun)));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void run() {
    long exported = System.nanoTime();
    while (!ending) {
      try {
        logs.await(capture == null && watches < WATCHES ? WATCH_MILLIS : LOG_MILLIS);
        captureLogs();
        if (sending && Signals.identity().settled && !ending) {
          long asked = flushes.asked();
          boolean due = asked > 0 || Flushes.millisSince(exported) >= Platform.EXPORT_MILLIS;
          if (due) {
            exported = System.nanoTime();
          }
          round(due);
          flushes.served(asked);
        }
      } catch (Throwable t) {
        reportOnce(t);
      }
    }
    try {
      round(true);
      sendBatches(Integer.MAX_VALUE);
      flushes.served(flushes.asked());
    } catch (Throwable t) {
      reportOnce(t);
    }
  }

  private void round(boolean withMetrics) {
    sendBatches(ROUND);
    if (withMetrics) {
      sendMetrics();
    }
  }

  /** Attaches to log4j once it is initialized, and again after a configuration reload. */
  private void captureLogs() {
    if (capture == null) {
      watches++;
      if (classes.find(LogCapture.LOG4J_INITIALIZED) == null || !LogCapture.isConfigured()) {
        return;
      }
      capture = new LogCapture(logs);
    }
    capture.run();
  }

  private Map<String, String> resource(String applicationId) {
    Map<String, String> resource = new LinkedHashMap<String, String>();
    resource.put(Platform.LABEL_SERVICE, process.service);
    if (applicationId != null) {
      resource.put(Platform.LABEL_APP_ID, applicationId);
    }
    if (process.executorId != null) {
      resource.put(Platform.LABEL_EXECUTOR_ID, process.executorId);
    }
    return resource;
  }

  /** Sends log records and spans by turns: neither waits for the other's queue to be empty. */
  private void sendBatches(int limit) {
    boolean logsLeft = true;
    boolean spansLeft = true;
    for (int i = 0; i < limit && (logsLeft || spansLeft); i++) {
      logsLeft = logsLeft && sendLogs();
      spansLeft = spansLeft && sendSpans();
    }
  }

  /** Sends a batch; false if there is none, or if it must be sent again. */
  private boolean sendLogs() {
    List<LogRecord> batch = logs.batch();
    if (batch.isEmpty()) {
      return false;
    }
    String id = batch.get(batch.size() - 1).applicationId;
    if (id == null) {
      Signals.Identity identity = Signals.identity();
      if (mustWait(identity)) {
        return false;
      }
      id = identity.applicationId;
    }
    boolean sent = post("/v1/logs", Otlp.logs(resource(id), batch));
    if (sent) {
      logs.remove(batch);
    }
    return sent;
  }

  /** A context may start in the middle of a round. Without its id, nothing is sent before the JVM ends. */
  private boolean mustWait(Signals.Identity identity) {
    return !identity.settled && !ending;
  }

  private boolean sendSpans() {
    List<Span> batch = spans.batch();
    if (batch.isEmpty()) {
      return false;
    }
    boolean sent = post("/v1/traces", Otlp.traces(resource(batch.get(0).applicationId), batch));
    if (sent) {
      spans.refuse(refused ? batch.size() : 0);
      spans.remove(batch);
    }
    return sent;
  }

  /** Sends one request for each application: a JVM may have had several contexts. */
  private void sendMetrics() {
    Map<String, Otlp.Metrics> requests = new LinkedHashMap<String, Otlp.Metrics>();
    Signals.Identity identity = Signals.identity();
    if (!mustWait(identity)) {
      for (Otlp.Source source : sources) {
        add(requests, identity.applicationId, source);
      }
    }
    for (Signals.MetricSource source : Signals.sources()) {
      try {
        String id = source.applicationId();
        if (id != null) {
          add(requests, id, source);
        }
      } catch (Throwable t) {
        reportOnce(t);
      }
    }
    for (Otlp.Metrics request : requests.values()) {
      post("/v1/metrics", request.finish());
    }
  }

  private void add(Map<String, Otlp.Metrics> requests, String applicationId, Otlp.Source source) {
    Otlp.Metrics request = requests.get(applicationId);
    if (request == null) {
      request = new Otlp.Metrics(resource(applicationId), started, System.currentTimeMillis());
      requests.put(applicationId, request);
    }
    try {
      request.add(source);
    } catch (Throwable t) {
      reportOnce(t);
    }
  }

  /** Returns false if the request can be retried; a permanently rejected one is reported and dropped. */
  private boolean post(String path, String json) {
    refused = false;
    try {
      byte[] body = json.getBytes(StandardCharsets.UTF_8);
      Http.post(Platform.OTLP_ENDPOINT + path, "application/json", body, ANSWER_MILLIS);
      flushes.answered();
      return true;
    } catch (Http.Refused e) {
      refused = true;
      reportOnce(e);
      return true;
    } catch (IOException e) {
      reportOnce(e);
      return false;
    }
  }

  /** Logs only the first failure, so an hour-long outage is one line. */
  private void reportOnce(Throwable t) {
    if (!reported) {
      reported = true;
      Notice.say("telemetry not sent", t);
    }
  }
}
